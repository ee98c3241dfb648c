// Tests a store that requires grants, and the names of its callers, over TLS.

#include "common/access/grants.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/access/credentials.h"
#include "common/base/file.h"
#include "common/cas/blob_store.h"
#include "common/cas/digest.h"
#include "common/cas/grpc_blob_store.h"
#include "common/cas/result_origin.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"
#include "services/store/server/store_server.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

class GrantsTest : public ::testing::Test {
 protected:
  GrantsTest() {
    const std::string made = absl::StrCat(KERNELMILL_CERTS_SH, " ", dir_.path(),
                                          " store/store worker/w3 worker/w4 >/dev/null");
    EXPECT_EQ(std::system(made.c_str()), 0) << made;
    key_ = *access::GrantKey::Open(dir_.path() + "/grant.key");  // certs.sh makes it
    store_ = *StoreServer::Open({.data_dir = dir_.path() + "/data", .grants = key_});
    server_ = *rpc::Server::Start(
        {.address = "127.0.0.1:0", .credentials = *access::ServerCredentials(Of("store"))},
        store_->services());
  }

  access::Identity Of(const std::string& name) const {
    return {.certificate = absl::StrCat(dir_.path(), "/", name, ".crt"),
            .key = absl::StrCat(dir_.path(), "/", name, ".key"),
            .authority = dir_.path() + "/ca.crt"};
  }
  std::unique_ptr<cas::BlobStore> As(const std::string& worker) const {
    return cas::NewGrpcBlobStore(rpc::Connect(absl::StrCat("127.0.0.1:", server_->port()),
                                              *access::ChannelCredentials(Of(worker))),
                                 {});
  }
  std::string Sign(const std::string& worker, absl::Duration life = absl::Hours(1)) const {
    return key_->Sign({.action = cas::ToString(kAction),
                       .stage = "extract",
                       .version = 11,
                       .caller = "worker " + worker,
                       .expiry = absl::Now() + life});
  }
  absl::Status Put(const std::string& worker, const std::string& grant) const {
    cas::ActionResult result;
    cas::SetStage("extract", 11, &result);
    cas::SetWorker("w9", &result);
    const auto store = As(worker);
    return dynamic_cast<cas::GrantedResults&>(*store).PutGrantedResult(kAction, result, grant);
  }

  const cas::Digest kAction = cas::ComputeDigest("an action");
  TempDir dir_ = *TempDir::Create();
  std::shared_ptr<access::GrantKey> key_;
  std::unique_ptr<StoreServer> store_;
  std::unique_ptr<rpc::Server> server_;
};

TEST_F(GrantsTest, WhoHasTheTasksGrantWritesItsResultUnderTheNameOfItsCertificate) {
  ASSERT_THAT(Put("w3", Sign("w3")), IsOk());
  const auto kept = As("w4")->GetActionResult(kAction);
  ASSERT_THAT(kept, IsOk());
  EXPECT_EQ(cas::ReadOrigin(*kept).worker, "w3") << "whatever it calls itself";
  EXPECT_EQ(cas::ReadOrigin(*kept).stage, "extract");
}

TEST_F(GrantsTest, WithoutItNothingIsWrittenAndTheRefusalSaysWhatAndByWhom) {
  const auto refused = [this](const std::string& worker, const std::string& grant) {
    const absl::Status status = Put(worker, grant);
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(kAction.hash()), HasSubstr(absl::StrCat("by worker ", worker))));
    return std::string(status.message());
  };
  EXPECT_THAT(refused("w3", ""), HasSubstr("the grant is missing"));
  EXPECT_THAT(refused("w4", Sign("w3")), HasSubstr("given to worker w3"));
  EXPECT_THAT(refused("w3", Sign("w3", -absl::Hours(1))), HasSubstr("expired"));
  std::string forged = Sign("w3");
  forged.front() ^= 1;
  EXPECT_THAT(refused("w3", forged), HasSubstr("not signed"));
  EXPECT_FALSE(As("w3")->GetActionResult(kAction).ok());
}

}  // namespace
}  // namespace kernelmill::store
