#pragma once
// SHA-256, for whatever a run has to prove later: data files, configurations, weights.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace foxhunt {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// 64 hexadecimal digits. Call once.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_of(std::string_view text);
/// Streams the file. Errors  IoError naming it.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace foxhunt
