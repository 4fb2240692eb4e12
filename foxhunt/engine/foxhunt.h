/* Over budget: the whole C interface is one header, so that a program in C has one file to read.
 *
 * A trained model answers in microseconds: open a bundle once, give each stream a session, hand it
 * bars. C99; also valid C++. Link libfoxhunt_engine (CMake: find_package(foxhunt),
 * foxhunt::engine).
 *
 * Results    One int32_t: negative is an error of the call (FOXHUNT_E_*), 0 is success or "an
 * answer was written", positive is why a record got no answer (FOXHUNT_WARMING_UP ...). Nothing
 *            throws, aborts or prints. A null handle or pointer gives FOXHUNT_E_ARGUMENT.
 * Error text Kept for each thread: foxhunt_last_error() is about the last call on this thread that
 *            gave a negative result. Success does not clear it.
 * Threads    A model is immutable: any number of threads may use one. A session belongs to one
 *            thread at a time; sessions of one model are independent of each other.
 * Lifetime   A session keeps what it needs of its model: either may go first. Texts and lists of
 *            foxhunt_facts live as long as their model.
 * Hot path   on_event, answer, advance, step, step_many: no allocation, lock or system call.
 * Growth     Structs that may grow begin with their size. Set struct_size = sizeof(the struct). The
 *            library reads and writes that much of it; fields that a newer program sets and this
 *            library does not know are an error, never ignored.
 */
#ifndef FOXHUNT_H
#define FOXHUNT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FOXHUNT_API __attribute__((visibility("default")))
#else
#define FOXHUNT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a program that was built against an older header would be served wrongly. */
#define FOXHUNT_ABI_VERSION 1

enum {
  FOXHUNT_OK = 0,
  FOXHUNT_READY = 0,        /* an answer was written */
  FOXHUNT_WARMING_UP = 1,   /* too little past in this sequence */
  FOXHUNT_CLOSED = 2,       /* outside of the market's sessions: ignored */
  FOXHUNT_BAD_RECORD = 3,   /* a bar that cannot be used: ignored */
  FOXHUNT_OUT_OF_ORDER = 4, /* not after the bar before: ignored */
  FOXHUNT_BAD_INPUT = 5,    /* a feature that is NaN or infinite: ignored, the state is as it was */
  FOXHUNT_NO_SAMPLE = 6,    /* an order event at which no answer is due; the book took it */

  FOXHUNT_E_ARGUMENT = -1, /* null pointer, wrong size, unknown field or choice */
  FOXHUNT_E_FORMAT = -2,   /* bytes that break their rules; a state of another model or form */
  FOXHUNT_E_IO = -3,       /* the operating system refused: no such file, no permission */
  FOXHUNT_E_CONFIG = -4,   /* a model or kernels that cannot serve here */
  FOXHUNT_E_VERIFY = -5,   /* the model does not answer as its proof says */
  FOXHUNT_E_BUFFER = -6,   /* a buffer that is too small; the size it takes was written */
  FOXHUNT_E_MEMORY = -7,
  FOXHUNT_E_INTERNAL = -8
};

#define FOXHUNT_NULL_TIME INT64_MIN  /* no time */
#define FOXHUNT_NULL_PRICE INT64_MAX /* no price */

/* NOLINTBEGIN(readability-identifier-naming): C names */
typedef struct foxhunt_model foxhunt_model;
typedef struct foxhunt_session foxhunt_session;

typedef struct foxhunt_options {
  size_t struct_size;
  const char *kernels; /* "avx512", "avx2", "scalar"; null or "": this machine's fastest */
  const char *weights; /* "fp32", "fp16", "bf16", "int8"; null or "": the bundle's */
} foxhunt_options;

