// Many concurrent calls of one kind.
#include <grpc/byte_buffer.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/access/credentials.h"
#include "common/rpc/server.h"
#include "common/worker/stage_table.h"
#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/stages.pb.h"
#include "kernelmill/v1/work.pb.h"
#include "tests/chaos/client/commands.h"

namespace kernelmill::chaos {
namespace {

// A server accepts 256 concurrent calls on one connection; further calls would wait in the client.
constexpr int kCallsPerConnection = 200;

std::string FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::shared_ptr<grpc::ChannelCredentials> Credentials() {
  access::Identity identity;
  identity.authority = FromEnvironment("KERNELMILL_TLS_CA");
  identity.certificate = FromEnvironment("KERNELMILL_TLS_CERT");
  identity.key = FromEnvironment("KERNELMILL_TLS_KEY");
  const auto credentials = access::ChannelCredentials(identity);
  if (!credentials.ok()) {
    std::fprintf(stderr, "%s\n", credentials.status().ToString().c_str());
    std::exit(2);
  }
  return *credentials == nullptr ? grpc::InsecureChannelCredentials() : *credentials;
}

struct Request {
  std::string method;
  std::string bytes;
  int times = 1;            // how often the message has the bytes
  bool compressed = false;  // by gzip
};

Request MakeSubmit(int sources, size_t source_bytes) {
  v1::SubmitRequest request;
  request.mutable_spec()->set_name("storm");
  for (int i = 0; i < sources; ++i) {
    const std::string start = absl::StrCat("https://git.example/", i, "/");
    const size_t fill = source_bytes > start.size() ? source_bytes - start.size() : 1;
    request.mutable_spec()->add_sources()->set_git(start + std::string(fill, 'r'));
  }
  return {"/kernelmill.v1.Crawl/Submit", request.SerializeAsString()};
}

Request MakeLease(const std::string& stage, int wait_ms) {
  v1::LeaseRequest request;
  request.set_worker("storm");
  request.set_max_tasks(1);
  request.set_wait_ms(wait_ms);
  v1::StageName& name = *request.add_stages();
  name.set_stage(stage);
  const worker::StageInfo* const info = worker::FindStage(stage);
  name.set_version(info == nullptr ? 0 : info->version);
  return {"/kernelmill.v1.Work/Lease", request.SerializeAsString()};
}

Request MakeExtract(size_t bytes, int files) {
  constexpr char kFunction[] = "@triton.jit\ndef kernel_%(x_ptr, n):\n    tl.store(x_ptr, n + %)\n";
  v1::ExtractRequest request;
  for (int f = 0; f < files; ++f) {
    v1::SourceFile& file = *request.add_files();
    file.set_path(absl::StrCat("f", f, ".py"));
    std::string text = "import triton\nimport triton.language as tl\n";
    for (int i = 0; text.size() + 100 < bytes / static_cast<size_t>(files); ++i) {
      text += absl::StrReplaceAll(kFunction, {{"%", absl::StrCat(i)}});
    }
    file.set_content(text);
  }
  return {"/kernelmill.v1.Extractor/Extract", request.SerializeAsString()};
}

Request MakeWatch(const std::string& job) {
  v1::WatchRequest request;
  request.set_job(job);
  return {"/kernelmill.v1.Crawl/Watch", request.SerializeAsString()};
}

// Makes a message that is small on the wire, and large once it is inflated: zeros.
Request MakeBomb(const std::string& method, int mebibytes) {
  const std::string zeros(1 << 20, '\0');
  std::string bomb(int64_t{mebibytes} << 12, '\0');  // gzip makes a thousandth of zeros
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, /*windowBits=*/15 | 16, /*memLevel=*/8,
               Z_DEFAULT_STRATEGY);
  stream.next_out = reinterpret_cast<Bytef*>(bomb.data());
  stream.avail_out = static_cast<uInt>(bomb.size());
  for (int i = 0; i < mebibytes; ++i) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
    stream.avail_in = static_cast<uInt>(zeros.size());
    deflate(&stream, i + 1 < mebibytes ? Z_NO_FLUSH : Z_FINISH);
  }
  bomb.resize(stream.total_out);
  deflateEnd(&stream);
  return {method, bomb, 1, /*compressed=*/true};
}

