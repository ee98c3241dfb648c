#include <gmock/gmock.h>
#include <grpcpp/server_context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/commands/commands.h"
#include "client/commands/testing/command_test.h"
#include "client/console/exit_code.h"
#include "common/base/file.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/crawl.grpc.pb.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// One job, "j"; a submit makes it, and a watch ends it with `end`.
class FakeCrawl : public v1::Crawl::Service {
 public:
  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                      v1::SubmitResponse* response) override {
    absl::MutexLock lock(&mutex_);
    request_ids.insert(request->request_id());
    job.set_priority(request->priority());
    if (lost_answers-- > 0) return {grpc::StatusCode::UNAVAILABLE, "the answer was lost"};
    response->set_job("j");
    return grpc::Status::OK;
  }
  grpc::Status Watch(grpc::ServerContext*, const v1::WatchRequest*,
                     grpc::ServerWriter<v1::JobStatus>* writer) override {
    absl::MutexLock lock(&mutex_);
    job.set_state(end);
    writer->Write(job);
    return grpc::Status::OK;
  }
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest*,
                      v1::JobStatus* response) override {
    *response = job;
    return grpc::Status::OK;
  }
  grpc::Status ListFailures(grpc::ServerContext*, const v1::ListFailuresRequest* request,
                            v1::ListFailuresResponse* response) override {
    const size_t at = request->page_token().empty() ? 0 : std::stoul(request->page_token());
    const size_t end = std::min(at + 1000, all_failures.size());
    for (size_t i = at; i < end; ++i) *response->add_failures() = all_failures[i];
    if (end < all_failures.size()) response->set_next_page_token(absl::StrCat(end));
    return grpc::Status::OK;
  }
  grpc::Status ListJobs(grpc::ServerContext*, const v1::ListJobsRequest*,
                        v1::ListJobsResponse* response) override {
    *response->add_jobs() = job;
    return grpc::Status::OK;
  }
  grpc::Status Cancel(grpc::ServerContext*, const v1::CancelRequest*,
                      v1::JobStatus* response) override {
    if (job.state() == v1::JOB_STATE_RUNNING) job.set_state(v1::JOB_STATE_CANCELLED);
    *response = job;
    return grpc::Status::OK;
  }
  grpc::Status Retry(grpc::ServerContext*, const v1::RetryRequest* request,
                     v1::JobStatus* response) override {
    if (request->job() != "j") return {grpc::StatusCode::NOT_FOUND, "no such job"};
    job.set_state(v1::JOB_STATE_RUNNING);
    job.set_runs(job.runs() + 1);
    *response = job;
    return grpc::Status::OK;
  }
  grpc::Status Delete(grpc::ServerContext*, const v1::DeleteRequest*,
                      v1::DeleteResponse*) override {
    if (job.state() != v1::JOB_STATE_RUNNING) return grpc::Status::OK;
    return {grpc::StatusCode::FAILED_PRECONDITION, "j is running"};
  }

  FakeCrawl() {
    job.set_job("j");
    job.set_state(v1::JOB_STATE_RUNNING);
    job.set_runs(1);
  }
  v1::JobStatus job;
  std::vector<v1::Failure> all_failures;
  v1::JobState end = v1::JOB_STATE_DONE;
  std::set<std::string> request_ids;
  int lost_answers = 0;

 private:
  absl::Mutex mutex_;
};

class JobCommandsTest : public CommandTest {
 protected:
  JobCommandsTest() : dir_(*TempDir::Create()) {
    cluster_.coordinator = "unix:" + dir_.path() + "/coordinator";
    server_ = *rpc::Server::Start({cluster_.coordinator}, {&service_});
    submit_.job_file = dir_.path() + "/job.yaml";
    EXPECT_THAT(WriteFile(submit_.job_file, "name: j\nsources:\n  - git: https://example.org/a\n"),
                IsOk());
  }
  using JobCommand = absl::StatusOr<int> (*)(const ClusterAddress&, const std::string&,
                                             rpc::TerminationSignal&, Console&);
  absl::StatusOr<int> RunOn(bool json, JobCommand command) {
    return Run(json, [&](Console& console) { return command(cluster_, "j", signal_, console); });
  }
  absl::StatusOr<int> RunSubmit(bool json) {
    return Run(json, [&](Console& console) { return Submit(cluster_, submit_, signal_, console); });
  }
  absl::StatusOr<int> RunRetry(const std::string& job, bool wait) {
    const RetryOptions options = {.job = job, .wait = wait, .target = {}};
    return Run(false, [&](Console& console) { return Retry(cluster_, options, signal_, console); });
  }

  rpc::TerminationSignal signal_;
  TempDir dir_;
  ClusterAddress cluster_;
  FakeCrawl service_;
  std::unique_ptr<rpc::Server> server_;
  SubmitOptions submit_;
};

