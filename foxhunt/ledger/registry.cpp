#include "foxhunt/ledger/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/nearest.h"

namespace foxhunt::ledger {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFewestDigits = 6;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Model& m) {
  return {{"kind", m.kind},
          {"path", m.path.string()},
          {"id", m.id},
          {"file_sha256", m.file_sha256},
          {"weights_sha256", m.weights_sha256},
          {"config_sha256", m.config_sha256},
          {"data_sha256", m.data_sha256},
          {"run", m.run},
          {"git_revision", m.git_revision},
          {"certificate", m.certificate.empty() ? Json(nullptr) : Json::parse(m.certificate)}};
}

/// Calls `read` with the parsed body; any error names the entry.
template <class Read>
auto parsed(const Ledger& ledger, const Entry& entry, Read read) {
  try {
    return read(Json::parse(entry.body));
  } catch (const Json::exception& error) {
    throw FormatError(
        fmt::format("[ledger] {}: entry {}: {}", ledger.path().string(), entry.seq, error.what()));
  }
}

Model model_of(const Entry& entry, const Json& j) {
  const Json& certificate = j.at("certificate");
  return {.name = entry.subject,
          .kind = j.at("kind"),
          .path = j.at("path").get<std::string>(),
          .id = j.at("id"),
          .file_sha256 = j.at("file_sha256"),
          .weights_sha256 = j.at("weights_sha256"),
          .config_sha256 = j.at("config_sha256"),
          .data_sha256 = j.at("data_sha256"),
          .run = j.at("run"),
          .git_revision = j.at("git_revision"),
          .certificate = certificate.is_null() ? "" : certificate.dump(),
          .seq = entry.seq,
          .at = entry.at};
}

Promotion promotion_of(const Entry& entry, const Json& j) {
  return {.alias = entry.subject,
          .name = j.at("name"),
          .model = j.at("model"),
          .entry = j.at("entry"),
          .note = j.at("note"),
          .forced = j.at("forced"),
          .seq = entry.seq,
          .at = entry.at};
}

bool is_hash(const std::string& text) {
  return text.size() >= kFewestDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string several(const std::string& wanted, const std::vector<Model>& found) {
  std::string text = fmt::format("[models] '{}' could be", wanted);
  for (const Model& m : found)
    text += fmt::format("\n  {} {} ({}), registered {}", m.name, m.id, m.kind, to_string(m.at));
  return text + "\ngive more digits";
}

}  // namespace

void require_name(const std::string& name, const std::string& what) {
  const bool good = !name.empty() && name.size() <= 100 && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  });
  if (!good) {
    throw UsageError(
        fmt::format("{} '{}': may hold 1 to 100 letters, digits, '.', '_' and '-'", what, name));
  }
}

Model register_model(Ledger& ledger, Model model) {
  require_name(model.name, "name of the model");
  const Json body = to_json(model);
  const std::vector<Entry> earlier = ledger.entries("model", model.name);
  if (!earlier.empty() && earlier.back().body == dump(body)) {
    model.seq = earlier.back().seq;
    model.at = earlier.back().at;
    return model;
  }
  const Entry entry = ledger.append("model", model.name, dump(body));
  model.seq = entry.seq;
  model.at = entry.at;
  return model;
}

std::vector<Model> models(const Ledger& ledger) {
  std::vector<Model> all;
  for (const Entry& entry : ledger.entries("model")) {
    all.push_back(parsed(ledger, entry, [&](const Json& body) { return model_of(entry, body); }));
  }
  return all;
}

Model find_model(const Ledger& ledger, const std::string& wanted) {
  const std::vector<Model> all = models(ledger);
  for (auto m = all.rbegin(); m != all.rend(); ++m) {
    if (m->name == wanted) return *m;
  }
  std::vector<Model> found;  // the newest of each thing
  if (is_hash(wanted)) {
    for (auto m = all.rbegin(); m != all.rend(); ++m) {
      const bool hit = m->id.starts_with(wanted) || m->weights_sha256.starts_with(wanted) ||
                       m->file_sha256.starts_with(wanted);
      const bool known = std::ranges::any_of(
          found, [&](const Model& f) { return f.id == m->id && f.kind == m->kind; });
      if (hit && !known) found.push_back(*m);
    }
    // A run and its bundle share the weights: what serves is meant.
    if (found.size() > 1 && std::ranges::count(found, "bundle", &Model::kind) == 1)
      std::erase_if(found, [](const Model& m) { return m.kind != "bundle"; });
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) throw DataError(several(wanted, found));
  std::vector<std::string> names;
  for (const Model& m : all) names.push_back(m.name);
  const std::string near = nearest_name(wanted, names);
  throw DataError(fmt::format(
      "[models] no model '{}' in {}: {}", wanted, ledger.path().string(),
      !near.empty() ? fmt::format("did you mean '{}'?", near)
                    : "`foxhunt models list` shows all; a hash needs at least 6 digits"));
}

std::vector<std::string> objections(const Model& model) {
  if (model.kind != "bundle")
    return {fmt::format("is a {}, not a bundle: `foxhunt export` makes one", model.kind)};
  std::vector<std::string> all;
  if (model.certificate.empty()) all.emplace_back("has no certificate");
  std::error_code code;
  if (!std::filesystem::is_regular_file(model.path, code)) {
    all.push_back(fmt::format("{} is gone", model.path.string()));
  } else if (sha256_of_file(model.path) != model.file_sha256) {
    all.push_back(fmt::format("{} is not what was registered (SHA-256 differs): register it anew",
                              model.path.string()));
  }
  return all;
}

Promotion promote(Ledger& ledger, const Model& model, const std::string& alias,
                  const std::string& note, bool force) {
  require_name(alias, "alias");
  const std::string against = fmt::format("{}", fmt::join(objections(model), "; "));
  if (!against.empty() && !force) {
    throw DataError(
        fmt::format("[models] '{}' {} is not promoted to '{}': it {} (--force promotes "
                    "it all the same and records why not)",
                    model.name, model.id.substr(0, 12), alias, against));
  }
  Promotion promotion{.alias = alias,
                      .name = model.name,
                      .model = model.id,
                      .entry = model.seq,
                      .note = note,
                      .forced = against};
  const Entry entry = ledger.append("promotion", alias,
                                    dump({{"name", promotion.name},
                                          {"model", promotion.model},
                                          {"entry", promotion.entry},
                                          {"note", promotion.note},
                                          {"forced", promotion.forced}}));
  promotion.seq = entry.seq;
  promotion.at = entry.at;
  return promotion;
}

std::vector<Promotion> promotions(const Ledger& ledger, const std::string& alias) {
  std::vector<Promotion> all;
  for (const Entry& entry : ledger.entries("promotion", alias)) {
    all.push_back(
        parsed(ledger, entry, [&](const Json& body) { return promotion_of(entry, body); }));
  }
  return all;
}

std::optional<Promotion> promoted_at(const std::vector<Promotion>& history, UnixNanos t) {
  const auto next = std::ranges::upper_bound(history, t, {}, &Promotion::at);
  if (next == history.begin()) return std::nullopt;
  return *std::prev(next);
}

}  // namespace foxhunt::ledger
