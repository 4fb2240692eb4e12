#include "foxhunt/base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>

#include "foxhunt/base/error.h"

namespace foxhunt {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> md{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  if (!context_->md || EVP_DigestInit_ex(context_->md.get(), EVP_sha256(), nullptr) != 1) {
    throw Error(ExitCode::kFailure, "[hash] OpenSSL has no SHA-256");
  }
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(context_->md.get(), bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_->md.get(), digest.data(), &size);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(fmt::format("{}: cannot be opened", path.string()));
  Sha256 hash;
  std::array<char, 1 << 16> buffer{};
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    hash.update(std::string_view(buffer.data(), static_cast<std::size_t>(file.gcount())));
  }
  if (file.bad()) throw IoError(fmt::format("{}: cannot be read", path.string()));
  return hash.finish();
}

}  // namespace foxhunt
