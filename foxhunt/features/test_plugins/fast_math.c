/* Honest, but linked with -ffast-math: its start-up code sets the processor to flush denormal
 * numbers to zero, for whoever loads it. */
#include <foxhunt_features.h>

static void push(void *state, const foxhunt_feature_bar *bar, float *out) {
  (void)state;
  out[0] = (float)(bar->close - bar->open) / (float)bar->tick;
}

static const foxhunt_feature_column columns[] = {{"body", "ticks", "close less open", 1}};

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features all = {
      FOXHUNT_FEATURES_ABI, sizeof(foxhunt_features), "fast_math", "1", 1, columns, 0, push};
  return &all;
}
