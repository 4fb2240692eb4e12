// foxhunt models: what was tried and which model serves, from the ledger.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/experiments/lineage.h"
#include "foxhunt/ledger/registry.h"
#include "foxhunt/ledger/trials.h"

namespace foxhunt::app {
namespace {

using Json = nlohmann::ordered_json;
using ledger::Ledger;
using ledger::Model;
using ledger::Promotion;

struct Options {
  std::string ledger;
  std::string what;  // a model, a run, a bundle
  std::string alias;
  std::string name;
  std::string note;
  std::string at;
  bool force = false;
};

std::filesystem::path place(const Options& options) {
  const std::filesystem::path path = ledger::find_ledger(options.ledger);
  if (path.empty()) throw UsageError("models: --ledger none names no ledger");
  return path;
}

Json json_of(const Model& m) {
  return {{"name", m.name},
          {"kind", m.kind},
          {"id", m.id},
          {"path", m.path.string()},
          {"registered", to_string(m.at)},
          {"file_sha256", m.file_sha256},
          {"weights_sha256", m.weights_sha256},
          {"config_sha256", m.config_sha256},
          {"data_sha256", m.data_sha256},
          {"run", m.run},
          {"git_revision", m.git_revision},
          {"certificate", m.certificate.empty() ? Json(nullptr) : Json::parse(m.certificate)},
          {"entry", m.seq}};
}

Json json_of(const Promotion& p) {
  return {{"alias", p.alias}, {"name", p.name},     {"model", p.model}, {"from", to_string(p.at)},
          {"note", p.note},   {"forced", p.forced}, {"entry", p.seq}};
}

std::string text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// Which aliases name `model` now.
std::string aliases_of(const std::vector<Promotion>& all, const Model& model) {
  std::map<std::string, std::string> now;
  for (const Promotion& p : all) now[p.alias] = p.model;
  std::string names;
  for (const auto& [alias, id] : now) {
    if (id == model.id) names += (names.empty() ? "" : " ") + alias;
  }
  return names;
}

int list(const Options& options, bool json) {
  const Ledger book = Ledger::open(place(options));
  const std::vector<Promotion> promoted = ledger::promotions(book);
  Json out = Json::array();
  if (!json)
    fmt::print("{:<28} {:<7} {:<13} {:<20} {}\n", "name", "kind", "id", "registered", "serves as");
  for (const Model& m : ledger::models(book)) {
    const std::string aliases = m.kind == "bundle" ? aliases_of(promoted, m) : "";
    if (json) {
      out.push_back(json_of(m));
      out.back()["aliases"] = aliases;
    } else {
      fmt::print("{:<28} {:<7} {:<13} {:<20} {}\n", m.name, m.kind, m.id.substr(0, 12),
                 to_string(std::chrono::floor<std::chrono::seconds>(m.at)), aliases);
    }
  }
  if (json) fmt::print("{}\n", text(out));
  return 0;
}

int show(const Options& options, bool json) {
  const Ledger book = Ledger::open(place(options));
  const Model model = ledger::find_model(book, options.what);
  Json out = json_of(model);
  out["promotions"] = Json::array();
  for (const Promotion& p : ledger::promotions(book)) {
    if (p.model == model.id) out["promotions"].push_back(json_of(p));
  }
  out["evaluations"] = Json::array();
  for (const ledger::Evaluation& e : ledger::evaluations(book)) {
    if (e.weights_sha256 != model.weights_sha256) continue;
    const auto number = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
    out["evaluations"].push_back({{"part", e.part},
                                  {"first", to_string(e.first)},
                                  {"last", to_string(e.last)},
                                  {"rows", e.rows},
                                  {"metric", e.metric},
                                  {"value", number(e.value)},
                                  {"baseline", e.baseline},
                                  {"gain", number(e.gain)},
                                  {"standard_error", number(e.standard_error)}});
  }
  out["objections"] = ledger::objections(model);
  if (json) {
    fmt::print("{}\n", text(out));
    return 0;
  }
  for (const auto& [key, value] : out.items()) {
    if (value.is_array() || value.is_object()) {
      if (!value.empty()) fmt::print("{}\n{}\n", key, text(value));
    } else {
      fmt::print("{:<15} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return 0;
}

int add(const Options& options, bool json) {
  Ledger book = Ledger::open_to_write(place(options));
  const bool is_run = std::filesystem::is_directory(options.what);
  const Model model = ledger::register_model(
      book, is_run ? experiments::model_of_run(options.what, options.name)
                   : experiments::model_of_bundle(options.what, {}, options.name));
  if (json) {
    fmt::print("{}\n", text(json_of(model)));
  } else {
    fmt::print("{} {} registered as {}\n", model.kind, model.id.substr(0, 12), model.name);
  }
  return 0;
}

int promote(const Options& options, bool json) {
  Ledger book = Ledger::open_to_write(place(options));
  const Model model = ledger::find_model(book, options.what);
  const Promotion promotion =
      ledger::promote(book, model, options.alias, options.note, options.force);
  if (!promotion.forced.empty())
    log::warn("promoted by force, and recorded: the model {}", promotion.forced);
  if (json) {
    fmt::print("{}\n", text(json_of(promotion)));
  } else {
    fmt::print("{} is {} {} from {} on\n", promotion.alias, promotion.name,
               promotion.model.substr(0, 12), to_string(promotion.at));
  }
  return 0;
}

int history(const Options& options, bool json) {
  ledger::require_name(options.alias, "alias");
  const Ledger book = Ledger::open(place(options));
  std::vector<Promotion> all = ledger::promotions(book, options.alias);
  std::vector<std::string> until;
  for (std::size_t i = 0; i < all.size(); ++i)
    until.push_back(i + 1 < all.size() ? to_string(all[i + 1].at) : "");
  if (!options.at.empty()) {
    const UnixNanos t = parse_time(options.at);
    const std::optional<Promotion> then = ledger::promoted_at(all, t);
    if (!then) {
      throw DataError(
          fmt::format("[models] at {} '{}' named no model{}", to_string(t), options.alias,
                      all.empty() ? ": it was never promoted"
                                  : "; the first promotion was at " + to_string(all.front().at)));
    }
    const auto place = std::ranges::find(all, then->seq, &Promotion::seq) - all.begin();
    until = {until[static_cast<std::size_t>(place)]};
    all = {*then};
  }
  if (all.empty()) throw DataError(fmt::format("[models] '{}' was never promoted", options.alias));
  Json out = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (json) {
      out.push_back(json_of(all[i]));
      out.back()["until"] = until[i].empty() ? Json(nullptr) : Json(until[i]);
    } else {
      fmt::print("{:<30} to {:<30}  {} {}{}{}\n", to_string(all[i].at),
                 until[i].empty() ? "now" : until[i], all[i].name, all[i].model.substr(0, 12),
                 all[i].note.empty() ? "" : "  " + all[i].note,
                 all[i].forced.empty() ? "" : "  FORCED: it " + all[i].forced);
    }
  }
  if (json) fmt::print("{}\n", text(options.at.empty() ? out : out.front()));
  return 0;
}

int trials(const Options& options, bool json) {
  const Ledger book = Ledger::open(place(options));
  Json out = Json::array();
  if (!json)
    fmt::print("{:<13} {:<8} {:>11} {:>7}  {}\n", "data set", "product", "evaluations", "trials",
               "rows from .. to");
  for (const ledger::DataSetSummary& set : ledger::data_sets(ledger::evaluations(book))) {
    if (json) {
      out.push_back({{"data_set", set.id},
                     {"product", set.data.product},
                     {"files", set.data.files},
                     {"label", set.data.label},
                     {"evaluations", set.evaluations},
                     {"trials", set.trials},
                     {"first", to_string(set.first)},
                     {"last", to_string(set.last)}});
    } else {
      fmt::print("{:<13} {:<8} {:>11} {:>7}  {} .. {}\n", set.id.substr(0, 12), set.data.product,
                 set.evaluations, set.trials, to_string(set.first), to_string(set.last));
    }
  }
  if (json) fmt::print("{}\n", text(out));
  return 0;
}

int check(const Options& options, bool json) {
  const Ledger book = Ledger::open(place(options));
  const ledger::CheckReport report = book.check();
  if (json) {
    fmt::print("{}\n", text({{"path", book.path().string()},
                             {"entries", report.entries},
                             {"last_hash", report.last_hash},
                             {"ok", report.problems.empty()},
                             {"problems", report.problems}}));
  } else {
    for (const std::string& problem : report.problems) fmt::print("{}\n", problem);
    fmt::print("{}: {} entries, {}\nlast hash {}\n", book.path().string(), report.entries,
               report.problems.empty() ? "the chain holds" : "the chain is BROKEN",
               report.last_hash);
  }
  if (report.problems.empty()) return 0;
  throw DataError(fmt::format("[models] {}: {} problem{}", book.path().string(),
                              report.problems.size(), report.problems.size() == 1 ? "" : "s"));
}

}  // namespace

void add_ledger_option(CLI::App& sub, std::string& ledger) {
  sub.add_option("--ledger", ledger,
                 "database of trials and models; 'none': record nothing. Default: "
                 "$FOXHUNT_LEDGER, else .foxhunt/ledger.db of the nearest folder upwards that has "
                 ".foxhunt, else foxhunt/ledger.db of the user's data folder");
}

Run add_models(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  auto run = std::make_shared<Run>();
  sub.require_subcommand(1);
  const auto verb = [&](const char* name, const char* help, int (*body)(const Options&, bool)) {
    CLI::App* app = sub.add_subcommand(name, help);
    app->fallthrough();
    app->callback([=, &globals] { *run = [=, &globals] { return body(*options, globals.json); }; });
    add_ledger_option(*app, options->ledger);
    return app;
  };
  verb("list", "every registered run and bundle, and what each serves as", list);
  verb("show", "lineage, evaluations and promotions of one model", show)
      ->add_option("model", options->what, "name, or the first digits of a hash")
      ->required();
  CLI::App* add_sub = verb("register", "enter a run folder or a bundle", add);
  add_sub->add_option("what", options->what, "run folder or bundle")
      ->required()
      ->check(CLI::ExistingPath);
  add_sub->add_option("--name", options->name, "instead of the folder's or the file's own");
  CLI::App* promote_sub =
      verb("promote",
           "from now on an alias names this model; to roll back, promote the earlier one", promote);
  promote_sub->add_option("model", options->what, "name, or the first digits of a hash")
      ->required();
  promote_sub->add_option("alias", options->alias, "what programs ask for, as prod")->required();
  promote_sub->add_option("--note", options->note, "why");
  promote_sub->add_flag("--force", options->force,
                        "although it has no certificate, or its file is gone or changed; recorded");
  CLI::App* history_sub = verb("history", "which models an alias named, and when", history);
  history_sub->add_option("alias", options->alias, "as prod")->required();
  history_sub->add_option("--at", options->at,
                          "the one at this instant, UTC, as 2026-11-03T14:30Z; a promotion holds "
                          "from its own instant up to, not including, the next one's");
  verb("trials", "how often each data set was looked at", trials);
  verb("check", "walk the chain of hashes: says where the ledger was changed", check);
  return [run] { return (*run)(); };
}

}  // namespace foxhunt::app
