#include "services/extractor/server/extractor_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
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

// Over a socket: the transport within a process does not let a server answer before it has read.
class LimitedExtractorTest : public ::testing::Test {
 protected:
  LimitedExtractorTest() : dir_(*TempDir::Create()) {
    service_ = NewExtractorService({.each = 1, .all = 1});
    address_ = absl::StrCat("unix:", dir_.path(), "/service");
    server_ = *rpc::Server::Start({address_}, {service_.get()});
    stub_ = v1::Extractor::NewStub(rpc::Connect(address_));
  }

  TempDir dir_;
  std::string address_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<v1::Extractor::Stub> stub_;
};

TEST_F(LimitedExtractorTest, ACallBeyondTheLimitIsRefusedByNameAndALaterOneIsNot) {
  v1::ExtractRequest large;
  std::string text = "import triton\n";
  for (int i = 0; text.size() < (7u << 20); ++i) {
    absl::StrAppend(&text, "@triton.jit\ndef f", i, "(p):\n    return p + ", i, "\n");
  }
  large.add_files()->set_path("a.py");
  large.mutable_files(0)->set_content(text);
  std::thread first([&] {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
    v1::ExtractResponse response;
    stub_->Extract(&context, large, &response);
  });
  const v1::ExtractRequest small;
  grpc::Status refused;
  for (int i = 0; i < 1000 && refused.ok(); ++i) {
    grpc::ClientContext context;
    v1::ExtractResponse response;
    refused = stub_->Extract(&context, small, &response);
  }
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("--max-calls-per-caller is 1: unix has 1 calls"));
  first.join();
  grpc::Status later = refused;
  for (int i = 0; i < 600 && !later.ok(); ++i) {
    absl::SleepFor(absl::Milliseconds(100));  // the work goes on though its caller has gone
    grpc::ClientContext context;
    v1::ExtractResponse response;
    later = stub_->Extract(&context, small, &response);
  }
  EXPECT_TRUE(later.ok()) << later.error_message();
}

}  // namespace
}  // namespace kernelmill::extractor