typedef struct foxhunt_facts {
  size_t struct_size;
  int64_t n_features;               /* F, values of a feature row */
  int64_t n_outputs;                /* K, values of an answer */
  const char *const *feature_names; /* [F] */
  const char *const *output_names;  /* [K] "down", "flat", "up"; "value"; "q0.1" ... */
  int64_t bar_ns;                   /* length of the bars it takes; 0: it takes order events */
  int64_t warm_up;              /* bars of a sequence before its first answer, that one included */
  int64_t bytes_per_step;       /* weights read, state read and written */
  const char *product;          /* "ES" */
  const char *model_id;         /* SHA-256 of what answers depend on; states carry it */
  const char *file_id;          /* SHA-256 of the bundle, its proof included */
  const char *weights;          /* "fp32", "fp16", "bf16", "int8" */
  const char *kernels;          /* "avx512, products avx512bf16" */
  const char *certificate_json; /* what the export proved */
  const char *training_json;    /* what the training run says of itself */
  const char *latency_json;     /* "" until measured */
} foxhunt_facts;

/* A bar of open, high, low, close, volume. Prices are whole numbers of 1e-9: 4321.25 is
 * 4321250000000. 64 bytes. */
typedef struct foxhunt_bar {
  int64_t time_ns; /* start of the interval, nanoseconds since 1970 in UTC */
  int64_t span_ns; /* its length; foxhunt_facts.bar_ns */
  int64_t open, high, low, close;
  uint64_t volume;        /* contracts */
  uint32_t instrument_id; /* another one starts a new sequence */
  uint16_t publisher_id;
  uint16_t version; /* 0: this layout */
} foxhunt_bar;

/* An event of a market-by-order feed, for models with foxhunt_facts.bar_ns = 0. Every event of the
 * instrument is given, those before the session opens and those of the snapshot too. 64 bytes. */
typedef struct foxhunt_order {
  int64_t event_ns;    /* at the venue, nanoseconds since 1970 in UTC */
  int64_t received_ns; /* when it was received: the stream's order */
  uint64_t order_id;
  int64_t price; /* whole numbers of 1e-9 */
  uint32_t size; /* contracts; 0 or, as in DBN, 4294967295: none */
  uint32_t sequence;
  uint32_t instrument_id; /* another one starts a new book */
  int32_t delta_ns;       /* from sending to receiving */
  uint16_t publisher_id;
  uint8_t flags; /* as in DBN: 0x80 last of its event, 0x20 snapshot */
  uint8_t channel_id;
  char action;      /* A add, C cancel, M modify, R clear, T trade, F fill, N none */
  char side;        /* B bid, A ask, N none */
  uint16_t version; /* 0: this layout */
  uint64_t reserved;
} foxhunt_order;

/* The golden rows of a bundle, replayed on this machine. */
typedef struct foxhunt_report {
  size_t struct_size;
  int32_t ok;
  int32_t reserved;
  int64_t rows;               /* answers compared */
  double max_difference;      /* of the largest output */
  double mean_difference;     /* of the largest output */
  double bound_difference;    /* of max_difference */
  int64_t decision_flips;     /* decisions that changed */
  double bound_flip_rate;     /* of decision_flips / rows */
  int64_t status_differences; /* records answered in one and not in the other */
  char what[512];             /* the first thing that is wrong; "" when ok */
} foxhunt_report;

/* What became of every bar since the session began. */
typedef struct foxhunt_counters {
  size_t struct_size;
  int64_t bars, ready, warming_up, closed, bad_record, out_of_order;
  int64_t sequences; /* started */
  int64_t position;  /* rows answered since this sequence began, those of step() included */
} foxhunt_counters;

/* NOLINTEND(readability-identifier-naming) */

/* ---- library ---- */
FOXHUNT_API int32_t foxhunt_abi_version(void);
FOXHUNT_API const char *foxhunt_version(void);  /* "0.1.0" */
FOXHUNT_API const char *foxhunt_revision(void); /* of the source it was built from */
/* "warming up", "bad argument", ...; "unknown" for a number that is none. */
FOXHUNT_API const char *foxhunt_status_text(int32_t status);
/* Of this thread; valid until its next error. "" before the first. At most 2047 bytes. */
FOXHUNT_API const char *foxhunt_last_error(void);

/* ---- model ---- */
/* `options` may be null. On success *out is a model for foxhunt_model_close(); otherwise null. */
FOXHUNT_API int32_t foxhunt_model_open(const char *path, const foxhunt_options *options,
                                       foxhunt_model **out);
