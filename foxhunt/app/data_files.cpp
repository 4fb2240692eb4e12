// foxhunt data convert | merge | split: files of records from files of records.
#include "foxhunt/app/data_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/cli/csv_options.h"
#include "foxhunt/columns/merge.h"
#include "foxhunt/columns/metadata_of_rows.h"
#include "foxhunt/columns/record_io.h"
#include "foxhunt/columns/split.h"
#include "foxhunt/market/convert.h"

namespace foxhunt::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct ConvertOptions {
  std::string file;
  std::string out;
  std::string schema;
  bool pretty = false;
  bool overwrite = false;
  market::ReadOptions read;
  market::ConvertOptions bars;
  columns::SourceOptions source;
  columns::SinkOptions sink;
};

/// A line of progress for as long as it lives.
class Told {
 public:
  Told(const Globals& globals, const char* title)
      : bar_(progress_mode(globals), title, "records", 0) {}
  std::function<void(std::int64_t)> hook() {
    return [this](std::int64_t done) { bar_.update(done, ""); };
  }

 private:
  Progress bar_;
};

std::string time_text(std::uint64_t nanos) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return nanos > kMost ? "null" : to_string(from_nanos(static_cast<std::int64_t>(nanos)));
}

ordered_json by_name(const std::map<int, std::int64_t>& counts) {
  ordered_json out = ordered_json::object();
  for (const auto& [rtype, n] : counts) {
    const std::string name(market::rtype_name(rtype));
    out[name == "unknown" ? fmt::format("rtype-{}", rtype) : name] = n;
  }
  return out;
}

void refuse_to_replace(const fs::path& out, bool overwrite) {
  if (!overwrite && fs::exists(out)) {
    throw UsageError(fmt::format("{}: exists already (--overwrite replaces it)", out.string()));
  }
}

/// Bars of a CSV in columns of any name.
int convert_bars(const ConvertOptions& options, const Globals& globals) {
  const std::unique_ptr<market::Reader> reader = market::open_reader(options.file, options.read);
  const market::ConvertReport done = market::convert_bars(*reader, options.out, options.bars);
  if (done.truncated) log::warn("{}: is cut short; converted up to where it ends", options.file);
  if (globals.json) {
    const ordered_json out{
        {"out", options.out},          {"schema", done.schema},   {"dataset", done.dataset},
        {"records", done.bars},        {"symbols", done.symbols}, {"start", to_string(done.first)},
        {"end", to_string(done.last)}, {"bytes", done.bytes},     {"truncated", done.truncated}};
    fmt::print("{}\n", out.dump(2));
  } else {
    fmt::print("{}: {} bars of {} symbols, {}, {} to {}, {}\n", options.out, done.bars,
               done.symbols, done.schema, to_string(done.first), to_string(done.last),
               format_bytes(static_cast<std::int64_t>(done.bytes)));
  }
  return 0;
}

