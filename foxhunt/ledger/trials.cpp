#include "foxhunt/ledger/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"

namespace foxhunt::ledger {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKind = "evaluation";

std::string dump(const Json& json) {
  // Paths may hold bytes that are no UTF-8: they must not throw here.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> number(const Json& json, const char* key) {
  return json.at(key).is_null() ? std::nullopt : std::optional(json.at(key).get<double>());
}

Json to_json(const DataSet& data) {
  return {{"files", data.files},
          {"product", data.product},
          {"symbol", data.symbol},
          {"label", data.label}};
}

Json to_json(const Evaluation& e) {
  return {{"verb", e.verb},
          {"data", to_json(e.data)},
          {"part", e.part},
          {"rows", e.rows},
          {"first", to_string(e.first)},
          {"last", to_string(e.last)},
          {"run", e.run},
          {"weights_sha256", e.weights_sha256},
          {"config_sha256", e.config_sha256},
          {"git_revision", e.git_revision},
          {"seed", e.seed},
          {"metric", e.metric},
          {"value", number(e.value)},
          {"baseline", e.baseline},
          {"gain", number(e.gain)},
          {"standard_error", number(e.standard_error)},
          {"lo", number(e.lo)},
          {"hi", number(e.hi)},
          {"rank_ic", number(e.rank_ic)},
          {"seconds", e.seconds}};
}

Evaluation from_json(const Json& j) {
  const Json& data = j.at("data");
  return {.verb = j.at("verb"),
          .data = {.files = data.at("files"),
                   .product = data.at("product"),
                   .symbol = data.at("symbol"),
                   .label = data.at("label")},
          .part = j.at("part"),
          .rows = j.at("rows"),
          .first = parse_time(j.at("first").get<std::string>()),
          .last = parse_time(j.at("last").get<std::string>()),
          .run = j.at("run"),
          .weights_sha256 = j.at("weights_sha256"),
          .config_sha256 = j.at("config_sha256"),
          .git_revision = j.at("git_revision"),
          .seed = j.at("seed"),
          .metric = j.at("metric"),
          .value = number(j, "value"),
          .baseline = j.at("baseline"),
          .gain = number(j, "gain"),
          .standard_error = number(j, "standard_error"),
          .lo = number(j, "lo"),
          .hi = number(j, "hi"),
          .rank_ic = number(j, "rank_ic"),
          .seconds = j.at("seconds")};
}

bool overlap(const Evaluation& a, const Evaluation& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

std::string DataSet::id() const { return sha256_of(dump(to_json(*this))); }

void record(Ledger& ledger, const Evaluation& evaluation) {
  ledger.append(kKind, evaluation.data.id(), dump(to_json(evaluation)));
}

std::vector<Evaluation> evaluations(const Ledger& ledger) {
  std::vector<Evaluation> all;
  for (const Entry& entry : ledger.entries(kKind)) {
    try {
      all.push_back(from_json(Json::parse(entry.body)));
    } catch (const std::exception& error) {
      throw FormatError(fmt::format("[ledger] {}: entry {}: {}", ledger.path().string(), entry.seq,
                                    error.what()));
    }
  }
  return all;
}

TrialCount count_trials(const Ledger& ledger, const Evaluation& evaluation) {
  const std::string id = evaluation.data.id();
  std::set<std::string> same;
  std::set<std::string> related;
  for (const Evaluation& other : evaluations(ledger)) {
    if (!overlap(other, evaluation)) continue;
    if (other.data.id() == id) {
      same.insert(other.weights_sha256);
    } else if (other.data.product == evaluation.data.product) {
      related.insert(other.weights_sha256);
    }
  }
  std::erase_if(related, [&](const std::string& weights) { return same.contains(weights); });
  return {.trials = static_cast<std::int64_t>(same.size()),
          .related = static_cast<std::int64_t>(related.size())};
}

std::vector<DataSetSummary> data_sets(const std::vector<Evaluation>& all) {
  std::vector<DataSetSummary> sets;
  std::map<std::string, std::size_t> place;
  std::map<std::string, std::set<std::string>> weights;
  for (const Evaluation& e : all) {
    const std::string id = e.data.id();
    const auto [found, is_new] = place.try_emplace(id, sets.size());
    if (is_new) sets.push_back({.data = e.data, .id = id, .first = e.first, .last = e.last});
    DataSetSummary& set = sets[found->second];
    weights[id].insert(e.weights_sha256);
    ++set.evaluations;
    set.trials = static_cast<std::int64_t>(weights[id].size());
    set.first = std::min(set.first, e.first);
    set.last = std::max(set.last, e.last);
  }
  return sets;
}

}  // namespace foxhunt::ledger
