#include "client/jobs_page/jobs_page.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/grpc/crawl_client.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A coordinator with one job.
class OneJob final : public CrawlClient {
 public:
  absl::StatusOr<std::vector<v1::JobStatus>> ListJobs() override {
    ++asked;
    if (!up) return absl::UnavailableError("no coordinator");
    return std::vector<v1::JobStatus>{*GetJob("seeds")};
  }
  absl::StatusOr<std::vector<v1::WorkerInfo>> ListWorkers() override {
    return std::vector<v1::WorkerInfo>(1);
  }
  absl::StatusOr<v1::JobStatus> GetJob(const std::string& job) override {
    if (job != "seeds") return absl::NotFoundError("no such job");
    v1::JobStatus status;
    status.set_job(job);
    status.set_state(v1::JOB_STATE_DONE);
    return status;
  }
  absl::StatusOr<Timeline> GetTimeline(const std::string&) override {
    ++timelines;
    timeline_answers.WaitForNotification();
    return Timeline();
  }
  absl::StatusOr<std::string> Submit(const v1::JobSpec&, const std::string&, int, bool) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<std::vector<v1::Failure>> ListFailures(const std::string&) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<v1::JobSpec> ReadLock(const std::string&) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<v1::JobStatus> CancelJob(const std::string&) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<v1::JobStatus> RetryJob(const std::string&, bool) override {
    return absl::UnimplementedError("");
  }
  absl::Status DeleteJob(const std::string&) override { return absl::UnimplementedError(""); }
  absl::Status Watch(const std::string&, const OnStatus&) override {
    return absl::UnimplementedError("");
  }
  void Interrupt() override {}

  std::atomic<int> asked{0};
  std::atomic<int> timelines{0};
  std::atomic<bool> up{true};
  absl::Notification timeline_answers;
};

class JobsPageTest : public ::testing::Test {
 protected:
  // Returns the whole answer to a request.
  std::string Ask(const std::string& path, const std::string& host = "localhost",
                  const std::string& method = "GET") {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(page_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string request =
        absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: ", host, "\r\n\r\n");
    EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    std::string answer;
    char buffer[4096];
    for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;) answer.append(buffer, got);
    close(fd);
    return answer;
  }

  OneJob jobs_;
  std::unique_ptr<JobsPage> page_ = *JobsPage::Start("127.0.0.1:0", jobs_, " --store other:7071");
};

TEST_F(JobsPageTest, ServesThePageAndItsAssets) {
  EXPECT_THAT(Ask("/"), HasSubstr("<title>kernelmill jobs</title>"));
  EXPECT_THAT(Ask("/"), HasSubstr("Content-Security-Policy: default-src 'none'"));
  for (const char* asset : {"jobs.js", "jobs.css", "icon.svg"}) {
    EXPECT_THAT(Ask(absl::StrCat("/assets/", asset)), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_THAT(Ask("/../etc/passwd"), Not(HasSubstr("root:")));
  EXPECT_THAT(Ask("/none"), StartsWith("HTTP/1.1 404"));
}

TEST_F(JobsPageTest, AnswersWithTheJobsAndTheWorkers) {
  jobs_.timeline_answers.Notify();
  EXPECT_THAT(Ask("/api/state"), HasSubstr(R"("job":"seeds")"));
  EXPECT_THAT(Ask("/api/job?name=seeds"), HasSubstr(R"("state":"done")"));
  EXPECT_THAT(Ask("/api/job?name=other"), StartsWith("HTTP/1.1 404"));
}

TEST_F(JobsPageTest, ItsCommandsReachTheSameCluster) {
  EXPECT_THAT(Ask("/api/state"), HasSubstr(R"("flags":" --store other:7071")"));
}

TEST_F(JobsPageTest, ManyViewersCostTheCoordinatorAsMuchAsOne) {
  for (int i = 0; i < 50; ++i) Ask("/api/state");
  EXPECT_LT(jobs_.asked, 10);
}

TEST_F(JobsPageTest, ASlowAnswerKeepsNoOtherWaiting) {
  std::string slow;
  std::thread first([&] { slow = Ask("/api/job?name=seeds"); });
  while (jobs_.timelines == 0) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_THAT(Ask("/api/state"), HasSubstr(R"("job":"seeds")"));
  EXPECT_THAT(Ask("/api/job?name=other"), StartsWith("HTTP/1.1 404"));
  // The same question is not asked twice at a time, and its answer is not waited for without end.
  EXPECT_THAT(Ask("/api/job?name=seeds"), HasSubstr("has not answered yet"));
  EXPECT_EQ(jobs_.timelines, 1);
  jobs_.timeline_answers.Notify();
  first.join();
  EXPECT_THAT(slow, HasSubstr(R"("state":"done")"));
  EXPECT_THAT(Ask("/api/job?name=seeds"), HasSubstr(R"("state":"done")"));
}

TEST_F(JobsPageTest, ACoordinatorThatIsAwayIsSaid) {
  jobs_.up = false;
  const std::string answer = Ask("/api/state");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(answer, HasSubstr("no coordinator"));
}

// A page of another site that has its name resolve to this machine.
TEST_F(JobsPageTest, AnotherHostsNameIsRefused) {
  EXPECT_THAT(Ask("/api/state", "evil.example:7080"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("/api/state", "127.0.0.1:7080"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask("/api/state", "[::1]:7080"), StartsWith("HTTP/1.1 200"));
}

TEST_F(JobsPageTest, OnlyReads) {
  jobs_.timeline_answers.Notify();
  EXPECT_THAT(Ask("/api/state", "localhost", "POST"), Not(StartsWith("HTTP/1.1 200")));
  EXPECT_THAT(Ask("/api/job?name=seeds", "localhost", "DELETE"), Not(StartsWith("HTTP/1.1 200")));
}

TEST(JobsPage, AnAddressInUseIsAnError) {
  OneJob jobs;
  const auto first = JobsPage::Start("127.0.0.1:0", jobs, "");
  EXPECT_THAT(JobsPage::Start(absl::StrCat("127.0.0.1:", (*first)->port()), jobs, "").status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace kernelmill::client
