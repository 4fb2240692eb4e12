#pragma once
// TensorBoard's events as bytes: protobuf messages (event.proto, summary.proto) in records with
// checksums. Only what scalars need.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::report {

struct Scalar {
  std::string tag{};  ///< "loss/train"
  double value = 0;   ///< stored as float32
};

/// The first record of every file.
std::string version_event(double wall_time);
/// All scalars of one step. `wall_time` in seconds since 1970.
std::string scalar_event(double wall_time, std::int64_t step, const std::vector<Scalar>& scalars);

/// Length and its checksum, the bytes and theirs; all little-endian.
std::string record(std::string_view bytes);

}  // namespace foxhunt::report
