#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/access/authorizer.h"
#include "common/access/credentials.h"
#include "common/access/roles.h"
#include "common/access/tokens.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/rpc/server.h"
#include "common/testing/rpc/generic_call.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "kernelmill/v1/coordinator.grpc.pb.h"
#include "kernelmill/v1/crawl.grpc.pb.h"
#include "kernelmill/v1/stages.grpc.pb.h"
#include "kernelmill/v1/store.grpc.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"

namespace kernelmill::access {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kSecret[] = "0123456789abcdefghij";

// Has certificates of one authority for every role, made by the script for operators.
class Certificates {
 public:
  explicit Certificates(const std::string& extra = "") : dir_(*TempDir::Create()) { Make(extra); }

  void Make(const std::string& arguments) const {
    std::string names;
    for (const Role role : AllRoles())
      absl::StrAppend(&names, " ", RoleName(role), "/", RoleName(role));
    const std::string command = absl::StrCat(KERNELMILL_CERTS_SH, " ", dir_.path(), " ", arguments,
                                             " store/server", names, " >/dev/null");
    if (std::system(command.c_str()) != 0) ADD_FAILURE() << command;
  }

  Identity Of(absl::string_view name) const {
    return {.certificate = File(absl::StrCat(name, ".crt")),
            .key = File(absl::StrCat(name, ".key")),
            .authority = File("ca.crt")};
  }
  std::string File(absl::string_view name) const { return absl::StrCat(dir_.path(), "/", name); }

 private:
  TempDir dir_;
};

// Answers every call with UNIMPLEMENTED, which shows that the call was admitted.
class Cluster {
 public:
  explicit Cluster(const Identity& identity)
      : server_(*rpc::Server::Start(
            {.address = "127.0.0.1:0",
             .reflection = true,
             .credentials = *ServerCredentials(identity)},
            {&crawl_, &work_, &extractor_, &compiler_, &validator_, &deduplicator_, &store_,
             &coordinator_, &cache_, &blobs_, &capabilities_, &stream_})) {}

  std::string address() const { return absl::StrCat("127.0.0.1:", server_->port()); }

  // Returns the status of a call with an empty request.
  grpc::Status Call(const Identity& identity, absl::string_view method) const {
    return Call(rpc::Connect(address(), *ChannelCredentials(identity)), method);
  }
  static grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel,
                           absl::string_view method) {
    // Watching health never ends, so DEADLINE_EXCEEDED shows that the call was admitted.
    const bool endless = absl::EndsWith(method, "/Watch") && absl::StrContains(method, "health");
    return kernelmill::testing::GenericCall(channel, std::string(method),
                                            absl::Seconds(endless ? 1 : 20));
  }

 private:
  v1::Crawl::Service crawl_;
  v1::Work::Service work_;
  v1::Extractor::Service extractor_;
  v1::Compiler::Service compiler_;
  v1::Validator::Service validator_;
  v1::Deduplicator::Service deduplicator_;
  v1::Store::Service store_;
  v1::Coordinator::Service coordinator_;
  build::bazel::remote::execution::v2::ActionCache::Service cache_;
  build::bazel::remote::execution::v2::ContentAddressableStorage::Service blobs_;
  build::bazel::remote::execution::v2::Capabilities::Service capabilities_;
  google::bytestream::ByteStream::Service stream_;
  std::unique_ptr<rpc::Server> server_;
};

bool WasRefused(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::PERMISSION_DENIED ||
         status.error_code() == grpc::StatusCode::UNAUTHENTICATED;
}

void AddMethods(const google::protobuf::FileDescriptor* file, std::set<std::string>* methods) {
  for (int s = 0; s < file->service_count(); ++s) {
    for (int m = 0; m < file->service(s)->method_count(); ++m) {
      methods->insert(absl::StrCat("/", file->service(s)->full_name(), "/",
                                   file->service(s)->method(m)->name()));
    }
  }
}

