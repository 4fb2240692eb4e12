#include "foxhunt/report/page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/report/glossary.h"
#include "foxhunt/report/html.h"

namespace foxhunt::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kConfig =
    "# sha256 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
    "name = \"a # name\"  # a comment\n\n[train]\nepochs = 5 # most\n\n[train.optimizer]\n"
    "clip_norm = 1.0\n\n[label]\nhorizon = 10\n";
constexpr const char* kEvaluation = R"({
 "rows": 1234, "sessions": 2, "first": "2020-01-01T00:00:00Z", "last": "2020-01-02T00:00:00Z",
 "task": {"kind": "classification", "classes": ["down", "up"]},
 "intervals": {"level": 0.9, "resamples": 10, "blocks": "circular blocks of 3 rows", "block_rows": 3},
 "verdict": {"edge": "none", "text": ["The model shows no edge: because.", "A second line."]},
 "metrics": {"log_loss": {"value": 0.7, "lo": 0.6, "hi": 0.8},
             "accuracy": {"value": 0.51, "lo": 0.5, "hi": 0.52},
             "rank_ic": {"value": null, "reason": "the forecast does not vary", "lo": null, "hi": null}},
 "baselines": {"prior": {"log_loss": 0.69, "accuracy": 0.5, "rank_ic": null}},
 "baseline_intervals": {"prior": {"log_loss": {"lo": 0.68, "hi": 0.7}, "accuracy": {"lo": 0.4, "hi": 0.6},
                                  "rank_ic": {"lo": null, "hi": null, "reason": "constant & flat"}}},
 "vs_best_baseline": {"log_loss": {"baseline": "prior", "difference": 0.01, "lo": -0.1, "hi": 0.1, "better": "neither"}},
 "confusion": {"counts": [[3, 1], [2, 4]]},
 "per_class": {"down": {"rows": 4, "precision": 0.6, "recall": 0.75, "f1": 0.67},
               "up": {"rows": 6, "precision": null, "recall": 0.67, "f1": 0.7}},
 "calibration": {"down": {"ece": 0.1, "bins": [{"rows": 5, "predicted": 0.4, "observed": 0.5, "lo": 0.3, "hi": 0.6}]},
                 "up": {"ece": null, "bins": []}},
 "by_session": {"by": "session", "groups": [
   {"key": "2020-01-01", "rows": 600, "metrics": {"log_loss": 0.7, "rank_ic": 0.1}, "baseline": {"name": "prior", "log_loss": 0.69}}]},
 "by_hour": {"by": "UTC hour", "groups": [
   {"key": "09", "rows": 600, "metrics": {"log_loss": 0.7, "rank_ic": 0.1}, "baseline": {"name": "prior", "log_loss": 0.72}},
   {"key": "10", "rows": 3, "metrics": {"log_loss": 0.7, "rank_ic": null}, "reasons": {"rank_ic": "one outcome"}, "baseline": {"name": "prior", "log_loss": null}}]},
 "notes": ["prior: shares"]})";
constexpr const char* kEpoch =
    R"({"epoch":1,"step":2,"train_loss":1.45,"valid_loss":1.5,"lr":0.1,"grad_norm_mean":null,"grad_norm_max":2,"skipped_steps":1,"resident_bytes":1048576,"seconds":3})";

class Pages : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / ("foxhunt_page_" + std::to_string(::getpid()) + "_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    run_ = make("run");
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A folder that is a run by its configuration alone.
  fs::path make(const std::string& name) {
    fs::create_directories(folder_ / name);
    write_file_atomic(folder_ / name / "config.resolved.toml", kConfig);
    return folder_ / name;
  }
  static void put(const fs::path& run, const char* name, std::string_view text) {
    write_file_atomic(run / name, text);
  }
  void put(const char* name, std::string_view text) { put(run_, name, text); }
  std::string page() { return run_page(run_); }

  fs::path folder_;
  fs::path run_;
};

