/* A planted fault: bars without a range have no logarithm. A second column is always finite, a
 * third is left unwritten where the volume is odd. */
#include <foxhunt_features.h>
#include <math.h>

static void push(void *state, const foxhunt_feature_bar *bar, float *out) {
  (void)state;
  out[0] = (float)log((double)(bar->high - bar->low) / (double)bar->tick);
  out[1] = 1.0f;
  if (bar->volume % 2 == 0) out[2] = 2.0f;
}

static const foxhunt_feature_column columns[] = {{"log_range", "ln ticks", "of the bar", 1},
                                                 {"one", "-", "always 1", 1},
                                                 {"two", "-", "2, or nothing", 1}};

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features all = {
      FOXHUNT_FEATURES_ABI, sizeof(foxhunt_features), "not_finite", "1", 3, columns, 0, push};
  return &all;
}
