/* Features of your own: a shared library that exports foxhunt_features_v1().
 *
 * foxhunt calls push() once for every bar that it takes, oldest first, and puts what push() writes
 * behind its own columns: the same call in training, proofs, prediction and serving. C99; also
 * valid C++. docs/user_features.md is a short tutorial, examples/user_features.c a whole library.
 *
 * State     The host owns it: state_bytes bytes, aligned to 64, all zero when a sequence starts (a
 *           session, another contract, a part behind a halt, a long hole). It is copied, saved and
 *           restored as bytes. So no pointers in it, and nothing to remember outside of it: a
 *           variable of the library is shared by all streams and survives none.
 * Warm-up   A column with warm_up = n is, from the n-th bar of a sequence on, a function of its
 *           last n bars, to the last bit. What push() writes earlier is not read.
 * Values    Finite. A row with one that is not is counted, has no answer and trains nothing. What
 *           push() leaves unwritten is not finite.
 * Threads   push() runs on many threads at once, each with a state of its own.
 * Hot path  push() takes no lock, allocates nothing, calls no system, throws nothing.
 * Lifetime  Table, texts and columns stay as they are while the library is loaded; the bar and
 *           `out` are the library's only during the call.
 */
#ifndef FOXHUNT_FEATURES_H
#define FOXHUNT_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FOXHUNT_FEATURES_EXPORT __attribute__((visibility("default")))
#else
#define FOXHUNT_FEATURES_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when the layout of a struct below, or what a call means, changes. */
#define FOXHUNT_FEATURES_ABI 1

/* What a host takes at most. */
#define FOXHUNT_FEATURES_MOST_COLUMNS 256
#define FOXHUNT_FEATURES_MOST_STATE (1u << 20) /* bytes */
#define FOXHUNT_FEATURES_MOST_WARM_UP 100000   /* bars */
#define FOXHUNT_FEATURES_MOST_TEXT 200         /* bytes of a name, unit, version or help */

/* NOLINTBEGIN(readability-identifier-naming): C names */

/* A bar that has ended, inside of its session. Times are nanoseconds since 1970 in UTC, prices
 * whole numbers of 1e-9: 4321.25 is 4321250000000. 88 bytes. */
typedef struct foxhunt_feature_bar {
  int64_t start_ns;
  int64_t span_ns;                /* its length; it ends at start_ns + span_ns */
  int64_t open, high, low, close; /* > 0; low <= open, close <= high */
  uint64_t volume;                /* contracts */
  int64_t tick;                   /* smallest step of a price */
  int64_t session_open_ns;        /* of the session that it lies in */
  int64_t session_close_ns;       /* scheduled */
  uint64_t reserved;              /* 0 */
} foxhunt_feature_bar;

typedef struct foxhunt_feature_column {
  const char *name; /* of [a-z0-9_], another one than every other column's */
  const char *unit; /* "ticks"; printable ASCII, as version and help */
  const char *help; /* what it says, in one line */
  int64_t warm_up;  /* bars of a sequence before the value is defined, that one included; >= 1 */
} foxhunt_feature_column;

typedef struct foxhunt_features {
  uint32_t abi;         /* FOXHUNT_FEATURES_ABI */
  uint32_t struct_size; /* sizeof(foxhunt_features) */
  const char *name;     /* of the library, of [a-z0-9_] */
  const char *version;  /* "1.0" */
  size_t n_columns;
  const foxhunt_feature_column *columns; /* [n_columns] */
  size_t state_bytes;                    /* 0: push() gets a null state */
  /* Takes the bar into `state` and writes a value for each column into out [n_columns]. */
  void (*push)(void *state, const foxhunt_feature_bar *bar, float *out);
} foxhunt_features;

/* NOLINTEND(readability-identifier-naming) */

/* The one function that a library exports. It answers the same static table every time. */
FOXHUNT_FEATURES_EXPORT const foxhunt_features *foxhunt_features_v1(void);

#ifdef __cplusplus
}
#endif
#endif /* FOXHUNT_FEATURES_H */