/// What is true of every page, whatever went into it.
void expect_sound(const std::string& html) {
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  // Nothing that a browser would fetch.
  EXPECT_FALSE(std::regex_search(html, std::regex(R"re(\b(src|srcset|action|poster)\s*=\s*")re")));
  EXPECT_FALSE(std::regex_search(html, std::regex(R"(url\(|@import|<iframe|<object|<embed)")));
  EXPECT_THAT(html, Not(HasSubstr(">nan")));
  EXPECT_THAT(html, Not(HasSubstr(">inf")));
  // Nor in a drawing, whose numbers stand in attributes and paths.
  EXPECT_FALSE(std::regex_search(html, std::regex(R"re([" ML-](nan|inf)[" L])re")));
  // Every link within the page has its place; each id is there once.
  std::set<std::string> ids;
  const std::regex id(R"re( id="([^"]*)")re");
  for (std::sregex_iterator at(html.begin(), html.end(), id), end; at != end; ++at)
    EXPECT_TRUE(ids.insert((*at)[1]).second) << "twice: " << (*at)[1];
  const std::regex link(R"re(href="([^"]*)")re");
  for (std::sregex_iterator at(html.begin(), html.end(), link), end; at != end; ++at) {
    const std::string target = (*at)[1];
    if (target == "data:,") continue;  // the icon that is none
    EXPECT_EQ(target.substr(0, 1), "#") << target;
    EXPECT_TRUE(ids.contains(target.substr(1))) << "leads nowhere: " << target;
  }
}

TEST_F(Pages, HeadlineNumbersAreCorrectedForEveryLookOrSayWhyNot) {
  auto evaluation = nlohmann::json::parse(kEvaluation);
  evaluation["trials"] = {{"count", 3}, {"related", 0}};
  evaluation["deflated"]["log_loss"] = {{"baseline", "prior"},    {"gain", 0.02},
                                        {"standard_error", 0.01}, {"chance", 0.0085},
                                        {"deflated", 0.0115},     {"probability", 0.875}};
  put("evaluation-test.json", evaluation.dump());
  std::string html = page();
  expect_sound(html);
  EXPECT_THAT(html, HasSubstr("3 sets of weights have been tried on these rows"));
  EXPECT_THAT(html, HasSubstr("+0.0115"));
  EXPECT_THAT(html, HasSubstr("0.8750"));
  evaluation["trials"] = {{"count", nullptr}, {"reason", "not counted: no <ledger>"}};
  put("evaluation-test.json", evaluation.dump());
  html = page();
  EXPECT_THAT(html, HasSubstr("not counted: no &lt;ledger&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("have been tried")));
}

TEST_F(Pages, OfAFolderThatIsNoRunAreRefused) {
  EXPECT_THROW(run_page(folder_), DataError);
  EXPECT_THROW(run_page(folder_ / "absent"), DataError);
  EXPECT_THROW(comparison_page({run_, folder_}), DataError);
}

TEST_F(Pages, OfARunThatHasJustBegunSayWhatIsMissing) {
  const std::string html = page();
  expect_sound(html);
  EXPECT_THAT(html, HasSubstr("Not evaluated yet"));
  EXPECT_THAT(html, HasSubstr("foxhunt evaluate RUN"));
  EXPECT_THAT(html, HasSubstr("No epoch is finished yet"));
  EXPECT_THAT(html, HasSubstr("data.lock is not there"));
  EXPECT_THAT(html, HasSubstr("coverage.json"));
  EXPECT_THAT(html, HasSubstr("n/a <small>(no epoch has one yet)"));
}

TEST_F(Pages, ShowEachNumberWithIntervalSampleCountAndDefinition) {
  put("evaluation-test.json", kEvaluation);
  put("metrics.jsonl", std::string(kEpoch) + "\n");
  put("data.lock",
      R"([{"path":"/data/es.zst","sha256":"aa11","bytes":2048,"bars":77,"first":"2020-01-01T00:00:00Z","last":"null",
         "checked":{"errors":0,"warnings":2,"infos":1,"findings":{"missing-bars":423}}}])");
  put("env.json",
      R"({"git_revision":"abc123","device":"cpu","started":"2020-01-03T00:00:00Z","command_line":["foxhunt","train"]})");
  put("result.json", R"({"weights_sha256":"ffee","stopped":"epochs done","parameters":12})");
  const std::string html = page();
  expect_sound(html);
  EXPECT_THAT(html, HasSubstr(">No edge</p>"));
  EXPECT_THAT(html, HasSubstr("0 errors, 2 warnings, 1 notes<br>missing-bars 423"));
  EXPECT_THAT(html, HasSubstr("The model shows no edge: because."));
  EXPECT_THAT(html, HasSubstr("href=\"#def-log_loss\""));
  EXPECT_THAT(html, HasSubstr("0.7000"));
  EXPECT_THAT(html, HasSubstr("0.6000 to 0.8000"));
  EXPECT_THAT(html, HasSubstr("90 %"));
  EXPECT_THAT(html, HasSubstr("n = 1,234 rows, 2 sessions"));
  EXPECT_THAT(html, HasSubstr("n/a <small>(the forecast does not vary)"));
  EXPECT_THAT(html, HasSubstr("n/a <small>(constant &amp; flat)"));
  EXPECT_THAT(html, HasSubstr("n/a in 1 of 2 (one outcome)"));
  EXPECT_THAT(html, HasSubstr("<td style=\"--a:0.750\">3<small>75.0 %</small></td>"));
  for (const char* text :
       {"es.zst", "aa11", "abc123", "ffee", "ended: epochs done", "1 steps had no finite"})
    EXPECT_THAT(html, HasSubstr(text));
  EXPECT_EQ(html, page()) << "the same run gives the same page";
}

/// What an evil file would do.
TEST_F(Pages, SayWhetherTheRunIsProven) {
  EXPECT_THAT(run_page(run_), testing::AllOf(HasSubstr("unproven"), HasSubstr("--proof")));
  write_file_atomic(run_ / "leakproof.json", R"({"proven": true, "sha256": "5ea1", "proofs": [
      {"name": "purge", "holds": true, "tries": 26, "compared": 12345, "notes": ["a <note>"]}]})");
  const std::string page = run_page(run_);
  for (const char* part : {"leak proof holds", "5ea1", "purge", "12,345", "a &lt;note&gt;"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("unproven")));
  write_file_atomic(run_ / "leakproof.json", R"({"proven": false})");
  EXPECT_THAT(run_page(run_), HasSubstr("a leak was found"));
}

TEST_F(Pages, EscapeEverythingThatComesFromAFile) {
  const std::string evil = "<script>alert(1)</script>\\\" onload=\\\"x' & \\u0007";
  std::string evaluation = kEvaluation;
  for (const char* word :
       {"prior", "down", "2020-01-01\", \"rows\"", "one outcome", "A second line."}) {
    if (std::string_view(word).ends_with("rows\"")) continue;
    evaluation = std::regex_replace(evaluation, std::regex(word), evil);
  }
  put("evaluation-test.json", evaluation);
  put("metrics.jsonl", std::string(kEpoch) + "\n");
  put("env.json", R"({"git_revision":")" + evil + R"(","device":")" + evil +
                      R"(","command_line":[")" + evil + "\"]}");
  put("data.lock", R"([{"path":")" + evil + R"(","sha256":")" + evil + "\"}]");
  put("resumes.jsonl", R"({")" + evil + R"(":")" + evil + "\"}\n");
  put("result.json", R"({"stopped":")" + evil + R"(","weights_sha256":")" + evil + "\"}");
  put("coverage.json", R"({"summary":")" + evil + R"(","parts":{")" + evil +
                           R"(":{"rows":1}},"days":[{"date":")" + evil + R"(","part":")" + evil +
                           R"(","rows":1,"longest_gap_minutes":5}]})");
  put("<img src=x onerror=alert(2)>.json", R"({"a":")" + evil + "\"}");
  write_file_atomic(run_ / "config.resolved.toml",
                    "name = \"</style><script>alert(3)</script>\"\n[<b>]\n<i> = \"<u>\"\n");
  const std::string html = page();
  expect_sound(html);
  const std::string own = html.substr(html.rfind("<script>"));
  EXPECT_EQ(html.find("<script>"), html.size() - own.size()) << "one script, the page's own";
  for (const char* tag : {"<img", "<b>]", "<i> =", "<u>", "onload=\"x", "</style><script>"})
    EXPECT_THAT(html, Not(HasSubstr(tag)));
  const std::string beside = comparison_page({run_, run_});
  EXPECT_EQ(beside.find("<script>"), beside.rfind("<script>"));
}