// Makes a buffer whose bytes are compressed already, which gRPC's C++ interface does not offer.
grpc::ByteBuffer MakeBuffer(std::vector<grpc_slice> slices, bool compressed) {
  grpc::ByteBuffer made;
  grpc::Status status;
  grpc::internal::UnaryDeserializeHelper(
      compressed
          ? grpc_raw_compressed_byte_buffer_create(slices.data(), slices.size(), GRPC_COMPRESS_GZIP)
          : grpc_raw_byte_buffer_create(slices.data(), slices.size()),
      &status, &made);
  return made;
}

// Makes a message that is large once it is parsed: empty messages, of two bytes each, in field 2,
// or in field 2 of field 1.
Request MakeGrains(const std::string& method, int mebibytes) {
  std::string grains;
  while (grains.size() < (1 << 20)) grains += std::string("\x12\0", 2);
  if (method != "/kernelmill.v1.Crawl/Submit") return {method, grains, mebibytes};
  v1::SubmitRequest request;
  for (int i = 0; i < mebibytes << 19; ++i) request.mutable_spec()->add_sources();
  return {method, request.SerializeAsString()};
}

// Makes a message of one long string in field 1.
Request MakeName(const std::string& method, size_t bytes) {
  v1::WatchRequest request;
  request.set_job(std::string(bytes, 'n'));
  return {method, request.SerializeAsString()};
}

Request MakeRequest(const Words& words) {
  const std::string &kind = words[3], &first = words[4];
  const int second = std::atoi(words[5].c_str());
  if (kind == "submits") return MakeSubmit(std::atoi(first.c_str()), second);
  if (kind == "leases") return MakeLease(first, second);
  if (kind == "extracts") return MakeExtract(std::strtoull(first.c_str(), nullptr, 10), second);
  if (kind == "watches") return MakeWatch(first);
  if (kind == "bombs") return MakeBomb(first, second);
  if (kind == "grains") return MakeGrains(first, second);
  if (kind == "names") return MakeName(first, second);
  std::fprintf(stderr, "chaos_client: no such storm: %s\n", kind.c_str());
  std::exit(2);
}

struct Call {
  grpc::ClientContext context;
  grpc::Status status;
  grpc::ByteBuffer answer;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
};

class Calls {
 public:
  Calls(std::string address, Request request)
      : address_(std::move(address)),
        method_(std::move(request.method)),
        slice_(request.bytes),
        body_(MakeBuffer(std::vector<grpc_slice>(request.times, slice_.c_slice()),
                         request.compressed)),
        compressed_(request.compressed) {}

  void Start() {
    if (started_++ % kCallsPerConnection == 0) stubs_.push_back(NewStub());
    auto* const call = new Call;
    if (compressed_) call->context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    call->reader = stubs_.back()->PrepareUnaryCall(&call->context, method_, body_, &queue_);
    call->reader->StartCall();
    call->reader->Finish(&call->answer, &call->status, call);
  }

  // Waits for one answer and writes it.
  void Await() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    const std::unique_ptr<Call> call(static_cast<Call*>(tag));
    const auto code = static_cast<absl::StatusCode>(call->status.error_code());
    std::printf("%s\t%s\n", absl::StatusCodeToString(code).c_str(),
                call->status.error_message().c_str());
  }

 private:
  // Uses a separate connection; channels to one address normally share one.
  std::unique_ptr<grpc::GenericStub> NewStub() {
    grpc::ChannelArguments arguments;
    arguments.SetInt("chaos.connection", started_);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    return std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(address_, credentials_, arguments));
  }

  const std::string address_, method_;
  const grpc::Slice slice_;  // one copy of the bytes, which all calls share
  const grpc::ByteBuffer body_;
  const bool compressed_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_ = Credentials();
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  grpc::CompletionQueue queue_;
  int started_ = 0;
};

}  // namespace

int Storm(const Words& words) {
  const int count = std::atoi(words[1].c_str());
  const int at_once = std::min(count, std::atoi(words[2].c_str()));
  rpc::Connect(words[0]);  // configures the library
  Calls calls(words[0], MakeRequest(words));
  for (int i = 0; i < at_once; ++i) calls.Start();
  std::puts("begun");
  for (int ended = 0; ended < count; ++ended) {
    calls.Await();
    if (ended + at_once < count) calls.Start();
  }
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace kernelmill::chaos
