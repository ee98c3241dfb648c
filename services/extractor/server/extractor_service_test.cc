#include "services/extractor/server/extractor_service.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "common/rpc/server.h"
#include "kernelmill/v1/stages.grpc.pb.h"

namespace kernelmill::extractor {
namespace {

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

}  // namespace
}  // namespace kernelmill::extractor
