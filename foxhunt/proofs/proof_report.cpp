// A report as leakproof.json and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/proofs/prove.h"

namespace foxhunt::proofs {
namespace {

using Json = nlohmann::ordered_json;

Json verdict_json(const Verdict& verdict) {
  Json out{{"name", verdict.name},
           {"holds", verdict.holds()},
           {"tries", verdict.tries},
           {"compared", verdict.compared},
           {"failures", verdict.failures}};
  out["first"] = nullptr;
  if (verdict.first) {
    const Counterexample& found = *verdict.first;
    out["first"] = {{"column", found.column},    {"t", to_string(found.t)},
                    {"at", to_string(found.at)}, {"before", found.before},
                    {"after", found.after},      {"what", found.what}};
  }
  out["notes"] = verdict.notes;
  return out;
}

Json corpus_json(const CorpusReport& corpus) {
  Json out{{"faults", corpus.faults},
           {"caught", corpus.caught},
           {"clean", corpus.clean},
           {"false_alarms", corpus.false_alarms},
           {"columns", Json::array()}};
  for (const CorpusEntry& entry : corpus.entries) {
    out["columns"].push_back(
        {{"name", entry.name}, {"fault", entry.is_fault}, {"caught_by", entry.caught_by}});
  }
  return out;
}

Json subject_json(const ProofReport& report) {
  const bundle::ProofSubject& s = report.subject;
  Json data = Json::array();
  for (std::size_t i = 0; i < s.data.size(); ++i) {
    data.push_back({{"file", std::filesystem::path(report.files[i]).filename().string()},
                    {"sha256", s.data[i]}});
  }
  Json out{{"product", s.product},         {"symbol", s.symbol},
           {"data", std::move(data)},      {"reading_sha256", s.reading},
           {"schema_sha256", s.schema},    {"features_sha256", s.features},
           {"label_sha256", s.label},      {"split_sha256", s.split},
           {"more_splits", Json::array()}, {"config_sha256", report.config_sha256}};
  for (const bundle::ProvenSplit& split : s.more_splits)
    out["more_splits"].push_back({{"name", split.name}, {"sha256", split.sha256}});
  for (const features::Library& library : report.libraries) {
    out["libraries"].push_back(
        {{"name", library.name}, {"version", library.version}, {"sha256", library.sha256}});
  }
  return out;
}

}  // namespace

std::string to_json(const ProofReport& report) {
  Json out{{"foxhunt.leakproof", "1"}, {"proven", report.proven()}, {"first", report.first()}};
  out["subject"] = subject_json(report);
  out["program"] = {{"version", version()},
                    {"git_revision", git_revision()},
                    {"binary_sha256", sha256_of_file("/proc/self/exe")}};
  out["options"] = {{"points", report.options.points},
                    {"seed", report.options.seed},
                    {"random_splits", report.options.random_splits}};
  out["data"] = {{"records", report.records}, {"bars", report.bars}, {"left_out", report.left_out}};
  out["proofs"] = Json::array();
  for (const Verdict& verdict : report.verdicts) out["proofs"].push_back(verdict_json(verdict));
  out["corpus"] = corpus_json(report.corpus);
  out["sha256"] = bundle::leak_proof_seal(out.dump(), bundle::kLeakProofFile);
  return out.dump(2) + "\n";
}

std::string to_text(const ProofReport& report) {
  std::string text =
      fmt::format("{:<20}{:>8}{:>14}{:>10}\n", "proof", "tries", "compared", "failed");
  for (const Verdict& verdict : report.verdicts) {
    text += fmt::format("{:<20}{:>8}{:>14}{:>10}\n", verdict.name, verdict.tries, verdict.compared,
                        verdict.failures);
    for (const std::string& note : verdict.notes) text += fmt::format("  {}\n", note);
    if (verdict.first) text += fmt::format("  first: {}\n", verdict.first->text());
  }
  text += fmt::format("{} bars of {} records ({} not taken by the pipeline), {:.1f} s\n",
                      report.bars, report.records, report.left_out, report.seconds);
  return text;
}

}  // namespace foxhunt::proofs
