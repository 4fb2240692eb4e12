#pragma once
// Names of a bundle's entries, for its reader and its writer. docs/model_file.md describes them.

#include <cstddef>
#include <string_view>

namespace foxhunt::bundle {

inline constexpr std::string_view kBundleVersion = "1";

inline constexpr std::string_view kVersionKey = "foxhunt.bundle";
inline constexpr std::string_view kWeightsKey = "foxhunt.weights";
inline constexpr std::string_view kTrainingKey = "foxhunt.training";
inline constexpr std::string_view kCertificateKey = "foxhunt.certificate";
inline constexpr std::string_view kLatencyKey = "foxhunt.latency";      // may lack
inline constexpr std::string_view kLeakProofKey = "foxhunt.leakproof";  // may lack
inline constexpr std::string_view kDigestKey = "foxhunt.sha256";
inline constexpr std::string_view kRevisionKey = "foxhunt.git_revision";

inline constexpr std::size_t kDigestDigits = 64;

/// "foxhunt.golden.bars" I64 [n, 9], one row a bar, or "foxhunt.golden.events" I64 [n, 9], one row
/// an order event, columns as below; "foxhunt.golden.ready" U8 [n]; "foxhunt.golden.outputs" F32
/// [sum of ready, K].
inline constexpr std::string_view kGoldenBars = "foxhunt.golden.bars";
inline constexpr std::string_view kGoldenEvents = "foxhunt.golden.events";
inline constexpr std::string_view kGoldenReady = "foxhunt.golden.ready";
inline constexpr std::string_view kGoldenOutputs = "foxhunt.golden.outputs";

enum BarColumn : std::size_t {
  kPublisher,
  kInstrument,
  kStart,  ///< nanoseconds since 1970, UTC
  kSpan,   ///< nanoseconds
  kOpen,   ///< prices in 1e-9
  kHigh,
  kLow,
  kClose,
  kVolume,  ///< 64 bits without a sign
  kBarColumns
};

enum EventColumn : std::size_t {
  kEventInstrument,  ///< publisher << 32 | instrument
  kEventTime,        ///< ts_event, nanoseconds since 1970, UTC
  kEventReceived,    ///< ts_recv
  kEventOrder,       ///< order id, 64 bits without a sign
  kEventPrice,       ///< in 1e-9
  kEventSize,
  kEventLetters,  ///< action | side << 8 | flags << 16 | channel << 24
  kEventSequence,
  kEventDelta,  ///< ts_in_delta, nanoseconds
  kEventColumns
};

}  // namespace foxhunt::bundle
