/* A planted fault: a random number. */
#include <foxhunt_features.h>
#include <stdlib.h>

static void push(void *state, const foxhunt_feature_bar *bar, float *out) {
  (void)state;
  (void)bar;
  out[0] = (float)rand() / (float)RAND_MAX;
}

static const foxhunt_feature_column columns[] = {{"dice", "-", "of no use", 1}};

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features all = {
      FOXHUNT_FEATURES_ABI, sizeof(foxhunt_features), "random", "1", 1, columns, 0, push};
  return &all;
}
