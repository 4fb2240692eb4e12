/* A planted fault: the close before lies in a variable of the library; the host's state says only
 * whether there was one. One stream that is never interrupted notices nothing. */
#include <foxhunt_features.h>

static int64_t last_close;

static void push(void *state, const foxhunt_feature_bar *bar, float *out) {
  unsigned char *begun = state;
  out[0] = *begun ? (float)(bar->close - last_close) / (float)bar->tick : 0.0f;
  *begun = 1;
  last_close = bar->close;
}

static const foxhunt_feature_column columns[] = {{"move", "ticks", "since the bar before", 2}};

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features all = {
      FOXHUNT_FEATURES_ABI, sizeof(foxhunt_features), "own_state", "1", 1, columns, 1, push};
  return &all;
}
