/* Two features of one's own, as a shared library for `[features] plugins`:
 *
 *   cc -std=c99 -O2 -fPIC -shared -I DIR user_features.c -lm -o libuser_features.so
 *
 * with foxhunt_features.h in DIR. docs/user_features.md goes through it.
 */
#include <foxhunt_features.h>
#include <math.h>

enum { RANGE_BARS = 30, STEPS = 20 };

/* All that is remembered of a stream. The host sets it to zero when a sequence starts. */
typedef struct {
  double squares[RANGE_BARS]; /* squared log range of a bar, a ring */
  int64_t signs[STEPS];       /* of the last steps from close to close, a ring */
  int64_t bars;               /* of this sequence */
  int64_t last_close;
} memory;

/* Volatility from highs and lows: root of the mean squared log range over 4 ln 2.
 * Source: Parkinson, The extreme value method for estimating the variance of the rate of return,
 * Journal of Business 53 (1980). The sum is made anew, oldest bar first: a running one would carry
 * the rounding of bars that have long left it, and a stream that begins later would differ. */
static double range_volatility(memory *m, const foxhunt_feature_bar *bar) {
  const double range = log((double)bar->high / (double)bar->low);
  m->squares[m->bars % RANGE_BARS] = range * range;
  double sum = 0;
  for (int64_t i = 1; i <= RANGE_BARS; ++i) sum += m->squares[(m->bars + i) % RANGE_BARS];
  return sqrt(sum / RANGE_BARS / (4.0 * log(2.0)));
}

/* Closes above the one before less closes below it. Whole numbers, so that any order of adding will
 * do. */
static int64_t rises_less_falls(memory *m, const foxhunt_feature_bar *bar) {
  const int64_t sign = (bar->close > m->last_close) - (bar->close < m->last_close);
  m->signs[m->bars % STEPS] = m->bars == 0 ? 0 : sign;
  m->last_close = bar->close;
  int64_t sum = 0;
  for (int i = 0; i < STEPS; ++i) sum += m->signs[i];
  return sum;
}

static void push(void *state, const foxhunt_feature_bar *bar, float *out) {
  memory *m = state;
  const double volatility = range_volatility(m, bar);
  /* ln of basis points, as foxhunt's own volatilities; of at least a tenth of one, since bars
   * without any range have no logarithm. */
  out[0] = (float)log(fmax(volatility / 1e-4, 0.1));
  out[1] = (float)rises_less_falls(m, bar);
  ++m->bars;
}

static const foxhunt_feature_column columns[] = {
    {"range_vol_30", "ln of basis points", "volatility from the ranges of the last 30 bars",
     RANGE_BARS},
    {"rises_20", "bars", "closes above the one before less closes below it, of the last 20 steps",
     STEPS + 1},
};

const foxhunt_features *foxhunt_features_v1(void) {
  static const foxhunt_features table = {
      FOXHUNT_FEATURES_ABI,
      sizeof(foxhunt_features),
      "user_features",
      "1.0",
      sizeof columns / sizeof columns[0],
      columns,
      sizeof(memory),
      push,
  };
  return &table;
}
