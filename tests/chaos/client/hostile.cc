// Invalid requests, which no real client sends.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "build/bazel/remote/execution/v2/remote_execution.grpc.pb.h"
#include "common/cas/digest.h"
#include "common/rpc/status.h"
#include "google/bytestream/bytestream.grpc.pb.h"
#include "kernelmill/v1/crawl.grpc.pb.h"
#include "kernelmill/v1/work.grpc.pb.h"
#include "tests/chaos/client/commands.h"

namespace kernelmill::chaos {
namespace {

namespace reapi = ::build::bazel::remote::execution::v2;
namespace bytestream = ::google::bytestream;

constexpr int kMillion = 1'000'000;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Makes a channel without the clients' limit on message sizes.
std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

void Tell(const std::string& what, const grpc::Status& status) {
  std::printf("%s\t%s\n", what.c_str(),
              absl::StatusCodeToString(rpc::FromGrpcStatus(status).code()).c_str());
}

class Context : public grpc::ClientContext {
 public:
  Context() { set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60))); }
};

reapi::Digest DigestWith(const std::string& hash, int64_t size) {
  reapi::Digest digest;
  digest.set_hash(hash);
  digest.set_size_bytes(size);
  return digest;
}

class Store {
 public:
  explicit Store(const std::shared_ptr<grpc::Channel>& channel)
      : cas_(reapi::ContentAddressableStorage::NewStub(channel)),
        cache_(reapi::ActionCache::NewStub(channel)),
        streams_(bytestream::ByteStream::NewStub(channel)) {}

  void Attack() {
    const std::string good(64, 'a');
    FindMany("a million digests", DigestWith(good, 1), kMillion);
    FindMany("a million empty digests", {}, kMillion);
    for (const auto& [what, digest] :
         {std::pair("a negative size", DigestWith(good, -1)),
          std::pair("the least size", DigestWith(good, kLeast)),
          std::pair("a short hash", DigestWith(good.substr(1), 1)),
          std::pair("a long hash", DigestWith(good + "a", 1)),
          std::pair("capitals", DigestWith(std::string(64, 'A'), 1)),
          std::pair("no digits", DigestWith(std::string(64, 'g'), 1)),
          std::pair("zero bytes", DigestWith(std::string(64, '\0'), 1)),
          std::pair("a path", DigestWith("../../../../etc/passwd", 1))}) {
      FindMany(absl::StrCat("find: ", what), digest, 1);
      Update(absl::StrCat("update: ", what), digest, "x");
      Read(absl::StrCat("read: ", what), digest);
      Result(absl::StrCat("result: ", what), digest);
    }
    Update("update: other bytes than the digest", cas::ComputeDigest("x"), "y");
    Update("update: a message over the limit", cas::ComputeDigest("x"), std::string(40 << 20, 'x'));
    Streams();
  }

 private:
  void FindMany(const std::string& what, const reapi::Digest& digest, int count) {
    Context context;
    reapi::FindMissingBlobsRequest request;
    for (int i = 0; i < count; ++i) *request.add_blob_digests() = digest;
    reapi::FindMissingBlobsResponse response;
    Tell(what, cas_->FindMissingBlobs(&context, request, &response));
  }

  // Returns the status of the batch's only blob, if the batch is accepted.
  void Update(const std::string& what, const reapi::Digest& digest, const std::string& bytes) {
    Context context;
    reapi::BatchUpdateBlobsRequest request;
    auto& blob = *request.add_requests();
    *blob.mutable_digest() = digest;
    blob.set_data(bytes);
    reapi::BatchUpdateBlobsResponse response;
    grpc::Status status = cas_->BatchUpdateBlobs(&context, request, &response);
    if (status.ok() && response.responses_size() == 1) {
      status = rpc::ToGrpcStatus(rpc::FromProtoStatus(response.responses(0).status()));
    }
    Tell(what, status);
  }

  void Read(const std::string& what, const reapi::Digest& digest) {
    Context context;
    reapi::BatchReadBlobsRequest request;
    *request.add_digests() = digest;
    reapi::BatchReadBlobsResponse response;
    grpc::Status status = cas_->BatchReadBlobs(&context, request, &response);
    if (status.ok() && response.responses_size() == 1) {
      status = rpc::ToGrpcStatus(rpc::FromProtoStatus(response.responses(0).status()));
    }
    Tell(what, status);
  }

  void Result(const std::string& what, const reapi::Digest& digest) {
    Context context;
    reapi::GetActionResultRequest request;
    *request.mutable_action_digest() = digest;
    reapi::ActionResult result;
    Tell(what, cache_->GetActionResult(&context, request, &result));
  }