TEST_F(Pages, SurviveFilesOfTheWrongShape) {
  for (
      const char* content :
      {"", "{", "[]", "null", "7", R"("text")",
       R"({"metrics":[1],"baselines":7,"by_hour":[],"calibration":{"up":3},"confusion":{"counts":{}},"per_class":[],"verdict":"x","notes":{}})",
       R"({"metrics":{"log_loss":null,"rank_ic":"many"},"baselines":{"prior":[]},"rows":"x","by_hour":{"groups":[1,{}]},"calibration":{"up":{"bins":[null,{"rows":-1,"predicted":1e300,"observed":-5}]}},"confusion":{"counts":[[],7,["x"]]},"per_class":{"up":1,"down":{}}})",
       R"({"parts":[],"days":[{},[],{"date":7,"rows":null,"longest_gap_minutes":"x"}],"epoch":1e308,"step":-5,"valid_loss":1e308,"train_loss":-1e308})"}) {
    for (const char* name : {"evaluation-test.json", "env.json", "result.json", "coverage.json",
                             "data.lock", "metrics.jsonl", "resumes.jsonl", "bench.json"})
      put(name, content);
    expect_sound(page());
    expect_sound(comparison_page({run_, run_}));
    headline_json(run_);
  }
}

TEST_F(Pages, DrawNoAxisOverNumbersThatOverflowIt) {
  std::string lines;
  for (const char* loss : {"-1.7e308", "1.7e308", "1.0"})
    lines +=
        fmt::format(R"({{"epoch":{},"train_loss":{},"valid_loss":1}})", lines.size(), loss) + "\n";
  put("metrics.jsonl", lines);
  expect_sound(page());
}