TEST_F(JobCommandsTest, ASubmitWhoseAnswerIsLostIsMadeOnce) {
  service_.lost_answers = 2;
  submit_.priority = 7;
  EXPECT_EQ(RunSubmit(false).value(), kDone);
  EXPECT_EQ(out_, "j\n");
  EXPECT_THAT(err_, HasSubstr("does not answer"));
  EXPECT_THAT(service_.request_ids, SizeIs(1));
  EXPECT_EQ(service_.job.priority(), 7);
  EXPECT_EQ(RunSubmit(true).value(), kDone);
  EXPECT_EQ(out_, "{\"type\":\"submitted\",\"job\":\"j\"}\n");
  EXPECT_THAT(service_.request_ids, SizeIs(2));
}

TEST_F(JobCommandsTest, ASubmissionWithAnIdOfItsOwnKeepsIt) {
  submit_.request_id = "nightly-17";
  service_.job.set_name("j");
  EXPECT_EQ(RunSubmit(false).value(), kDone);
  EXPECT_EQ(RunSubmit(false).value(), kDone);
  EXPECT_EQ(out_, "j\n");
  EXPECT_THAT(err_, HasSubstr("request nightly-17 is job j, submitted at "));
  EXPECT_THAT(service_.request_ids, ::testing::ElementsAre("nightly-17"));
  service_.job.set_name("another");
  const absl::Status refused = RunSubmit(false).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("--request-id nightly-17 belongs to job j"));
}

TEST_F(JobCommandsTest, TheEndOfAJobThatWasWaitedForIsTheExitCode) {
  submit_.wait = true;
  EXPECT_EQ(RunSubmit(false).value(), kDone);
  service_.end = v1::JOB_STATE_CANCELLED;
  EXPECT_EQ(RunSubmit(true).value(), kInputsFailed);
  EXPECT_EQ(nlohmann::json::parse(out_)["exit"], 1);
  EXPECT_EQ(RunOn(false, Watch).value(), kInputsFailed);
  EXPECT_THAT(out_, HasSubstr("cancelled"));
  service_.end = v1::JOB_STATE_DONE;
  service_.job.add_failures()->set_path("a.py");
  service_.job.set_failure_count(1);
  EXPECT_EQ(RunOn(false, Watch).value(), kInputsFailed);
  EXPECT_THAT(out_, HasSubstr("a.py"));
}

TEST_F(JobCommandsTest, NextCommandsReachTheSameCluster) {
  cluster_.store = "unix:" + dir_.path() + "/store";
  cluster_.identity.authority = "my ca.pem";
  cluster_.identity.token = "token";
  service_.job.mutable_dataset()->set_hash("a");
  EXPECT_EQ(RunOn(false, Watch).value(), kDone);
  EXPECT_THAT(out_, HasSubstr(absl::StrCat("kernelmill export j --out DIR --coordinator ",
                                           cluster_.coordinator, " --store ", cluster_.store,
                                           " --tls-ca 'my ca.pem' --token-file token ")));
  EXPECT_EQ(ClusterFlags(ClusterAddress()), "");
}

TEST_F(JobCommandsTest, ADryRunResolvesTheSourcesAndSubmitsNothing) {
  submit_.dry_run = true;
  ASSERT_THAT(WriteFile(submit_.job_file, absl::StrCat("name: j\nsources:\n  - path: ", dir_.path(),
                                                       "\n  - path: /nowhere\n")),
              IsOk());
  EXPECT_EQ(RunSubmit(false).value(), kInputsFailed);
  EXPECT_THAT(out_, HasSubstr("2 sources: 1 to read from this machine, 1 failed"));
  EXPECT_TRUE(service_.request_ids.empty());
}

TEST_F(JobCommandsTest, AJobThatNoMessageTakesIsRefusedAtOnce) {
  std::string list;
  for (int i = 0; i < 20'000; ++i) {
    absl::StrAppend(&list, "https://example.org/", std::string(1000, 'r'), "/", i, "\n");
  }
  ASSERT_THAT(WriteFile(dir_.path() + "/repositories.txt", list), IsOk());
  ASSERT_THAT(WriteFile(submit_.job_file, "name: j\nsources:\n  - list: repositories.txt\n"),
              IsOk());
  const absl::Status refused = RunSubmit(false).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the limit is 16777216"));
  EXPECT_TRUE(service_.request_ids.empty());
}

TEST_F(JobCommandsTest, AJobThatIsCheckedIsPrintedWithItsListsRead) {
  ASSERT_THAT(WriteFile(dir_.path() + "/repositories.txt", "https://example.org/b\n"), IsOk());
  ASSERT_THAT(WriteFile(submit_.job_file, "name: j\nsources:\n  - list: repositories.txt\n"),
              IsOk());
  CheckOptions options;
  options.job_file = submit_.job_file;
  const auto check = [&](bool json) {
    return Run(json, [&](Console& console) { return Check(options, signal_, console); });
  };
  EXPECT_EQ(check(false).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("  - git: \"https://example.org/b\"\n"));
  EXPECT_EQ(err_,
            "checked      keys and values\n"
            "not checked  1 repository, the files that globs match; --online asks the hosts\n");
  EXPECT_EQ(check(true).value(), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_)["sources"][0]["git"], "https://example.org/b");
  ASSERT_THAT(WriteFile(submit_.job_file, "name: j\nsources:\n  - gti: x\n"), IsOk());
  EXPECT_THAT(check(false).status(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(service_.request_ids.empty());
}

TEST_F(JobCommandsTest, CancelSaysHowTheJobEnded) {
  EXPECT_EQ(RunOn(false, Cancel).value(), kDone);
  EXPECT_EQ(out_, "j  cancelled\n");
  EXPECT_EQ(err_, "");
  service_.job.set_state(v1::JOB_STATE_DONE);
  EXPECT_EQ(RunOn(false, Cancel).value(), kDone);
  EXPECT_EQ(out_, "j  done\n");
  EXPECT_EQ(err_, "job j had already ended\n");
  EXPECT_EQ(RunOn(true, Cancel).value(), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_)["state"], "done");
}

