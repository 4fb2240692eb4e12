// That nothing the run learned from sees the future: what its leakproof.json says.
#include <fmt/format.h>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/sections.h"

namespace foxhunt::report {
namespace {

bool holds(const Json& json, const char* key) {
  const Json* at = find(json, {key});
  return at != nullptr && at->is_boolean() && at->get<bool>();
}

std::string count_html(const Json& json, const char* key) {
  const Reading n = number(json, {key});
  return n ? evaluation::count_text(*n) : not_available(n.reason);
}

std::string proofs_table(const Json& proofs) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& proof : proofs) {
    std::string notes;
    if (const Json* list = find(proof, {"notes"}); list != nullptr && list->is_array()) {
      for (const Json& note : *list) {
        if (note.is_string()) notes += escape(note.get<std::string>()) + "<br>";
      }
    }
    rows.push_back({escape(text(proof, {"name"}, "?")), holds(proof, "holds") ? "holds" : "fails",
                    count_html(proof, "tries"), count_html(proof, "compared"), notes});
  }
  return table({"proof", "verdict", "tries", "values compared", "notes"}, rows);
}

}  // namespace

std::string proof_word(const RunFiles& run) {
  if (!run.leak_proof.is_object()) return "unproven";
  return holds(run.leak_proof, "proven") ? "leak proof holds" : "a leak was found";
}

std::string proofs_section(const RunFiles& run) {
  const Json& proof = run.leak_proof;
  if (!proof.is_object()) {
    return section("proofs", "Leak proof", "",
                   hint("Unproven: this run names no leakproof.json. <code>foxhunt features prove "
                        "--config F --out leakproof.json</code> makes one, <code>foxhunt train "
                        "--proof leakproof.json</code> trains with it."));
  }
  std::string body = facts(
      {{"verdict", escape(proof_word(run))},
       {"seal", fmt::format("<code>{}</code>", escape(text(proof, {"sha256"}, "?")))},
       {"made by",
        fmt::format("<code>{}</code>", escape(text(proof, {"program", "git_revision"}, "?")))}},
      "one");
  if (const Json* proofs = find(proof, {"proofs"}); proofs != nullptr && proofs->is_array())
    body += proofs_table(*proofs);
  return section(
      "proofs", "Leak proof",
      "That no feature, label, scale or split of this run depends on what came later, as "
      "its leakproof.json says.",
      body);
}

}  // namespace foxhunt::report