TEST_F(Pages, SayWhichFileCannotBeRead) {
  put("evaluation-test.json", "{\"rows\": ");
  put("env.json", R"({"a":1,"a":2})");
  const std::string html = page();
  EXPECT_THAT(html, HasSubstr("Could not be read: evaluation-test.json is not JSON"));
  EXPECT_THAT(html, HasSubstr("Could not be read: env.json has the key 'a' twice"));
}

TEST_F(Pages, ReadARunThatIsBeingWritten) {
  put("metrics.jsonl", std::string(kEpoch) + "\n" + R"({"epoch":2,"train_lo)");
  const std::string html = page();
  expect_sound(html);
  EXPECT_THAT(html, HasSubstr("1 line of metrics.jsonl could not be read"));
  EXPECT_THAT(html, HasSubstr("1 epochs of 5 at most"));
}

TEST_F(Pages, OfSeveralRunsSayWhetherTheRowsAreTheSame) {
  const fs::path other = make("other");
  for (const fs::path& run : {run_, other}) {
    put(run, "evaluation-test.json", kEvaluation);
    put(run, "metrics.jsonl", std::string(kEpoch) + "\n");
    put(run, "data.lock", R"([{"path":"a","sha256":"s"}])");
  }
  std::string html = comparison_page({run_, other});
  expect_sound(html);
  EXPECT_THAT(html,
              HasSubstr("All runs were scored on the same rows of the test part: 1,234 rows"));
  EXPECT_THAT(html, HasSubstr("None: all keys are equal."));

  put(other, "config.resolved.toml",
      std::regex_replace(std::string(kConfig), std::regex("epochs = 5"), "epochs = 6"));
  html = comparison_page({run_, other});
  EXPECT_THAT(html, HasSubstr("All runs were scored on the same rows"));
  EXPECT_THAT(html,
              HasSubstr("<code>train.epochs</code></th><td><code>5</code></td><td><code>6</code>"));
  EXPECT_THAT(html, Not(HasSubstr("<code>label.horizon</code>")));

  put(other, "config.resolved.toml",
      std::regex_replace(std::string(kConfig), std::regex("horizon = 10"), "horizon = 11"));
  EXPECT_THAT(comparison_page({run_, other}),
              HasSubstr("The rows differ</b> (the label's settings)"));

  put(other, "config.resolved.toml", kConfig);
  put(other, "data.lock", R"([{"path":"a","sha256":"t"}])");
  EXPECT_THAT(comparison_page({run_, other}),
              HasSubstr("The rows differ</b> (the files (SHA-256))"));

  fs::remove(other / "evaluation-test.json");
  html = comparison_page({run_, other});
  expect_sound(html);
  EXPECT_THAT(html, HasSubstr("have no part in common"));
  EXPECT_THAT(html, HasSubstr("n/a <small>(not evaluated)"));
}