int convert(ConvertOptions options, const Globals& globals) {
  refuse_to_replace(options.out, options.overwrite);
  std::optional<int> only;
  if (!options.schema.empty()) {
    only = columns::rtype_of_schema(options.schema);
    if (*only < 0) throw UsageError(fmt::format("--schema {}: no schema of DBN", options.schema));
  }
  options.source.dbn_version = options.read.dbn_version;
  options.source.dataset = options.bars.dataset;
  options.source.rtype = only;
  if (!only && !columns::has_records(options.file)) return convert_bars(options, globals);

  options.sink.style.decimal_prices = options.sink.style.iso_times = options.pretty;
  const auto source = columns::open_source(options.file, options.source);
  const auto sink = columns::open_sink(options.out, source->metadata(), options.sink);
  Told told(globals, "convert");
  const columns::ConvertReport done =
      columns::convert_records(*source, *sink, only, options.bars.allow_truncated, told.hook());
  if (done.truncated) log::warn("{}: is cut short; converted up to where it ends", options.file);
  if (done.with_lost_bytes != 0) {
    log::warn(
        "{} records hold bytes that no column has (reserved, or added by a newer format): {} "
        "does not keep them",
        done.with_lost_bytes, options.out);
  }
  if (!done.ignored.empty()) {
    log::warn("{}: columns that no record has are left out: {}", options.file,
              fmt::join(done.ignored, ", "));
  }
  const auto bytes = static_cast<std::int64_t>(fs::file_size(options.out));
  const market::DbnMetadata& metadata = source->metadata();
  if (globals.json) {
    const ordered_json out{{"out", options.out},
                           {"schema", market::schema_name(metadata.schema)},
                           {"dataset", metadata.dataset},
                           {"records", done.records},
                           {"symbols", metadata.symbols.size()},
                           {"start", time_text(done.first)},
                           {"end", time_text(done.last)},
                           {"bytes", bytes},
                           {"truncated", done.truncated},
                           {"by_type", by_name(done.by_rtype)},
                           {"left_out", by_name(done.left_out_by_rtype)},
                           {"records_with_lost_bytes", done.with_lost_bytes},
                           {"ignored_columns", done.ignored}};
    fmt::print("{}\n", out.dump(2));
  } else {
    fmt::print("{}: {} records ({}), {} to {}, {}\n", options.out, done.records,
               by_name(done.by_rtype).dump(), time_text(done.first), time_text(done.last),
               format_bytes(bytes));
    if (!done.left_out_by_rtype.empty()) {
      fmt::print("left out: {}\n", by_name(done.left_out_by_rtype).dump());
    }
  }
  return 0;
}

struct MergeOptions {
  std::vector<std::string> files;
  std::string out;
  bool overwrite = false;
  columns::MergeOptions merge;
};

int merge(const MergeOptions& options, const Globals& globals) {
  refuse_to_replace(options.out, options.overwrite);
  Told told(globals, "merge");
  const columns::MergeReport done = columns::merge_files(
      {options.files.begin(), options.files.end()}, options.out, options.merge, told.hook());
  if (done.back_steps != 0) {
    log::warn("{} records are earlier than the one before them in their own file; they stay there",
              done.back_steps);
  }
  if (done.truncated) log::warn("an input is cut short; merged up to where it ends");
  if (globals.json) {
    ordered_json out{{"out", options.out},
                     {"records", done.records},
                     {"start", time_text(done.first)},
                     {"end", time_text(done.last)},
                     {"back_steps", done.back_steps},
                     {"partial", done.partial},
                     {"not_found", done.not_found},
                     {"truncated", done.truncated}};
    for (std::size_t i = 0; i < options.files.size(); ++i) {
      out["files"].push_back({{"file", options.files[i]}, {"records", done.of_file[i]}});
    }
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  fmt::print("{}: {} records of {} files, {} to {}\n", options.out, done.records,
             options.files.size(), time_text(done.first), time_text(done.last));
  if (!done.partial.empty()) fmt::print("not on every day: {}\n", fmt::join(done.partial, ", "));
  if (!done.not_found.empty()) fmt::print("on no day: {}\n", fmt::join(done.not_found, ", "));
  return 0;
}

struct SplitOptions {
  std::string file;
  std::string folder;
  bool plain = false;
  columns::SplitOptions split;
};

int split(SplitOptions options, const Globals& globals) {
  options.split.compress = !options.plain;
  Told told(globals, "split");
  const columns::SplitReport done =
      columns::split_file(options.file, options.folder, options.split, told.hook());
  if (done.truncated) log::warn("{}: is cut short; split up to where it ends", options.file);
  if (globals.json) {
    ordered_json out{
        {"records", done.records}, {"left_out", done.left_out}, {"truncated", done.truncated}};
    for (const columns::SplitPart& part : done.parts) {
      out["parts"].push_back(
          {{"key", part.key}, {"file", part.file.string()}, {"records", part.records}});
    }
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  for (const columns::SplitPart& part : done.parts) {
    fmt::print("{:>12}  {}\n", part.records, part.file.string());
  }
  fmt::print("{:>12}  records in {} parts", done.records, done.parts.size());
  if (done.left_out != 0) fmt::print(", {} left out", done.left_out);
  fmt::print("\n");
  return 0;
}

}  // namespace

void add_data_convert(CLI::App& data, Run& run, const Globals& globals) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* sub = data.add_subcommand(
      "convert", "records of any schema between DBN and CSV; the name of --out says the form");
  sub->fallthrough();
  sub->add_option("file", options->file, "DBN (plain or zstd) or CSV (plain, zstd or gzip)")
      ->required()
      ->check(CLI::ExistingFile);
  sub->add_option("--out", options->out, "file to write: .dbn, .csv, each also with .zst behind")
      ->required();
  sub->add_option(
      "--schema", options->schema,
      "only records of this schema; of a CSV without a column rtype, what its rows are");
  sub->add_flag("--pretty", options->pretty,
                "CSV: prices as decimals, times as dates; default: the integers of DBN");
  sub->add_flag("--symbols", options->sink.style.with_symbol, "CSV: a last column with the symbol");
  sub->add_option("--metadata-of", options->source.metadata_of,
                  "from CSV: a DBN file whose metadata the new one gets")
      ->check(CLI::ExistingFile);
  sub->add_option("--dataset", options->bars.dataset,
                  "whose data it is; default: what the input says");
  sub->add_flag("--allow-truncated", options->bars.allow_truncated,
                "convert what is whole of a file that is cut short");
  sub->add_flag("--overwrite", options->overwrite, "replace --out where it is there");
  sub->add_option("--dbn-version", options->read.dbn_version,
                  "of a DBN fragment without metadata; 0: by its records")
      ->capture_default_str();
  cli::add_csv_options(*sub, options->read.csv);
  sub->callback([options, &run, &globals] {
    run = [options, &globals] { return convert(*options, globals); };
  });
}

