// Buckets, sums and labels of the text; the page is scraped in tests/e2e/serve_test.py.
#include "foxhunt/serve/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foxhunt::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, BucketsAddUpAndAnEdgeBelongsToItsBucket) {
  Counters c;
  for (const std::int64_t ns : {500, 501, 1'000, 2'500, 2'000'000'000}) c.add_latency(ns);
  const std::string text = metrics_text(c, {}, 0);
  EXPECT_THAT(text, HasSubstr("foxhunt_latency_seconds_bucket{le=\"5e-07\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("foxhunt_latency_seconds_bucket{le=\"1e-06\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("foxhunt_latency_seconds_bucket{le=\"3e-06\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("foxhunt_latency_seconds_bucket{le=\"1\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("foxhunt_latency_seconds_bucket{le=\"+Inf\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("foxhunt_latency_seconds_count 5\n"));
  EXPECT_THAT(text, HasSubstr("foxhunt_latency_seconds_sum 2.000004501\n"));
}

TEST(Metrics, LabelsAreEscaped) {
  const std::string text = metrics_text({}, {.model = "a\"b\\c\nd"}, 0);
  EXPECT_THAT(text, HasSubstr(R"(model="a\"b\\c\nd")"));
}

TEST(Metrics, AnAgeIsThereOnlyWhenItsMomentWas) {
  Counters c;
  EXPECT_THAT(metrics_text(c, {}, 5), Not(HasSubstr("state_age")));
  c.last_save.set(1'000'000'000);
  EXPECT_THAT(metrics_text(c, {}, 3'500'000'000), HasSubstr("foxhunt_state_age_seconds 2.500\n"));
}

TEST(Metrics, NamesEveryStatus) {
  const std::string text = metrics_text({}, {}, 0);
  for (const char* status :
       {"ready", "warming_up", "closed", "bad_record", "out_of_order", "bad_input"})
    EXPECT_THAT(text, HasSubstr(std::string("status=\"") + status + "\""));
}

}  // namespace
}  // namespace foxhunt::serve
