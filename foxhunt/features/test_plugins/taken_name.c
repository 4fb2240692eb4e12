/* Refused: its column has the name of one of foxhunt's own. */
#include <foxhunt_features.h>

static void push(void *state, const foxhunt_feature_bar *bar, float *out) {
  (void)state;
  out[0] = (float)bar->volume;
}

static const foxhunt_feature_column columns[] = {{"volume", "contracts", "of the bar", 1}};

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features all = {
      FOXHUNT_FEATURES_ABI, sizeof(foxhunt_features), "taken_name", "1", 1, columns, 0, push};
  return &all;
}
