#include "common/rpc/request_gate.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <prometheus/counter.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/metrics/metrics.h"
#include "common/rpc/request_cost.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"

namespace kernelmill::rpc {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr int kMebibyte = 1 << 20;

// Counts its calls, and how many run at a time.
class CountingService final : public v1::Work::Service {
 public:
  grpc::Status Lease(grpc::ServerContext*, const v1::LeaseRequest* request,
                     v1::LeaseResponse* response) override {
    response->set_finish_first(request->held() == 7);
    return Count();
  }
  grpc::Status Complete(grpc::ServerContext*, const v1::CompleteRequest*,
                        v1::CompleteResponse* response) override {
    const std::string padding(answer_bytes, 'x');
    response->GetReflection()->MutableUnknownFields(response)->AddLengthDelimited(999, padding);
    return Count();
  }
  std::atomic<int> answer_bytes = 0;
  int calls() const {
    const absl::MutexLock lock(&mutex_);
    return calls_;
  }
  int most_at_a_time() const {
    const absl::MutexLock lock(&mutex_);
    return most_;
  }

 private:
  grpc::Status Count() {
    {
      const absl::MutexLock lock(&mutex_);
      ++calls_;
      most_ = std::max(most_, ++running_);
    }
    absl::SleepFor(absl::Milliseconds(5));
    const absl::MutexLock lock(&mutex_);
    --running_;
    return grpc::Status::OK;
  }

  mutable absl::Mutex mutex_;
  int calls_ ABSL_GUARDED_BY(mutex_) = 0, running_ ABSL_GUARDED_BY(mutex_) = 0,
             most_ ABSL_GUARDED_BY(mutex_) = 0;
};

class RequestGateTest : public ::testing::Test {
 protected:
  void Start(int64_t memory_bytes = 0, absl::Duration answer_patience = absl::Seconds(60)) {
    server_ = *Server::Start({.address = "127.0.0.1:0",
                              .memory_bytes = memory_bytes,
                              .answer_patience = answer_patience},
                             {&service_});
    stub_ = v1::Work::NewStub(Connect(absl::StrCat("127.0.0.1:", server_->port())));
  }
  grpc::StatusCode Lease(const std::string& worker,
                         grpc_compression_algorithm compression = GRPC_COMPRESS_NONE) {
    grpc::ClientContext context;
    context.set_compression_algorithm(compression);
    v1::LeaseRequest request;
    request.set_worker(worker);
    request.set_held(7);
    v1::LeaseResponse response;
    const grpc::Status status = stub_->Lease(&context, request, &response);
    EXPECT_EQ(response.finish_first(), status.ok());
    return status.error_code();
  }
  grpc::StatusCode Complete(int completions) {
    grpc::ClientContext context;
    v1::CompleteRequest request;
    for (int i = 0; i < completions; ++i) request.add_completions();
    v1::CompleteResponse response;
    return stub_->Complete(&context, request, &response).error_code();
  }

