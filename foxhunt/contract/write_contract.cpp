#include "foxhunt/contract/write_contract.h"

#include <fmt/format.h>

#include <span>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/bundle/bundle.h"

namespace foxhunt::contract {

std::string write_contract(const std::filesystem::path& path, const Report& report) {
  const std::string file = path.string();
  if (!report.kept()) {
    throw DataError(fmt::format("{}: the contract is broken and is not written: {}", file,
                                report.broken().front()));
  }
  const std::string before = read_file(path);
  bundle::Bundle bundle = bundle::parse_bundle(std::as_bytes(std::span(before)), file);
  if (bundle.id != report.id) {
    throw DataError(fmt::format("{}: its id is {}, but {} was measured; nothing is written", file,
                                bundle.id, report.id.empty() ? "no file" : report.id));
  }
  // Entries of others outside of "foxhunt." are read by nobody here, so they would be lost.
  if (bundle::bundle_bytes(bundle, file) != before) {
    throw DataError(fmt::format(
        "{}: holds entries that this program does not write; nothing is written", file));
  }
  bundle.latency_json = to_json(report, -1);
  return bundle::write_bundle(path, bundle);
}

}  // namespace foxhunt::contract
