/* A planted fault: looks back on 20 bars and declares 5. */
#include <foxhunt_features.h>

enum { BARS = 20 };
typedef struct {
  uint64_t volumes[BARS];
  uint64_t bars;
} memory;

static void push(void *state, const foxhunt_feature_bar *bar, float *out) {
  memory *m = state;
  m->volumes[m->bars++ % BARS] = bar->volume;
  uint64_t sum = 0;
  for (int i = 0; i < BARS; ++i) sum += m->volumes[i];
  out[0] = (float)((double)sum / BARS);
}

static const foxhunt_feature_column columns[] = {{"mean_volume", "contracts", "of 20 bars", 5}};

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features all = {FOXHUNT_FEATURES_ABI,
                                       sizeof(foxhunt_features),
                                       "short_warm_up",
                                       "1",
                                       1,
                                       columns,
                                       sizeof(memory),
                                       push};
  return &all;
}
