#include "common/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/metrics/endpoint.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::metrics {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;

constexpr Family kEvents = {Type::kCounter, "test_events_total", "kind", kEveryProgram, "Events."};
constexpr Family kWaits = {Type::kHistogram, "test_wait_seconds", "stage", kEveryProgram, "Waits."};

TEST(Families, AreNamedOnceAndByTheRules) {
  std::set<std::string> names;
  for (const Family* family : AllFamilies()) {
    const std::string name = family->name;
    EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
    EXPECT_EQ(absl::EndsWith(name, "_total"), family->type == Type::kCounter) << name;
    EXPECT_TRUE(absl::EndsWith(family->help, ".")) << name;
    EXPECT_TRUE(absl::StartsWith(name, "kernelmill_") || absl::StartsWith(name, "process_") ||
                absl::StartsWith(name, "grpc_"))
        << name;
    if (family->type == Type::kHistogram) EXPECT_TRUE(absl::EndsWith(name, "_seconds")) << name;
  }
}

// Run with KERNELMILL_WRITE_METRICS=1 after a change of the table.
TEST(Families, ThePageInDocsIsOfTheTable) {
  const std::string path = "docs/reference/metrics.md";
  if (std::getenv("KERNELMILL_WRITE_METRICS") != nullptr) {
    ASSERT_THAT(WriteFile(path, FamiliesAsMarkdown()), IsOk());
  }
  const auto written = ReadFile(path, 1 << 20);
  ASSERT_THAT(written, IsOk());
  EXPECT_EQ(*written, FamiliesAsMarkdown()) << "KERNELMILL_WRITE_METRICS=1 writes it";
}

TEST(Prefill, MakesEverySeriesBeforeItsFirstEvent) {
  Prefill(kEvents, {{"kind", {"good", "bad"}}});
  EXPECT_THAT(TextExposition(ProcessRegistry()->Collect()),
              AllOf(HasSubstr("test_events_total{kind=\"good\"} 0\n"),
                    HasSubstr("test_events_total{kind=\"bad\"} 0\n")));
}

TEST(RaiseTo, NeverLowersACounter) {
  prometheus::Counter& counter = Counter(kEvents, {{"kind", "raised"}});
  RaiseTo(7, counter);
  RaiseTo(5, counter);
  EXPECT_EQ(counter.Value(), 7);
}

TEST(BoundedLabel, HasOthersForAllBeyondItsLimit) {
  BoundedLabel hosts(2);
  EXPECT_EQ(hosts.ValueFor("a"), "a");
  EXPECT_EQ(hosts.ValueFor("b"), "b");
  EXPECT_EQ(hosts.ValueFor("c"), "other");
  EXPECT_EQ(hosts.ValueFor("a"), "a");
  EXPECT_EQ(hosts.ValueFor(""), "none");
}

TEST(OpenMetrics, NamesJobAndTaskInTheBucketOfTheLastObservation) {
  Observe(kWaits, {{"stage", "extract"}}, 0.02, "job-1", "7");
  const std::string text =
      OpenMetricsExposition(ProcessRegistry()->Collect(), Exemplars::OfProcess());
  EXPECT_THAT(text, AllOf(HasSubstr("# TYPE test_events counter\n"),
                          HasSubstr("test_wait_seconds_bucket{stage=\"extract\",le=\"0.01\"} 0\n"),
                          HasSubstr("le=\"0.029999999999999999\"} 1 # {job=\"job-1\",task=\"7\"}"),
                          ::testing::EndsWith("# EOF\n")));
}

// Returns the endpoint's answer, header and body; "" if it closes the connection.
std::string Ask(int port, const std::string& request) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return "refused";
  send(fd, request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = recv(fd, buffer, sizeof(buffer), 0)) > 0;) answer.append(buffer, got);
  close(fd);
  return answer;
}

TEST(Endpoint, ServesTextAndOpenMetrics) {
  const auto endpoint = Endpoint::Start("127.0.0.1:0", "1.2.3", nullptr);
  ASSERT_THAT(endpoint, IsOk());
  const std::string text = Ask((*endpoint)->port(), "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(text, AllOf(HasSubstr("text/plain; version=0.0.4"),
                          HasSubstr("kernelmill_build_info{version=\"1.2.3\"} 1"),
                          HasSubstr("process_resident_memory_bytes "), Not(HasSubstr("# EOF"))));
  const std::string open = Ask(
      (*endpoint)->port(), "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\n\r\n");
  EXPECT_THAT(open, AllOf(HasSubstr("application/openmetrics-text; version=1.0.0"),
                          HasSubstr("\n# EOF\n")));
}

TEST(Endpoint, AsksForAPasswordWhereItHasReaders) {
  const auto endpoint =
      Endpoint::Start("127.0.0.1:0", "1", [](const std::string& user, const std::string& password) {
        return user == "metrics.p" && password == "s:x";
      });
  ASSERT_THAT(endpoint, IsOk());
  EXPECT_THAT(Ask((*endpoint)->port(), "GET /metrics HTTP/1.1\r\n\r\n"), HasSubstr(" 401 "));
  EXPECT_THAT(Ask((*endpoint)->port(),  // metrics.p:s:x
                  "GET /metrics HTTP/1.1\r\nAuthorization: Basic bWV0cmljcy5wOnM6eA==\r\n\r\n"),
              HasSubstr(" 200 "));
}

TEST(Endpoint, AnswersBesideIdleConnections) {
  const auto endpoint = Endpoint::Start("127.0.0.1:0", "1", nullptr);
  ASSERT_THAT(endpoint, IsOk());
  std::vector<int> idle;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons((*endpoint)->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(idle.back(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  const absl::Time start = absl::Now();
  EXPECT_THAT(Ask((*endpoint)->port(), "GET /metrics HTTP/1.1\r\n\r\n"), HasSubstr(" 200 "));
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));  // 30 s where idle ones hold all threads
  for (const int fd : idle) close(fd);
}

}  // namespace
}  // namespace kernelmill::metrics