TEST(MethodTable, HasEveryMethodOfEveryServiceOnce) {
  std::set<std::string> methods = {
      "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch",
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"};
  for (const google::protobuf::FileDescriptor* file :
       {v1::SubmitRequest::descriptor()->file(), v1::LeaseRequest::descriptor()->file(),
        v1::ExtractRequest::descriptor()->file(), v1::HoldRequest::descriptor()->file(),
        v1::ListBackupsRequest::descriptor()->file(),
        build::bazel::remote::execution::v2::GetCapabilitiesRequest::descriptor()->file(),
        google::bytestream::ReadRequest::descriptor()->file()}) {
    AddMethods(file, &methods);
  }
  std::multiset<std::string> table;
  for (const MethodAccess& access : MethodTable()) table.insert(std::string(access.method));
  EXPECT_EQ(table, std::multiset<std::string>(methods.begin(), methods.end()));
}

TEST(MethodTable, OnlyWorkersWriteWhatDatasetsAreMadeOf) {
  for (const char* method :
       {"/build.bazel.remote.execution.v2.ActionCache/UpdateActionResult",
        "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs",
        "/google.bytestream.ByteStream/Write", "/kernelmill.v1.Work/Complete"}) {
    EXPECT_EQ(RoleNames(FindMethod(method)->roles), "worker") << method;
  }
}

TEST(MethodTable, OnlyOperatorsDestroy) {
  for (const char* method : {"/kernelmill.v1.Store/CollectGarbage", "/kernelmill.v1.Store/Verify",
                             "/kernelmill.v1.Store/Backup"}) {
    EXPECT_EQ(RoleNames(FindMethod(method)->roles), "operator") << method;
  }
}

TEST(Access, EveryRoleMayCallWhatTheTableAllowsItAndNothingElse) {
  const Certificates certificates;
  const Cluster cluster(certificates.Of("server"));
  for (const Role role : AllRoles()) {
    const auto channel =
        rpc::Connect(cluster.address(), *ChannelCredentials(certificates.Of(RoleName(role))));
    for (const MethodAccess& access : MethodTable()) {
      const grpc::Status status = Cluster::Call(channel, access.method);
      const bool allowed = Has(access.roles, role);
      EXPECT_NE(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
      EXPECT_EQ(!WasRefused(status), allowed)
          << RoleName(role) << " " << access.method << ": " << status.error_message();
    }
  }
}

TEST(Access, WithoutCertificateOrTokenOnlyHealthAnswers) {
  const Certificates certificates;
  const Cluster cluster(certificates.Of("server"));
  const Identity nobody = {.authority = certificates.File("ca.crt")};
  for (const MethodAccess& access : MethodTable()) {
    const grpc::Status status = cluster.Call(nobody, access.method);
    EXPECT_EQ(status.error_code() == grpc::StatusCode::UNAUTHENTICATED, !access.anyone)
        << access.method << ": " << status.error_message();
  }
}

TEST(Access, RefusalNamesTheRoleThatIsNeededAndTheCaller) {
  const Certificates certificates;
  const Cluster cluster(certificates.Of("server"));
  const grpc::Status status =
      cluster.Call(certificates.Of("client"), "/kernelmill.v1.Store/CollectGarbage");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(status.error_message(), HasSubstr("needs the role operator"));
  EXPECT_THAT(status.error_message(), HasSubstr("the caller is client client"));
}

TEST(Access, AnUnknownMethodIsForNobody) {
  const Certificates certificates;
  const Cluster cluster(certificates.Of("server"));
  EXPECT_THAT(
      cluster.Call(certificates.Of("operator"), "/kernelmill.v1.Store/Erase").error_message(),
      HasSubstr("needs the role none"));
}

TEST(Access, TokenGivesItsRole) {
  const Certificates certificates;
  const std::string token = absl::StrCat("client.ci.", kSecret);
  ASSERT_TRUE(
      WriteFile(certificates.File("tokens"), absl::StrCat(Sha256Hex(token), "  # ci\n")).ok());
  ASSERT_TRUE(WriteFile(certificates.File("token"), token + "\n").ok());
  Identity server = certificates.Of("server");
  server.tokens = certificates.File("tokens");
  const Cluster cluster(server);
  const Identity ci = {.authority = certificates.File("ca.crt"),
                       .token = certificates.File("token")};
  EXPECT_FALSE(WasRefused(cluster.Call(ci, "/kernelmill.v1.Crawl/Submit")));
  EXPECT_THAT(cluster.Call(ci, "/kernelmill.v1.Work/Lease").error_message(),
              HasSubstr("the caller is client ci"));
  ASSERT_TRUE(WriteFile(certificates.File("token"), absl::StrCat("worker.ci.", kSecret)).ok());
  EXPECT_EQ(cluster.Call(ci, "/kernelmill.v1.Work/Lease").error_code(),
            grpc::StatusCode::UNAUTHENTICATED)
      << "a role is not changed by writing another one before the secret";
}

// Returns the name that a handler sees of a caller with `identity` that also sends an unknown
// token.
std::string NameInHandler(const Identity& server, const Identity& identity) {
  class NamingService final : public v1::Crawl::Service {
   public:
    grpc::Status ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest*,
                          v1::ListJobsResponse* response) override {
      response->add_jobs()->set_job(CallerName(*context));
      return grpc::Status::OK;
    }
  } service;
  const auto running =
      *rpc::Server::Start({.address = "127.0.0.1:0", .credentials = *ServerCredentials(server)},
                          std::vector<grpc::Service*>{&service});
  const auto stub = v1::Crawl::NewStub(
      rpc::Connect(absl::StrCat("127.0.0.1:", running->port()), *ChannelCredentials(identity)));
  grpc::ClientContext context;
  context.AddMetadata("authorization", absl::StrCat("Bearer operator.root.", kSecret));
  v1::ListJobsResponse response;
  const grpc::Status status = stub->ListJobs(&context, v1::ListJobsRequest(), &response);
  return status.ok() ? response.jobs(0).job() : status.error_message();
}

TEST(Access, ATokenThatNobodyLookedUpNamesNobody) {
  const Certificates certificates;
  Identity server = certificates.Of("server");
  EXPECT_EQ(NameInHandler(server, certificates.Of("client")), "client client");
  EXPECT_EQ(NameInHandler(Identity{}, Identity{}), "") << "without TLS";
  ASSERT_TRUE(WriteFile(certificates.File("tokens"), "# none\n").ok());
  server.tokens = certificates.File("tokens");
  EXPECT_THAT(NameInHandler(server, certificates.Of("client")),
              HasSubstr("neither a certificate with a role nor a known token"));
}

TEST(Access, ForeignCertificateIsRefusedByBothSides) {
  const Certificates ours, theirs;
  const Cluster cluster(ours.Of("server"));
  Identity mixed = theirs.Of("client");
  mixed.authority = ours.File("ca.crt");
  const grpc::Status by_server = cluster.Call(mixed, "/kernelmill.v1.Crawl/ListJobs");
  EXPECT_EQ(by_server.error_code(), grpc::StatusCode::UNAVAILABLE) << by_server.error_message();
  const grpc::Status by_client = cluster.Call(theirs.Of("client"), "/kernelmill.v1.Crawl/ListJobs");
  EXPECT_EQ(by_client.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(by_client.error_message(), HasSubstr("certificate verify failed"));
}

TEST(Access, PlainConnectionToATlsServerFails) {
  const Certificates certificates;
  const Cluster cluster(certificates.Of("server"));
  EXPECT_EQ(cluster.Call(Identity{}, "/grpc.health.v1.Health/Check").error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST(Access, NewCertificatesAreTakenUpWithoutARestart) {
  const Certificates certificates;
  const Cluster cluster(certificates.Of("server"));
  const Certificates others;
  std::filesystem::copy(others.File("ca.crt"), certificates.File("ca.crt"),
                        std::filesystem::copy_options::overwrite_existing);
  for (const char* file : {"server.key", "server.crt"}) {
    std::filesystem::copy(others.File(file), certificates.File(file),
                          std::filesystem::copy_options::overwrite_existing);
  }
  grpc::Status status;
  for (int i = 0; i < 100; ++i) {
    status = cluster.Call(others.Of("client"), "/kernelmill.v1.Crawl/ListJobs");
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE) break;
    absl::SleepFor(absl::Milliseconds(100));
  }
  EXPECT_FALSE(WasRefused(status)) << status.error_message();
  EXPECT_NE(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
}

// Records the names under which its callers are counted.
class NotingService final : public v1::Crawl::Service {
 public:
  grpc::Status ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest*,
                        v1::ListJobsResponse*) override {
    key = CallerKey(*context);
    return grpc::Status::OK;
  }
  std::string key;
};

TEST(Callers, AreCountedByTheirName) {
  const Certificates certificates;
  NotingService service;
  const auto server = *rpc::Server::Start(
      {.address = "127.0.0.1:0", .credentials = *ServerCredentials(certificates.Of("server"))},
      {&service});
  const auto stub = v1::Crawl::NewStub(rpc::Connect(
      absl::StrCat("127.0.0.1:", server->port()), *ChannelCredentials(certificates.Of("client"))));
  grpc::ClientContext context;
  v1::ListJobsResponse response;
  ASSERT_TRUE(stub->ListJobs(&context, {}, &response).ok());
  EXPECT_EQ(service.key, "client client");
}

TEST(Callers, WithoutTlsAreCountedByTheirHostWhateverTheyClaim) {
  NotingService service;
  const auto server = *rpc::Server::Start({.address = "127.0.0.1:0"}, {&service});
  const auto stub = v1::Crawl::NewStub(rpc::Connect(absl::StrCat("127.0.0.1:", server->port())));
  grpc::ClientContext context;
  context.AddMetadata("authorization", absl::StrCat("Bearer operator.anyone.", kSecret));
  v1::ListJobsResponse response;
  ASSERT_TRUE(stub->ListJobs(&context, {}, &response).ok());
  EXPECT_EQ(service.key, "127.0.0.1");
}

TEST(Credentials, SayWhichFileIsWrong) {
  const Certificates certificates;
  Identity identity = certificates.Of("server");
  identity.key = certificates.File("none.key");
  EXPECT_THAT(ServerCredentials(identity).status().ToString(),
              AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("--tls-key: ")));
  identity = certificates.Of("server");
  identity.authority = identity.key;
  EXPECT_THAT(ServerCredentials(identity).status().ToString(),
              AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("--tls-ca: ")));
  EXPECT_THAT(ChannelCredentials({.token = certificates.File("token")}).status().ToString(),
              AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr("needs TLS")));
  EXPECT_EQ(*ServerCredentials({}), nullptr);
}

