#include "services/coordinator/server/coordinator_server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/rpc/server.h"
#include "common/worker/work_queue.h"
#include "common/worker/worker.h"
#include "kernelmill/v1/crawl.grpc.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "services/coordinator/core/plan/task.h"
#include "services/coordinator/core/testing/scripted_results.h"

namespace kernelmill::coordinator {
namespace {

using ::testing::HasSubstr;

// A fake stage, whose outputs are real blobs that only depend on the action.
class ToyStage : public worker::Stage {
 public:
  explicit ToyStage(StageId id) : id_(id) {}
  StageId id() const override { return id_; }

  absl::StatusOr<v1::StageResult> Run(const v1::Action& action, cas::BlobStore& store) override {
    ++runs;
    if (id_ == StageId::kFetch && action.params().fetch().source().git() == "broken") {
      return absl::NotFoundError("no such repository");
    }
    v1::StageResult result = ScriptedStages().Run(action);
    for (int i = 0; i < result.outputs_size(); ++i) {
      v1::Action blob = action;
      blob.set_stage(absl::StrCat(action.stage(), " output ", i));
      ASSIGN_OR_RETURN(*result.mutable_outputs(i)->mutable_digest(), cas::PutMessage(store, blob));
    }
    return result;
  }

  std::atomic<int> runs{0};

 private:
  const StageId id_;
};

class CoordinatorServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = TempDir::Create();
    ASSERT_TRUE(dir.ok());
    dir_ = std::make_unique<TempDir>(*std::move(dir));
    for (int i = 0; i < kStageCount; ++i) {
      stages_.push_back(std::make_unique<ToyStage>(static_cast<StageId>(i)));
    }
    StartServer();
  }
  void TearDown() override { StopServer(); }

  void StartServer() {
    CoordinatorServer::Options options;
    options.data_dir = dir_->path();
    options.lease_ttl = absl::Seconds(1);
    options.retry_backoff = absl::Milliseconds(1);
    options.limits = limits_;
    auto coordinator = CoordinatorServer::Open(options);
    ASSERT_TRUE(coordinator.ok()) << coordinator.status();
    coordinator_ = *std::move(coordinator);
    auto server = rpc::Server::Start({}, coordinator_->services());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    crawl_ = v1::Crawl::NewStub(server_->InProcessChannel());
    work_ = v1::Work::NewStub(server_->InProcessChannel());
  }
  void StopServer() {
    if (coordinator_ != nullptr) coordinator_->Drain();
    workers_.clear();  // before the server: their channels are in-process
    queues_.clear();
    if (server_ != nullptr) server_->Shutdown(absl::Seconds(10));
    server_.reset();
    coordinator_.reset();
  }