  CountingService service_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::Work::Stub> stub_;
};

TEST_F(RequestGateTest, LetsAnOrdinaryRequestIn) {
  Start();
  EXPECT_EQ(Lease("w"), grpc::StatusCode::OK);
  EXPECT_EQ(Complete(1000), grpc::StatusCode::OK);
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(RequestGateTest, RefusesACompressedMessage) {
  Start();
  for (const auto compression : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    EXPECT_EQ(Lease(std::string(10'000, 'w'), compression), grpc::StatusCode::UNIMPLEMENTED);
  }
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(RequestGateTest, RefusesAMessageThatIsLargeOnceItIsParsed) {
  Start();
  EXPECT_EQ(Complete(2 * kMebibyte), grpc::StatusCode::INVALID_ARGUMENT);  // 4 MiB
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(RequestGateTest, RefusesALargeRequestOfAMethodThatNeedsNone) {
  Start();
  EXPECT_EQ(Lease(std::string(kMebibyte, 'w')), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(service_.calls(), 0);
}

TEST_F(RequestGateTest, LetsInAsManyCallsAtATimeAsItsMemoryAllows) {
  Start(/*memory_bytes=*/16 * kMebibyte);  // 4 MiB for calls, 2 for those of a caller
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i) {
    callers.emplace_back([&] { EXPECT_EQ(Complete(1), grpc::StatusCode::OK); });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(service_.calls(), 16);
  EXPECT_LE(service_.most_at_a_time(), 2);
}

// A call of Complete whose client reads nothing of the answer until it is asked to.
class StalledCall {
 public:
  explicit StalledCall(int port)
      : stub_(Connect(absl::StrCat("127.0.0.1:", port))),
        call_(stub_.PrepareCall(&context_, "/kernelmill.v1.Work/Complete", &queue_)) {
    call_->StartCall(nullptr);
    Await();
    const grpc::Slice no_fields;
    call_->WriteLast(grpc::ByteBuffer(&no_fields, 1), {}, nullptr);
    Await();
  }
  ~StalledCall() {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue_.Next(&tag, &ok);) {
    }
  }
  // Reads what there is of the answer, and returns the call's status.
  grpc::Status Finish() {
    grpc::ByteBuffer answer;
    call_->Read(&answer, nullptr);
    Await();
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Await();
    return status;
  }

 private:
  void Await() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

TEST_F(RequestGateTest, ACallerThatDoesNotReadItsAnswersGivesItsShareBack) {
  Start(/*memory_bytes=*/16 * kMebibyte, absl::Milliseconds(500));  // 2 MiB for one caller
  prometheus::Counter& stalled = metrics::Counter(metrics::kStalledAnswers);
  const double before = stalled.Value();
  service_.answer_bytes = 8 * kMebibyte;
  StalledCall first(server_->port()), second(server_->port());
  while (service_.calls() < 2) absl::SleepFor(absl::Milliseconds(5));
  service_.answer_bytes = 0;
  const absl::Time begun = absl::Now();
  EXPECT_EQ(Complete(1), grpc::StatusCode::OK);
  EXPECT_GT(absl::Now() - begun, absl::Milliseconds(200)) << "the others had no share";
  EXPECT_LT(absl::Now() - begun, absl::Seconds(20));
  EXPECT_EQ(stalled.Value(), before + 2);
  const grpc::Status status = first.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(status.error_message(), "the answer was not read within 500ms");
}

TEST_F(RequestGateTest, AnAnswerThatIsReadIsNotCutOff) {
  Start(0, absl::Seconds(5));
  service_.answer_bytes = 8 * kMebibyte;
  EXPECT_EQ(Complete(1), grpc::StatusCode::OK);
}

TEST_F(RequestGateTest, AServiceThatIsServedAgainHasOneGate) {
  Start();
  server_.reset();
  Start();
  EXPECT_EQ(Lease("w"), grpc::StatusCode::OK);
}

template <typename Request>
absl::StatusOr<int64_t> Measure(const Request& request) {
  const std::string text = request.SerializeAsString();
  const grpc::Slice slice(text);
  grpc::ByteBuffer bytes(&slice, 1);
  return GetParsedBytes(bytes, *Request::descriptor());
}

// The estimate must not be below what the parser takes, nor so far above it that real requests
// would be refused.
template <typename Request>
void ExpectNear(const Request& request) {
  Request parsed;  // without the spare capacity of a message that was built
  parsed.ParseFromString(request.SerializeAsString());
  const auto bytes = static_cast<int64_t>(parsed.SpaceUsedLong());
  const absl::StatusOr<int64_t> measured = Measure(request);
  ASSERT_THAT(measured, IsOk());
  EXPECT_GE(*measured, bytes * 9 / 10) << request.GetTypeName();
  EXPECT_LE(*measured, bytes * 4) << request.GetTypeName();
}

TEST(GetParsedBytes, IsNearWhatTheParserTakes) {
  build::bazel::remote::execution::v2::FindMissingBlobsRequest find;
  v1::SubmitRequest submit;
  v1::CompleteRequest complete;
  for (int i = 0; i < 1000; ++i) {
    auto& digest = *find.add_blob_digests();
    digest.set_hash(std::string(64, 'a'));
    digest.set_size_bytes(1000);
    submit.mutable_spec()->add_sources()->set_git(absl::StrCat("https://git.example/owner/", i));
    v1::Completion& completion = *complete.add_completions();
    completion.mutable_lease()->set_task(i);
    completion.mutable_result()->add_outputs()->set_name("shard");
  }
  ExpectNear(find);
  ExpectNear(submit);
  ExpectNear(complete);
  submit.mutable_spec()->clear_sources();
  for (int i = 0; i < 1000; ++i) submit.mutable_spec()->add_sources();
  ExpectNear(submit);
}

TEST(GetParsedBytes, CountsFieldsThatTheMessageDoesNotHave) {
  v1::WatchRequest request;
  auto* const unknown = request.GetReflection()->MutableUnknownFields(&request);
  for (int i = 0; i < kMebibyte; ++i) unknown->AddLengthDelimited(9, "");
  EXPECT_THAT(Measure(request), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(GetParsedBytes, RefusesWhatIsNoMessage) {
  for (const std::string& text :
       {std::string("\x0a"), std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("\x0a\x05x")}) {
    const grpc::Slice slice(text);
    grpc::ByteBuffer bytes(&slice, 1);
    EXPECT_THAT(GetParsedBytes(bytes, *v1::SubmitRequest::descriptor()),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace kernelmill::rpc