TEST(Tokens, HaveARoleANameAndASecret) {
  EXPECT_EQ(ParseClaim(absl::StrCat("worker.gpu-1.", kSecret))->name, "gpu-1");
  EXPECT_FALSE(ParseClaim(absl::StrCat("root.gpu-1.", kSecret)).has_value());
  EXPECT_FALSE(ParseClaim(absl::StrCat("worker..", kSecret)).has_value());
  EXPECT_FALSE(ParseClaim("worker.gpu-1.short").has_value());
  EXPECT_FALSE(ParseClaim("").has_value());
}

TEST(Tokens, AreReadAgainWhenTheFileChanges) {
  const TempDir dir = *TempDir::Create();
  const std::string path = dir.path() + "/tokens";
  const std::string token = absl::StrCat("client.ci.", kSecret);
  ASSERT_TRUE(WriteFile(path, "# none yet\n").ok());
  const auto tokens = *Tokens::Open(path);
  EXPECT_FALSE(tokens->Find(token).has_value());
  ASSERT_TRUE(WriteFile(path, Sha256Hex(token)).ok());
  for (int i = 0; i < 100 && !tokens->Find(token).has_value(); ++i)
    absl::SleepFor(absl::Milliseconds(50));
  EXPECT_TRUE(tokens->Find(token).has_value());
  ASSERT_TRUE(WriteFile(path, "nonsense").ok());
  EXPECT_THAT(Tokens::Open(path).status().ToString(),
              AllOf(HasSubstr("INVALID_ARGUMENT"), HasSubstr(":1: must be the SHA-256")));
}

}  // namespace
}  // namespace kernelmill::access