TEST_F(JobCommandsTest, RetryRunsTheJobAgain) {
  service_.job.set_state(v1::JOB_STATE_FAILED);
  EXPECT_EQ(RunRetry("j", /*wait=*/false).value(), kDone);
  EXPECT_EQ(out_, "j  running\n");
  EXPECT_EQ(RunRetry("j", /*wait=*/true).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("run 3"));
  EXPECT_THAT(RunRetry("x", /*wait=*/false), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(JobCommandsTest, ARunningJobIsNotDeleted) {
  EXPECT_EQ(ToExitCode(RunOn(false, Delete).status()), kRequestWrong);
  service_.job.set_state(v1::JOB_STATE_DONE);
  EXPECT_EQ(RunOn(false, Delete).value(), kDone);
  EXPECT_EQ(out_, "j  deleted\n");
  EXPECT_EQ(RunOn(true, Delete).value(), kDone);
  EXPECT_EQ(out_, "{\"type\":\"deleted\",\"job\":\"j\"}\n");
}

absl::StatusOr<int> ReportJob(const ClusterAddress& cluster, const std::string& job,
                              rpc::TerminationSignal& signal, Console& console) {
  return Report(cluster, {.job = job}, signal, console);
}

TEST_F(JobCommandsTest, ReportsAndListsTellWhatIsTriedAgain) {
  v1::Troubled* task = service_.job.add_troubled();
  task->set_stage("fetch");
  task->set_source("demo");
  task->set_attempts(2);
  EXPECT_EQ(RunOn(false, ReportJob).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("demo  fetch  after 2 attempts"));
  EXPECT_EQ(RunOn(true, ReportJob).value(), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_)["troubled"][0]["source"], "demo");
  const auto list = Run(false, [this](Console& c) { return ListJobs(cluster_, signal_, c); });
  EXPECT_EQ(list.value(), kDone);
  EXPECT_THAT(out_, HasSubstr("running"));
}

TEST_F(JobCommandsTest, AReportHasAllFailuresAndASummarySaysWhereTheyAre) {
  service_.job.set_state(v1::JOB_STATE_DONE);
  service_.all_failures.resize(2500);
  for (int i = 0; i < 2500; ++i) service_.all_failures[i].set_source(absl::StrCat("source", i));
  service_.job.mutable_failures()->Assign(service_.all_failures.begin(),
                                          service_.all_failures.begin() + 100);
  service_.job.set_failure_count(2500);
  EXPECT_EQ(RunOn(false, ReportJob).value(), kDone);
  EXPECT_THAT(out_, HasSubstr("failures   2500\n"));
  EXPECT_THAT(out_, HasSubstr("source2499"));
  EXPECT_EQ(RunOn(true, ReportJob).value(), kDone);
  EXPECT_EQ(nlohmann::json::parse(out_)["failures"].size(), 2500u);
  EXPECT_EQ(RunOn(false, Watch).value(), kInputsFailed);
  EXPECT_THAT(out_, HasSubstr("failures   2500\n"));
  EXPECT_THAT(out_, HasSubstr("  and 2494 more: kernelmill report j --coordinator "));
}

TEST_F(JobCommandsTest, AMissedGateIsToldEvenBehindAHundredFailures) {
  for (int i = 0; i < 150; ++i) {
    v1::Failure failure;
    failure.set_source(absl::StrCat("r", i));
    failure.set_stage("pin");
    service_.all_failures.push_back(failure);
    if (i < 100) *service_.job.add_failures() = failure;
  }
  v1::Failure gate;
  gate.set_stage("manifest");
  gate.set_path("gates.min_kept");
  gate.set_message("480, but at least 500 is asked for");
  service_.job.set_failure_count(150);
  EXPECT_EQ(RunOn(false, ReportJob).value(), kDone) << "inputs that fail are listed";
  service_.all_failures.push_back(gate);
  service_.job.set_failure_count(151);
  for (const JobCommand command : {JobCommand(Watch), JobCommand(ReportJob)}) {
    EXPECT_EQ(RunOn(false, command).value(), kInputsFailed);
    EXPECT_THAT(out_, HasSubstr("  min_kept  480, but at least 500 is asked for\n"));
    EXPECT_THAT(out_, HasSubstr("failures   150\n"));
  }
}

}  // namespace
}  // namespace kernelmill::client