TEST_F(Pages, AreWrittenBesideTheirEventsAndAFailureIsNoError) {
  put("metrics.jsonl", std::string(kEpoch) + "\n");
  const auto written = write_page(run_);
  ASSERT_TRUE(written);
  EXPECT_EQ(*written, run_ / "report.html");
  EXPECT_EQ(read_file(*written), page());
  EXPECT_FALSE(fs::is_empty(run_ / "tb"));
  fs::remove_all(run_ / "tb");
  write_file_atomic(run_ / "tb", "a file where the folder should be");
  EXPECT_TRUE(write_page(run_)) << "events that cannot be written do not stop the page";
  EXPECT_FALSE(write_page(folder_ / "absent"));
}

TEST_F(Pages, HeadlineForProgramsHasNullAndReason) {
  auto json = nlohmann::json::parse(headline_json(run_));
  EXPECT_TRUE(json["split"].is_null());
  EXPECT_EQ(json["reason"], "not evaluated yet");
  put("evaluation-valid.json", kEvaluation);
  json = nlohmann::json::parse(headline_json(run_));
  EXPECT_EQ(json["split"], "valid");
  EXPECT_EQ(json["metrics"]["log_loss"]["value"], 0.7);
  EXPECT_TRUE(json["metrics"]["rank_ic"]["value"].is_null());
  EXPECT_EQ(json["metrics"]["rank_ic"]["reason"], "the forecast does not vary");
}

TEST(Readings, SayWhyThereIsNoNumber) {
  const Json json = Json::parse(R"({"a":{"b":1.5,"c":null,"d":"x","reason":"because"},"e":null})");
  EXPECT_EQ(number(json, {"a", "b"}).value, 1.5);
  EXPECT_EQ(number(json, {"a", "c"}).reason, "because");
  EXPECT_EQ(number(json, {"a", "d"}).reason, "a text stands in its place");
  EXPECT_EQ(number(json, {"a", "z"}).reason, "not recorded");
  EXPECT_EQ(number(json, {"a", "b", "z"}).reason, "not recorded");
  EXPECT_EQ(number(json, {"e"}).reason, "not finite or not measured");
}

TEST(Config, KeysAreReadWithTheirSectionAndWithoutComments) {
  const auto lines = parse_config(kConfig);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].path(), "name");
  EXPECT_EQ(lines[0].value, "\"a # name\"");
  EXPECT_EQ(lines[1].path(), "train.epochs");
  EXPECT_EQ(lines[1].value, "5");
  EXPECT_EQ(lines[2].path(), "train.optimizer.clip_norm");
}

TEST(Glossary, HasEachIdOnceAndFindsNamesWithASuffix) {
  std::set<std::string_view> ids;
  for (const Definition& d : definitions()) {
    EXPECT_TRUE(ids.insert(d.id).second) << d.id;
    EXPECT_FALSE(d.formula.empty() && d.meaning.empty()) << d.id;
  }
  const auto found = [](std::string_view id) {
    const Definition* d = definition_of(id);
    return d == nullptr ? "nothing" : std::string(d->id);
  };
  EXPECT_EQ(found("f1_up"), "f1");
  EXPECT_EQ(found("coverage_0.9"), "coverage");
  EXPECT_EQ(found("grad_norm_mean"), "grad_norm");
  EXPECT_EQ(definition_of("unheard_of"), nullptr);
}

}  // namespace
}  // namespace foxhunt::report