void add_data_merge(CLI::App& data, Run& run, const Globals& globals) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* sub = data.add_subcommand("merge", "several DBN files into one, by time");
  sub->fallthrough();
  sub->add_option("files", options->files,
                  "DBN of one dataset; of equal times the first comes first")
      ->required()
      ->check(CLI::ExistingFile);
  sub->add_option("--out", options->out, "file to write (zstd when the name ends in .zst)")
      ->required();
  sub->add_flag("--overwrite", options->overwrite, "replace --out where it is there");
  sub->add_flag("--allow-truncated", options->merge.allow_truncated,
                "merge what is whole of a file that is cut short");
  sub->callback([options, &run, &globals] {
    run = [options, &globals] { return merge(*options, globals); };
  });
}

void add_data_split(CLI::App& data, Run& run, const Globals& globals) {
  auto options = std::make_shared<SplitOptions>();
  CLI::App* sub = data.add_subcommand(
      "split", "one DBN file into several: by day, symbol, instrument or schema");
  sub->fallthrough();
  sub->add_option("file", options->file, "DBN, plain or zstd")
      ->required()
      ->check(CLI::ExistingFile);
  sub->add_option("--out", options->folder, "folder of the parts")->required();
  const std::map<std::string, columns::SplitBy> ways{{"day", columns::SplitBy::kDay},
                                                     {"symbol", columns::SplitBy::kSymbol},
                                                     {"instrument", columns::SplitBy::kInstrument},
                                                     {"schema", columns::SplitBy::kSchema}};
  sub->add_option("--by", options->split.by, "day (UTC), symbol, instrument, schema")
      ->required()
      ->transform(CLI::CheckedTransformer(ways));
  sub->add_option("--only", options->split.only, "only these parts: 2024-01-02, ESH4, 5482, trades")
      ->delimiter(',');
  sub->add_flag("--plain", options->plain, "parts without zstd");
  sub->add_flag("--overwrite", options->split.overwrite, "replace parts that are there");
  sub->add_flag("--allow-truncated", options->split.allow_truncated,
                "split what is whole of a file that is cut short");
  sub->callback([options, &run, &globals] {
    run = [options, &globals] { return split(*options, globals); };
  });
}

}  // namespace foxhunt::app
