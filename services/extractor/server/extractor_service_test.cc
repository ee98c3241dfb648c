#include "services/extractor/server/extractor_service.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/rpc/server.h"
#include "kernelmill/v1/stages.grpc.pb.h"

namespace kernelmill::extractor {
namespace {

using ::testing::HasSubstr;

class ExtractorServiceTest : public ::testing::Test {
 protected:
  ExtractorServiceTest()
      : service_(NewExtractorService()),
        server_(rpc::Server::Start({}, {service_.get()}).value()),
        stub_(v1::Extractor::NewStub(server_->InProcessChannel())) {}

  grpc::Status Call(const v1::ExtractRequest& request) {
    grpc::ClientContext context;
    return stub_->Extract(&context, request, &response_);
  }

  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::Extractor::Stub> stub_;
  v1::ExtractResponse response_;
};

TEST_F(ExtractorServiceTest, ExtractsAndLinks) {
  v1::ExtractRequest request;
  v1::SourceFile& file = *request.add_files();
  file.set_path("a.py");
  file.set_content("import triton\n@triton.jit\ndef a(): pass\n");
  ASSERT_TRUE(Call(request).ok());
  ASSERT_EQ(response_.kernels().kernels_size(), 1);
  EXPECT_EQ(response_.kernels().kernels(0).module(),
            "import triton\n\n@triton.jit\ndef a(): pass\n");
}

TEST_F(ExtractorServiceTest, FindsKernelsByAWrapperOfAnotherFile) {
  v1::ExtractRequest request;
  const std::pair<const char*, const char*> kFiles[] = {
      {"p/kernel.py", "from .util import my_jit  # triton\n@my_jit\ndef k(): pass\n"},
      {"p/util.py", "import triton\ndef my_jit(f): return triton.jit(f)\n"}};
  for (const auto& [path, content] : kFiles) {
    v1::SourceFile& file = *request.add_files();
    file.set_path(path);
    file.set_content(content);
  }
  ASSERT_TRUE(Call(request).ok());
  ASSERT_EQ(response_.kernels().kernels_size(), 1);
  EXPECT_EQ(response_.kernels().kernels(0).path(), "p/kernel.py");
  EXPECT_EQ(response_.kernels().kernels(0).form(), v1::KERNEL_FORM_WRAPPED);
  EXPECT_EQ(response_.kernels().candidates_size(), 0);
  EXPECT_EQ(response_.kernels().jit_names_size(), 0);
}

TEST(FirstErrorLine, IsOfWhatIsNoPythonAlone) {
  EXPECT_EQ(FirstErrorLine("x = 1\n").value(), 0);
  EXPECT_EQ(FirstErrorLine("").value(), 0);
  EXPECT_EQ(FirstErrorLine("x = 1\nSorry, I cannot do that.\n").value(), 2);
  EXPECT_EQ(FirstErrorLine("Use @triton.jit to do it.").value(), 1);
}

TEST_F(ExtractorServiceTest, TooManyFilesAreRefused) {
  v1::ExtractRequest request;
  for (int i = 0; i < 257; ++i) request.add_files()->set_path("a.py");
  EXPECT_EQ(Call(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ExtractorServiceTest, TooManyBytesAreRefused) {
  v1::ExtractRequest request;
  request.add_files()->set_content(std::string((8 << 20) + 1, ' '));
  EXPECT_EQ(Call(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// The ends of operations that were begun, in whatever order they come.
class Ends {
 public:
  ~Ends() {
    queue_.Shutdown();
    while (Next()) {
    }
  }

  grpc::CompletionQueue& queue() { return queue_; }
  // Waits for the operation, and returns whether it succeeded.
  bool Await(void* name) {
    while (ended_.count(name) == 0) EXPECT_TRUE(Next());
    return ended_.extract(name).mapped();
  }
  // Waits for either operation, and returns the one that ends first.
  void* AwaitEither(void* a, void* b) {
    while (ended_.count(a) + ended_.count(b) == 0) EXPECT_TRUE(Next());
    return ended_.count(a) > 0 ? a : b;
  }

 private:
  bool Next() {
    void* name = nullptr;
    bool ok = false;
    if (!queue_.Next(&name, &ok)) return false;
    ended_[name] = ok;
    return true;
  }

  grpc::CompletionQueue queue_;
  std::map<void*, bool> ended_;
};

// A call whose request is not sent before the test says so; till then it holds its place.
class HeldCall {
 public:
  HeldCall(const std::shared_ptr<grpc::Channel>& channel, Ends& ends) : ends_(ends) {
    grpc::GenericStub stub(channel);
    stream_ = stub.PrepareCall(&context_, "/kernelmill.v1.Extractor/Extract", &ends_.queue());
    stream_->StartCall(&context_);
    ends_.Await(&context_);
    stream_->Read(&answer_, answered());
  }

  // The end of this comes with the answer, or with a refusal.
  void* answered() { return &answer_; }

  void Send(const v1::ExtractRequest& request) {
    const grpc::Slice bytes(request.SerializeAsString());
    stream_->WriteLast(grpc::ByteBuffer(&bytes, 1), {}, &stream_);
    ends_.Await(&stream_);
  }

  grpc::Status End() {
    grpc::Status status;
    stream_->Finish(&status, &status);
    ends_.Await(&status);
    return status;
  }

 private:
  Ends& ends_;
  grpc::ClientContext context_;
  grpc::ByteBuffer answer_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
};

// Over a socket: the transport within a process does not let a server answer before it has read.
TEST(LimitedExtractorTest, ACallBeyondTheLimitIsRefusedByNameAndALaterOneIsNot) {
  const TempDir dir = *TempDir::Create();
  const std::string address = absl::StrCat("unix:", dir.path(), "/service");
  const auto service = NewExtractorService({.each = 1, .all = 1});
  const auto server = *rpc::Server::Start({address}, {service.get()});
  const std::shared_ptr<grpc::Channel> channel = rpc::Connect(address);

  // Neither sends its request: one has the place, and the other one ends.
  Ends ends;
  HeldCall a(channel, ends);
  HeldCall b(channel, ends);
  const bool a_is_refused = ends.AwaitEither(a.answered(), b.answered()) == a.answered();
  HeldCall& refused = a_is_refused ? a : b;
  HeldCall& holder = a_is_refused ? b : a;
  EXPECT_FALSE(ends.Await(refused.answered()));
  const grpc::Status refusal = refused.End();
  EXPECT_EQ(refusal.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refusal.error_message(), HasSubstr("--max-calls-per-caller is 1: unix has 1 calls"));

  holder.Send({});
  EXPECT_TRUE(ends.Await(holder.answered()));
  EXPECT_TRUE(holder.End().ok());

  grpc::ClientContext context;
  v1::ExtractResponse response;
  const grpc::Status later = v1::Extractor::NewStub(channel)->Extract(&context, {}, &response);
  EXPECT_TRUE(later.ok()) << later.error_message();
}

}  // namespace
}  // namespace kernelmill::extractor
