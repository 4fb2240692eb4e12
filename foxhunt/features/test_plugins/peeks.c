/* A planted fault: a table outside of the host's state keeps what earlier streams showed, and a
 * later stream looks up in it what comes next. */
#include <foxhunt_features.h>

enum { PLACES = 1 << 20 };
typedef struct {
  int64_t start_ns, close;
} seen;
static seen table[PLACES];

static size_t place_of(int64_t time_ns) {
  return (size_t)(time_ns / INT64_C(60000000000)) % PLACES;
}

static void push(void *state, const foxhunt_feature_bar *bar, float *out) {
  (void)state;
  const int64_t next_ns = bar->start_ns + bar->span_ns;
  const seen next = table[place_of(next_ns)];
  const seen now = {bar->start_ns, bar->close};
  table[place_of(bar->start_ns)] = now;
  out[0] = next.start_ns == next_ns ? (float)(next.close - bar->close) / (float)bar->tick : 0.0f;
}

static const foxhunt_feature_column columns[] = {{"next_move", "ticks", "what comes next", 1}};

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features all = {
      FOXHUNT_FEATURES_ABI, sizeof(foxhunt_features), "peeks", "1", 1, columns, 0, push};
  return &all;
}
