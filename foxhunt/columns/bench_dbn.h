#pragma once
// How fast DBN is decoded and written as CSV on one core of this machine, beside zstd alone and
// beside the official decoder on the same bytes in the same run.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace foxhunt::columns {

struct BenchDbnOptions {
  std::vector<std::filesystem::path> files;
  int repeats = 9;
  /// A file with fewer records is repeated, whole, until it has as many, and packed anew (zstd
  /// level 3, as Databento's encoder packs).
  std::int64_t least_records = 2'000'000;
  int core = -1;                        ///< both programs run on it; -1: the last one allowed
  std::filesystem::path peer_python{};  ///< with databento-dbn; empty: no peer
  std::filesystem::path peer_script{};  ///< bench/peers/dbn/peer.py
};

/// Medians over the repeats; the two programs and libzstd alone take turns.
struct BenchDbnRow {
  std::string file{};
  std::string way{};  ///< "zstd", "decode_zstd", "decode", "csv"
  std::int64_t records = 0;
  std::int64_t plain_bytes = 0;
  double seconds = 0;
  double records_per_s = 0;
  std::optional<double> peer_records_per_s{};
  /// Median of peer over own time of the same turn.
  std::optional<double> times_peer{};
  double zstd_only_s = 0;  ///< libzstd on the same packed bytes, nothing else
  /// Median of own time over that of libzstd alone in the same turn.
  double times_zstd = 0;
};

/// `row` is called as soon as one is known.
/// Errors  IoError, FormatError of the files; DataError: the peer counts other records or bytes of
///         CSV than this code; UsageError: the peer cannot be started.
std::vector<BenchDbnRow> bench_dbn(const BenchDbnOptions& options,
                                   const std::function<void(const BenchDbnRow&)>& row = {});

}  // namespace foxhunt::columns
