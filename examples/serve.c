/* A page of C over <foxhunt.h>: opens a bundle, lets it prove itself, answers bars.
 *
 *   serve model.fox < bars.csv
 *
 * Reads lines of time_ns,open,high,low,close,volume (prices with a decimal point, a missing one
 * left empty; time_ns is the start of the bar, nanoseconds since 1970 in UTC), the first line being
 * their names. Prints a line for each: time_ns,status and, where there is an answer, its outputs.
 */
#include <foxhunt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what, int32_t code) {
  fprintf(stderr, "serve: %s: %s: %s\n", what, foxhunt_status_text(code), foxhunt_last_error());
  return 1;
}

/* "4321.25" as 4321250000000, exactly: a price never passes through a double. At most nine digits
 * behind the point. Null where the field is empty or no number, which the engine then refuses. */
static int64_t price_at(const char **text) {
  const char *p = *text;
  int negative = 0, digits = 0, behind = -1;
  uint64_t value = 0;
  if (*p == '-') negative = 1, ++p;
  for (; (*p >= '0' && *p <= '9') || (*p == '.' && behind < 0); ++p) {
    if (*p == '.') {
      behind = 0;
    } else {
      if (behind >= 0) ++behind;
      value = value * 10 + (uint64_t)(*p - '0');
      ++digits;
    }
  }
  *text = *p == ',' ? p + 1 : p;
  if (digits == 0 || digits > 18 || behind > 9 || *p != ',') return FOXHUNT_NULL_PRICE;
  for (int i = behind < 0 ? 0 : behind; i < 9; ++i) {
    if (value > INT64_MAX / 10) return FOXHUNT_NULL_PRICE;
    value *= 10;
  }
  return negative ? -(int64_t)value : (int64_t)value;
}

static void serve(foxhunt_session *session, const foxhunt_facts *facts, float *out) {
  char line[512];
  if (fgets(line, sizeof line, stdin) == NULL) return; /* the names */
  while (fgets(line, sizeof line, stdin) != NULL) {
    char *rest = line;
    foxhunt_bar bar = {.span_ns = facts->bar_ns, .instrument_id = 1, .publisher_id = 1};
    bar.time_ns = strtoll(line, &rest, 10);
    if (rest == line || *rest != ',') bar.time_ns = FOXHUNT_NULL_TIME;
    const char *at = *rest == ',' ? rest + 1 : rest;
    bar.open = price_at(&at);
    bar.high = price_at(&at);
    bar.low = price_at(&at);
    bar.close = price_at(&at);
    bar.volume = strtoull(at, NULL, 10);

    /* The answer first; the model's state takes the bar when the answer is out. */
    const int32_t status = foxhunt_session_answer(session, &bar, out, (size_t)facts->n_outputs);
    printf("%" PRId64 ",%s", bar.time_ns, foxhunt_status_text(status));
    for (int64_t k = 0; status == FOXHUNT_READY && k < facts->n_outputs; ++k) {
      printf(",%.9g", (double)out[k]);
    }
    printf("\n");
    fflush(stdout);
    foxhunt_session_advance(session);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "serve MODEL.fox < bars.csv\n"), 2;
  foxhunt_model *model = NULL;
  foxhunt_session *session = NULL;
  foxhunt_facts facts = {.struct_size = sizeof facts};
  foxhunt_report report = {.struct_size = sizeof report};
  int32_t code = foxhunt_model_open(argv[1], NULL, &model);
  if (code != FOXHUNT_OK) return fail(argv[1], code);
  code = foxhunt_model_verify(model, &report);
  if (code != FOXHUNT_OK) return fail(argv[1], code);
  code = foxhunt_model_facts(model, &facts);
  if (code != FOXHUNT_OK) return fail(argv[1], code);
  fprintf(stderr, "%s: %s, %s weights, %s; %" PRId64 " rows verified, largest difference %.2g\n",
          argv[1], facts.product, facts.weights, facts.kernels, report.rows, report.max_difference);
  code = foxhunt_session_new(model, &session);
  if (code != FOXHUNT_OK) return fail("session", code);
  float *out = malloc(sizeof *out * (size_t)facts.n_outputs);
  if (out == NULL) return fprintf(stderr, "serve: out of memory\n"), 1;
  serve(session, &facts, out);
  free(out);
  foxhunt_session_free(session);
  foxhunt_model_close(model);
  return 0;
}