  void StartWorkers(int count) { StartWorkers(count, store_); }
  void StartWorkers(int count, cas::BlobStore& store) {
    std::vector<worker::Stage*> stages;
    for (const auto& stage : stages_) stages.push_back(stage.get());
    for (int i = 0; i < count; ++i) {
      queues_.push_back(worker::NewGrpcWorkQueue(server_->InProcessChannel()));
      worker::Worker::Options options;
      options.name = absl::StrCat("worker ", i);
      options.slots = 2;
      workers_.push_back(std::make_unique<worker::Worker>(options, *queues_.back(), store, stages));
      workers_.back()->Start();
    }
  }
  std::string Submit(const v1::JobSpec& spec, const std::string& request_id = "") {
    v1::SubmitRequest request;
    *request.mutable_spec() = spec;
    request.set_request_id(request_id);
    v1::SubmitResponse response;
    grpc::ClientContext context;
    const grpc::Status status = crawl_->Submit(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.job();
  }

  // Watches until the stream ends; returns its messages.
  std::vector<v1::JobStatus> Watch(const std::string& job) {
    v1::WatchRequest request;
    request.set_job(job);
    grpc::ClientContext context;
    auto reader = crawl_->Watch(&context, request);
    std::vector<v1::JobStatus> statuses;
    for (v1::JobStatus status; reader->Read(&status);) statuses.push_back(status);
    watch_status_ = reader->Finish();
    return statuses;
  }

  grpc::Status Lease(v1::LeaseResponse* response, int wait_ms) {
    v1::LeaseRequest request;
    request.set_worker("test");
    request.set_max_tasks(1);
    request.set_wait_ms(wait_ms);
    for (int i = 0; i < kStageCount; ++i) {
      v1::StageName* stage = request.add_stages();
      stage->set_stage(std::string(GetStageInfo(static_cast<StageId>(i)).name));
      stage->set_version(GetStageInfo(static_cast<StageId>(i)).version);
    }
    grpc::ClientContext context;
    return work_->Lease(&context, request, response);
  }

  int Runs() const {
    int runs = 0;
    for (const auto& stage : stages_) runs += stage->runs;
    return runs;
  }

  // Replaces the server by one with these limits.
  void Restart(const CoordinatorLimits& limits) {
    StopServer();
    limits_ = limits;
    StartServer();
  }

  CoordinatorLimits limits_;
  std::unique_ptr<TempDir> dir_;
  cas::MemoryBlobStore store_;
  std::vector<std::unique_ptr<ToyStage>> stages_;
  std::unique_ptr<CoordinatorServer> coordinator_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::Crawl::Stub> crawl_;
  std::unique_ptr<v1::Work::Stub> work_;
  std::vector<std::unique_ptr<worker::WorkQueue>> queues_;
  std::vector<std::unique_ptr<worker::Worker>> workers_;
  grpc::Status watch_status_;
};

TEST_F(CoordinatorServerTest, ASecondRunIsAllCachedAndGivesTheSameDataset) {
  StartWorkers(3);
  const v1::JobStatus first = Watch(Submit(GitJob(5))).back();
  ASSERT_EQ(first.state(), v1::JOB_STATE_DONE);
  const int runs = Runs();
  const v1::JobStatus second = Watch(Submit(GitJob(5))).back();
  ASSERT_EQ(second.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(second.dataset().hash(), first.dataset().hash());
  EXPECT_EQ(Runs() - runs, 5) << "only pin may run again";
  for (int i = static_cast<int>(StageId::kFetch); i < kStageCount; ++i) {
    EXPECT_EQ(second.stages(i).cached(), second.stages(i).total()) << second.stages(i).stage();
  }
}

TEST_F(CoordinatorServerTest, TheDatasetDoesNotDependOnTheNumberOfWorkers) {
  StartWorkers(1);
  const v1::JobStatus one = Watch(Submit(GitJob(4))).back();
  workers_.clear();
  cas::MemoryBlobStore cold;
  StartWorkers(5, cold);
  const v1::JobStatus five = Watch(Submit(GitJob(4))).back();
  EXPECT_EQ(five.dataset().hash(), one.dataset().hash());
  EXPECT_EQ(cold.blobs(), store_.blobs());
  workers_.clear();
}

TEST_F(CoordinatorServerTest, AFailedSourceIsReportedAndTheJobIsDone) {
  v1::JobSpec spec = GitJob(1);
  spec.add_sources()->set_git("broken");
  StartWorkers(1);
  const v1::JobStatus status = Watch(Submit(spec)).back();
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  ASSERT_EQ(status.failures_size(), 1);
  EXPECT_EQ(status.failures(0).source(), "broken");
  EXPECT_EQ(status.failures(0).code(), "NOT_FOUND");
}

TEST_F(CoordinatorServerTest, WorkersAndJobsOutliveARestart) {
  const std::string job = Submit(GitJob(3));
  v1::LeaseResponse leased;
  ASSERT_TRUE(Lease(&leased, 0).ok());  // by a worker that is never heard of again
  ASSERT_EQ(leased.tasks_size(), 1);
  StopServer();
  StartServer();
  StartWorkers(1);
  const v1::JobStatus status = Watch(job).back();
  EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(status.failures_size(), 0);
}

TEST_F(CoordinatorServerTest, LeaseIsWokenByASubmit) {
  v1::LeaseResponse response;
  std::thread waiting([&] { EXPECT_TRUE(Lease(&response, 30'000).ok()); });
  Submit(GitJob(1));
  waiting.join();
  ASSERT_EQ(response.tasks_size(), 1);
  EXPECT_EQ(response.tasks(0).action().stage(), "pin");
  EXPECT_EQ(response.tasks(0).ttl_ms(), 1000);
}

TEST_F(CoordinatorServerTest, DrainWakesLeasesAndWatches) {
  const std::string job = Submit(GitJob(1));
  v1::LeaseResponse taken;
  ASSERT_TRUE(Lease(&taken, 0).ok());
  grpc::Status leased;
  v1::LeaseResponse response;
  std::thread waiting([&] { leased = Lease(&response, 30'000); });
  std::thread watching([&] { Watch(job); });
  absl::SleepFor(absl::Milliseconds(50));  // so that they wait; the test holds without, too
  coordinator_->Drain();
  waiting.join();
  watching.join();
  EXPECT_EQ(watch_status_.error_code(), grpc::StatusCode::UNAVAILABLE);
  if (response.tasks_size() == 0) {
    EXPECT_EQ(leased.error_code(), grpc::StatusCode::UNAVAILABLE);
  }
}

TEST_F(CoordinatorServerTest, AWorkerOfAnotherVersionGetsNothing) {
  Submit(GitJob(1));
  v1::LeaseRequest request;
  request.set_max_tasks(1);
  v1::StageName* stage = request.add_stages();
  stage->set_stage("pin");
  stage->set_version(GetStageInfo(StageId::kPin).version + 1);
  request.add_stages()->set_stage("unheard of");
  v1::LeaseResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(work_->Lease(&context, request, &response).ok());
  EXPECT_EQ(response.tasks_size(), 0);
}

TEST_F(CoordinatorServerTest, WrongRequestsAreRefused) {
  v1::LeaseRequest request;
  request.set_max_tasks(1);
  v1::LeaseResponse response;
  grpc::ClientContext lease;
  EXPECT_EQ(work_->Lease(&lease, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request.add_stages()->set_stage("pin");
  request.set_max_tasks(65);
  grpc::ClientContext many;
  EXPECT_EQ(work_->Lease(&many, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  request.set_max_tasks(1);
  request.set_wait_ms(30'001);
  grpc::ClientContext wait;
  EXPECT_EQ(work_->Lease(&wait, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  v1::SubmitRequest submit;
  v1::SubmitResponse submitted;
  grpc::ClientContext wrong;
  EXPECT_EQ(crawl_->Submit(&wrong, submit, &submitted).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(Watch("none").empty());
  EXPECT_EQ(watch_status_.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(CoordinatorServerTest, JobsAreListedNewestFirst) {
  const std::string a = Submit(GitJob(1), "a");
  const std::string b = Submit(GitJob(1), "b");
  EXPECT_EQ(Submit(GitJob(1), "a"), a);
  v1::ListJobsRequest request;
  v1::ListJobsResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(crawl_->ListJobs(&context, request, &response).ok());
  ASSERT_EQ(response.jobs_size(), 2);
  EXPECT_EQ(response.jobs(0).job(), b);
  EXPECT_EQ(response.jobs(1).job(), a);
}

TEST(CoordinatorServerOptions, AreChecked) {
  EXPECT_EQ(CoordinatorServer::Open({}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(CoordinatorServerTest, AJobBeyondItsCallersLimitIsRefusedByName) {
  CoordinatorLimits limits;
  limits.jobs_per_caller = 1;
  Restart(limits);
  Submit(GitJob(1));
  v1::SubmitRequest request;
  *request.mutable_spec() = GitJob(1);
  v1::SubmitResponse response;
  grpc::ClientContext context;
  const grpc::Status refused = crawl_->Submit(&context, request, &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("--max-jobs-per-caller is 1: "));
}

TEST_F(CoordinatorServerTest, QueuedBytesBeyondTheLimitAreRefusedByName) {
  CoordinatorLimits limits;
  limits.queued_bytes = 1000;
  Restart(limits);
  v1::SubmitRequest request;
  *request.mutable_spec() = GitJob(100);
  v1::SubmitResponse response;
  grpc::ClientContext context;
  const grpc::Status refused = crawl_->Submit(&context, request, &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("--max-queued-bytes is 1000: "));
  Submit(GitJob(1));
}

TEST_F(CoordinatorServerTest, ALeaseThatWouldWaitBeyondTheLimitIsRefusedAndOneThatFindsATaskIsNot) {
  CoordinatorLimits limits;
  limits.waiting_leases_per_caller = 1;
  Restart(limits);
  std::thread waiting([this] {
    v1::LeaseResponse response;
    grpc::Status status = grpc::Status::CANCELLED;
    while (!status.ok()) status = Lease(&response, 20'000);  // the other may be first for 10 ms
    EXPECT_EQ(response.tasks_size(), 1);
  });
  v1::LeaseResponse response;
  grpc::Status refused;
  for (int i = 0; i < 1000 && refused.ok(); ++i) refused = Lease(&response, 10);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("--max-waiting-leases-per-caller is 1: "));
  EXPECT_TRUE(Lease(&response, 0).ok()) << "it does not wait";
  Submit(GitJob(2));
  waiting.join();
  EXPECT_TRUE(Lease(&response, 20'000).ok());
  EXPECT_EQ(response.tasks_size(), 1);
}

TEST_F(CoordinatorServerTest, WatchesBeyondTheLimitAreRefusedByName) {
  CoordinatorLimits limits;
  limits.watches_per_caller = 1;
  Restart(limits);
  const std::string job = Submit(GitJob(1));
  v1::WatchRequest request;
  request.set_job(job);
  grpc::ClientContext context;
  const auto first = crawl_->Watch(&context, request);
  v1::JobStatus status;
  ASSERT_TRUE(first->Read(&status));
  Watch(job);
  EXPECT_EQ(watch_status_.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(watch_status_.error_message(), HasSubstr("--max-watches-per-caller is 1: "));
  context.TryCancel();
}

TEST_F(CoordinatorServerTest, WorkersWhoseLeasesAreRefusedGoOnAsking) {
  CoordinatorLimits limits;
  limits.waiting_leases = 1;
  Restart(limits);
  StartWorkers(4);
  EXPECT_EQ(Watch(Submit(GitJob(5))).back().state(), v1::JOB_STATE_DONE);
}

}  // namespace
}  // namespace kernelmill::coordinator