  void Streams() {
    const std::string blob(1000, 'b');
    const std::string digest = cas::ToString(cas::ComputeDigest(blob));
    const std::string uploads = "uploads/6ba7b810-9dad-41d1-80b4-00c04fd430c8/blobs/";
    for (const std::string name : {"", "blobs", "nonsense/of/a/name", "blobs/zz/1", "blobs//"}) {
      ReadStream(absl::StrCat("stream read: '", name, "'"), name, 0, 0);
      WriteStream(absl::StrCat("stream write: '", name, "'"), name, 0, blob);
    }
    const std::string held = "a blob that is there";
    Update("", cas::ComputeDigest(held), held);
    const std::string name = absl::StrCat("blobs/", cas::ToString(cas::ComputeDigest(held)));
    ReadStream("stream read: a negative offset", name, -1, 0);
    ReadStream("stream read: an offset behind its end", name, 1000, 0);
    ReadStream("stream read: a negative limit", name, 0, -1);
    WriteStream("stream write: a negative offset", uploads + digest, -1, blob);
    WriteStream("stream write: a gap", uploads + digest, 500, blob);
    WriteStream("stream write: too few bytes", uploads + digest, 0, blob.substr(1));
    WriteStream("stream write: too many bytes", uploads + digest, 0, blob + "b");
    WriteStream("stream write: other bytes", uploads + digest, 0, std::string(1000, 'c'));
    WriteStream("stream write: a message over the limit", uploads + digest, 0,
                std::string(40 << 20, 'c'));
    WriteStream("stream write: a size beyond all",
                uploads + std::string(64, 'a') + "/9223372036854775807", 0, blob);
    WriteStream("stream write: a size that overflows",
                uploads + std::string(64, 'a') + "/99999999999999999999", 0, blob);
  }

  void ReadStream(const std::string& what, const std::string& name, int64_t offset, int64_t limit) {
    Context context;
    bytestream::ReadRequest request;
    request.set_resource_name(name);
    request.set_read_offset(offset);
    request.set_read_limit(limit);
    const auto stream = streams_->Read(&context, request);
    for (bytestream::ReadResponse piece; stream->Read(&piece);) {
    }
    Tell(what, stream->Finish());
  }

  void WriteStream(const std::string& what, const std::string& name, int64_t offset,
                   const std::string& bytes) {
    Context context;
    bytestream::WriteResponse response;
    const auto stream = streams_->Write(&context, &response);
    bytestream::WriteRequest request;
    request.set_resource_name(name);
    request.set_write_offset(offset);
    request.set_data(bytes);
    request.set_finish_write(true);
    stream->Write(request);
    stream->WritesDone();
    Tell(what, stream->Finish());
  }

  const std::unique_ptr<reapi::ContentAddressableStorage::Stub> cas_;
  const std::unique_ptr<reapi::ActionCache::Stub> cache_;
  const std::unique_ptr<bytestream::ByteStream::Stub> streams_;
};

void LeaseWith(v1::Work::Stub& work, const std::string& what, int tasks, int wait_ms, int stages) {
  Context context;
  v1::LeaseRequest request;
  request.set_worker("hostile");
  request.set_max_tasks(tasks);
  request.set_wait_ms(wait_ms);
  for (int i = 0; i < stages; ++i) request.add_stages()->set_stage("none such");
  v1::LeaseResponse response;
  Tell(what, work.Lease(&context, request, &response));
}

void AttackWork(const std::shared_ptr<grpc::Channel>& channel) {
  const auto work = v1::Work::NewStub(channel);
  const int most = std::numeric_limits<int>::max();
  LeaseWith(*work, "lease: no stage", 1, 0, 0);
  LeaseWith(*work, "lease: a million stages", 1, 0, kMillion);
  LeaseWith(*work, "lease: no task", 0, 0, 1);
  LeaseWith(*work, "lease: negative tasks", -1, 0, 1);
  LeaseWith(*work, "lease: too many tasks", most, 0, 1);
  LeaseWith(*work, "lease: a negative wait", 1, -1, 1);
  LeaseWith(*work, "lease: an endless wait", 1, most, 1);
  v1::CompleteRequest completions;
  for (int i = 0; i < kMillion; ++i) completions.add_completions();
  v1::CompleteResponse completed;
  Context first;
  Tell("complete: a million", work->Complete(&first, completions, &completed));
  v1::CompleteRequest without;
  without.add_completions()->mutable_lease()->set_token(1);
  Context second;
  grpc::Status status = work->Complete(&second, without, &completed);
  if (status.ok() && completed.statuses_size() == 1) {
    status = rpc::ToGrpcStatus(rpc::FromProtoStatus(completed.statuses(0)));
  }
  Tell("complete: no outcome", status);
  v1::RenewRequest renewals;
  for (int i = 0; i < kMillion; ++i) renewals.add_leases();
  v1::RenewResponse renewed;
  Context third;
  Tell("renew: a million", work->Renew(&third, renewals, &renewed));
}

void SendSubmit(v1::Crawl::Stub& crawl, const std::string& what, const v1::SubmitRequest& request) {
  Context context;
  v1::SubmitResponse response;
  Tell(what, crawl.Submit(&context, request, &response));
}

void AttackCrawl(const std::shared_ptr<grpc::Channel>& channel) {
  const auto crawl = v1::Crawl::NewStub(channel);
  v1::SubmitRequest request;
  SendSubmit(*crawl, "submit: nothing", request);
  request.mutable_spec()->set_name("x");
  SendSubmit(*crawl, "submit: no source", request);
  for (int i = 0; i < kMillion; ++i) request.mutable_spec()->add_sources();
  SendSubmit(*crawl, "submit: a million sources", request);
  request.mutable_spec()->clear_sources();
  request.mutable_spec()->add_sources()->set_git("https://example.org/a");
  request.set_request_id(std::string(1 << 20, 'r'));
  SendSubmit(*crawl, "submit: an endless request id", request);
  request.set_request_id("");
  request.mutable_spec()->set_name(std::string(40 << 20, 'n'));
  SendSubmit(*crawl, "submit: a message over the limit", request);
}

}  // namespace

int Hostile(const Words& words) {
  Store(Connect(words[0])).Attack();
  AttackWork(Connect(words[1]));
  AttackCrawl(Connect(words[1]));
  return 0;
}

}  // namespace kernelmill::chaos