/* The bytes of a bundle; they are not needed afterwards. `name` stands for the file in messages. */
FOXHUNT_API int32_t foxhunt_model_open_memory(const void *bytes, size_t size, const char *name,
                                              const foxhunt_options *options, foxhunt_model **out);
FOXHUNT_API void foxhunt_model_close(foxhunt_model *model); /* null: nothing happens */
FOXHUNT_API int32_t foxhunt_model_facts(const foxhunt_model *model, foxhunt_facts *facts);
/* 0 when every golden row is met within its bound, FOXHUNT_E_VERIFY otherwise. `report` may be
 * null. */
FOXHUNT_API int32_t foxhunt_model_verify(const foxhunt_model *model, foxhunt_report *report);
/* An answer [K] as what it means [K]: probabilities of classes, a value, quantiles. Allocates. */
FOXHUNT_API int32_t foxhunt_model_meaning(const foxhunt_model *model, const float *answer, size_t n,
                                          double *meaning);

/* ---- session: one stream ---- */
/* Takes and touches all memory of the stream, the only call that does. */
FOXHUNT_API int32_t foxhunt_session_new(const foxhunt_model *model, foxhunt_session **out);
/* A second stream that goes on from the same state. */
FOXHUNT_API int32_t foxhunt_session_copy(const foxhunt_session *session, foxhunt_session **out);
FOXHUNT_API void foxhunt_session_free(foxhunt_session *session);     /* null: nothing happens */
FOXHUNT_API int32_t foxhunt_session_reset(foxhunt_session *session); /* as new */
FOXHUNT_API int32_t foxhunt_session_counters(const foxhunt_session *session,
                                             foxhunt_counters *counters);

/* A bar in, an answer [n_out = K] out when the result is FOXHUNT_READY; `out` is untouched
 * otherwise. */
FOXHUNT_API int32_t foxhunt_session_on_event(foxhunt_session *session, const foxhunt_bar *bar,
                                             float *out, size_t n_out);
/* on_event() in two: the answer first, the state's update when the answer is out. A forgotten
 * advance() is done by the next call. */
FOXHUNT_API int32_t foxhunt_session_answer(foxhunt_session *session, const foxhunt_bar *bar,
                                           float *out, size_t n_out);
FOXHUNT_API int32_t foxhunt_session_advance(foxhunt_session *session);
/* The two for an order event; FOXHUNT_NO_SAMPLE where no answer is due. */
FOXHUNT_API int32_t foxhunt_session_on_order(foxhunt_session *session, const foxhunt_order *order,
                                             float *out, size_t n_out);
FOXHUNT_API int32_t foxhunt_session_answer_order(foxhunt_session *session,
                                                 const foxhunt_order *order, float *out,
                                                 size_t n_out);

/* One row [n_features = F] as the feature pipeline gives it, before scaling. FOXHUNT_READY or
 * FOXHUNT_BAD_INPUT. */
FOXHUNT_API int32_t foxhunt_session_step(foxhunt_session *session, const float *features,
                                         size_t n_features, float *out, size_t n_out);
/* step() of n different sessions of one model: features [n, F], out [n, K], statuses [n]; the
 * weights are read once for several of them. The same bits as one by one. A refused call (a
 * negative result) steps none. */
FOXHUNT_API int32_t foxhunt_step_many(foxhunt_session *const *sessions, size_t n,
                                      const float *features, size_t n_features, float *out,
                                      size_t n_out, int32_t *statuses);

/* Everything the next answer depends on, versioned, with the model's id: *size bytes into `buffer`.
 * A null buffer asks for the size alone (0); one that is too small gives FOXHUNT_E_BUFFER. */
FOXHUNT_API int32_t foxhunt_session_save(const foxhunt_session *session, void *buffer,
                                         size_t capacity, size_t *size);
/* Goes on with the same bits. An error leaves the session as it was. */
FOXHUNT_API int32_t foxhunt_session_restore(foxhunt_session *session, const void *bytes,
                                            size_t size);

#ifdef __cplusplus
}
#endif
#endif /* FOXHUNT_H */
