#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "foxhunt/base/json.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/evaluation/report/text_table.h"
#include "foxhunt/train/device_audit.h"

namespace foxhunt::train {
namespace {

using Table = std::vector<std::vector<std::string>>;

std::string shape_text(const AuditedTensor& t) {
  return fmt::format("[{}]", fmt::join(t.shape, ", "));
}

Table every_tensor(const DeviceAudit& audit) {
  Table table{{"tensor", "part", "shape", "dtype", "device", "bytes"}};
  for (const AuditedTensor& t : audit.tensors) {
    table.push_back({t.name, t.part, shape_text(t), t.dtype,
                     t.stray ? t.device + " (STRAY)" : t.device, fmt::format("{}", t.bytes)});
  }
  return table;
}

Table every_part(const DeviceAudit& audit) {
  struct Sum {
    std::int64_t tensors = 0, bytes = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  std::vector<std::pair<std::string, std::string>> order;
  for (const AuditedTensor& t : audit.tensors) {
    const auto key = std::pair{t.part, t.device};
    if (sums.find(key) == sums.end()) order.push_back(key);
    ++sums[key].tensors;
    sums[key].bytes += t.bytes;
  }
  Table table{{"part", "device", "tensors", "bytes"}};
  for (const auto& key : order) {
    table.push_back({key.first, key.second, fmt::format("{}", sums[key].tensors),
                     format_bytes(sums[key].bytes)});
  }
  return table;
}

std::string one(const DeviceAudit& audit, bool all) {
  std::string text =
      fmt::format("{} on {}: {} optimiser steps and a validation pass, {} operations watched\n",
                  audit.program, audit.device, audit.steps, audit.operations);
  if (!audit.note.empty()) text += fmt::format("({})\n", audit.note);
  text += "\n" + evaluation::text_table(all ? every_tensor(audit) : every_part(audit),
                                        all ? 160 : evaluation::kTextWidth);
  Table crossings{{"crossing", "operation", "from", "to", "count", "bytes"}};
  for (const AuditedCrossing& c : audit.crossings) {
    crossings.push_back({c.what.empty() ? "HIDDEN" : c.what, c.operation, c.from, c.to,
                         fmt::format("{}", c.count), format_bytes(c.bytes)});
  }
  text += "\n" + (crossings.size() > 1 ? evaluation::text_table(crossings)
                                       : std::string("nothing crosses between devices\n"));
  text += "\ninputs of operations:";
  for (const auto& [device, count] : audit.operands)
    text += fmt::format("  {} on {}", count, device);
  text += "\n";
  for (const Stray& s : audit.strays) {
    text += fmt::format("STRAY {}\n      {}\n", s.owner, s.text);
  }
  text +=
      fmt::format("{}: {}\n", audit.program,
                  audit.passed() ? "nothing lies elsewhere, nothing crosses but what is declared"
                                 : fmt::format("{} strays", audit.strays.size()));
  return text;
}

}  // namespace

std::string to_text(const std::vector<DeviceAudit>& audits, bool all) {
  std::string text;
  for (const DeviceAudit& audit : audits) text += (text.empty() ? "" : "\n") + one(audit, all);
  return text;
}

std::string to_json(const std::vector<DeviceAudit>& audits) {
  nlohmann::ordered_json out;
  bool passed = !audits.empty();
  for (const DeviceAudit& audit : audits) passed = passed && audit.passed();
  out["passed"] = passed;
  out["programs"] = nlohmann::ordered_json::array();
  for (const DeviceAudit& audit : audits) {
    nlohmann::ordered_json program{{"program", audit.program},
                                   {"device", audit.device},
                                   {"note", audit.note},
                                   {"passed", audit.passed()},
                                   {"steps", audit.steps},
                                   {"operations", audit.operations},
                                   {"operands", nlohmann::ordered_json::object()},
                                   {"tensors", nlohmann::ordered_json::array()},
                                   {"crossings", nlohmann::ordered_json::array()},
                                   {"strays", nlohmann::ordered_json::array()}};
    for (const auto& [device, count] : audit.operands) program["operands"][device] = count;
    for (const AuditedTensor& t : audit.tensors) {
      program["tensors"].push_back({{"part", t.part},
                                    {"name", t.name},
                                    {"shape", t.shape},
                                    {"dtype", t.dtype},
                                    {"device", t.device},
                                    {"bytes", t.bytes},
                                    {"stray", t.stray}});
    }
    for (const AuditedCrossing& c : audit.crossings) {
      program["crossings"].push_back({{"what", c.what},
                                      {"declared", !c.what.empty()},
                                      {"operation", c.operation},
                                      {"from", c.from},
                                      {"to", c.to},
                                      {"count", c.count},
                                      {"bytes", c.bytes}});
    }
    for (const Stray& s : audit.strays)
      program["strays"].push_back({{"owner", s.owner}, {"text", s.text}});
    out["programs"].push_back(std::move(program));
  }
  return out.dump(2);
}

}  // namespace foxhunt::train
