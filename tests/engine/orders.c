/* Answers order events through <foxhunt.h> alone, in C99.
 *
 *   orders MODEL.fox < orders.csv
 *
 * Reads lines as make_test_bundle writes them, the first being their names. Each event is answered
 * by on_order() in one session and by answer_order() and advance() in another, which have to agree
 * to the bit. Prints a line for each: received_ns,status and, where there is an answer, its
 * outputs.
 */
#include <foxhunt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, int32_t code) {
  fprintf(stderr, "orders: %s: %s: %s\n", what, foxhunt_status_text(code), foxhunt_last_error());
  return 1;
}

/* Whether `line` holds an order event. */
static int read_order(const char *line, foxhunt_order *order) {
  uint16_t flags = 0, channel = 0;
  memset(order, 0, sizeof *order);
  const int fields = sscanf(line,
                            "%" SCNd64 ",%" SCNd64 ",%" SCNu64 ",%" SCNd64 ",%" SCNu32 ",%" SCNu32
                            ",%" SCNu32 ",%" SCNd32 ",%" SCNu16 ",%" SCNu16 ",%" SCNu16 ",%c,%c",
                            &order->event_ns, &order->received_ns, &order->order_id, &order->price,
                            &order->size, &order->sequence, &order->instrument_id, &order->delta_ns,
                            &order->publisher_id, &flags, &channel, &order->action, &order->side);
  order->flags = (uint8_t)flags;
  order->channel_id = (uint8_t)channel;
  return fields == 13;
}

static int serve(foxhunt_session *whole, foxhunt_session *halves, size_t n_out) {
  char line[512];
  float *out = malloc(n_out * sizeof *out), *again = malloc(n_out * sizeof *again);
  int failed = out == NULL || again == NULL || fgets(line, sizeof line, stdin) == NULL;
  while (!failed && fgets(line, sizeof line, stdin) != NULL) {
    foxhunt_order order;
    if (!read_order(line, &order)) {
      fprintf(stderr, "orders: no order event: %s", line);
      failed = 1;
      break;
    }
    const int32_t status = foxhunt_session_on_order(whole, &order, out, n_out);
    if (status < 0) {
      failed = fail("on_order", status);
      break;
    }
    const int32_t same = foxhunt_session_answer_order(halves, &order, again, n_out);
    foxhunt_session_advance(halves);
    if (same != status ||
        (status == FOXHUNT_READY && memcmp(out, again, n_out * sizeof *out) != 0)) {
      fprintf(stderr, "orders: answer_order() is not on_order() at %s", line);
      failed = 1;
      break;
    }
    printf("%" PRId64 ",%s", order.received_ns, foxhunt_status_text(status));
    for (size_t k = 0; status == FOXHUNT_READY && k < n_out; ++k) printf(",%.9g", (double)out[k]);
    printf("\n");
  }
  free(out);
  free(again);
  return failed;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "orders MODEL.fox < orders.csv\n"), 2;
  foxhunt_model *model = NULL;
  foxhunt_session *whole = NULL, *halves = NULL;
  foxhunt_facts facts = {.struct_size = sizeof facts};
  int32_t code = foxhunt_model_open(argv[1], NULL, &model);
  if (code == FOXHUNT_OK) code = foxhunt_model_facts(model, &facts);
  if (code == FOXHUNT_OK) code = foxhunt_model_verify(model, NULL);
  if (code == FOXHUNT_OK) code = foxhunt_session_new(model, &whole);
  if (code == FOXHUNT_OK) code = foxhunt_session_new(model, &halves);
  int failed = 0;
  if (code != FOXHUNT_OK) {
    failed = fail(argv[1], code);
  } else if (facts.bar_ns != 0) {
    fprintf(stderr, "orders: %s takes bars\n", argv[1]);
    failed = 1;
  } else {
    failed = serve(whole, halves, (size_t)facts.n_outputs);
  }
  foxhunt_session_free(halves);
  foxhunt_session_free(whole);
  foxhunt_model_close(model);
  return failed;
}
