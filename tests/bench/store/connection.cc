#include "tests/bench/store/connection.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "common/base/status.h"
#include "common/rpc/server.h"
#include "common/rpc/status.h"

namespace kernelmill::bench {
namespace {

std::chrono::system_clock::time_point In(std::chrono::seconds time) {
  return std::chrono::system_clock::now() + time;
}

std::shared_ptr<grpc::Channel> NewChannel(
    const std::string& target, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a separate connection
  arguments.SetMaxReceiveMessageSize(rpc::kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(rpc::kMaxMessageBytes);
  return grpc::CreateCustomChannel(
      target, credentials ? credentials : grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

Connection::Connection(const std::string& target,
                       const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : channel_(NewChannel(target, credentials)), stub_(channel_) {}

// A queue must be drained before it is destroyed.
Connection::~Connection() {
  queue_.Shutdown();
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) {
  }
}

absl::Status Connection::WaitUntilReady() {
  if (channel_->WaitForConnected(In(std::chrono::seconds(30)))) return absl::OkStatus();
  return absl::UnavailableError("cannot connect");
}

// Waits for the only operation under way. Returns false if the call is over.
bool Connection::Next() {
  void* tag;
  bool ok = false;
  return queue_.Next(&tag, &ok) && ok;
}

absl::StatusOr<grpc::ByteBuffer> Connection::Call(const std::string& method,
                                                  const grpc::ByteBuffer& request) {
  grpc::ClientContext context;
  context.set_deadline(In(std::chrono::minutes(5)));
  const auto call = stub_.PrepareUnaryCall(&context, method, request, &queue_);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  Next();
  RETURN_IF_ERROR(rpc::FromGrpcStatus(status));
  return response;
}

// Writes one message after another, each after the one before was taken. Stops if the server ends
// the call early; the status then has the reason.
absl::StatusOr<grpc::ByteBuffer> Connection::Send(const std::string& method,
                                                  const std::vector<grpc::ByteBuffer>& requests) {
  grpc::ClientContext context;
  context.set_deadline(In(std::chrono::minutes(5)));
  const auto call = stub_.PrepareCall(&context, method, &queue_);
  call->StartCall(nullptr);
  bool open = Next();
  for (size_t i = 0; open && i < requests.size(); ++i) {
    grpc::WriteOptions options;
    if (i + 1 == requests.size()) options.set_last_message();
    call->Write(requests[i], options, nullptr);
    open = Next();
  }
  grpc::ByteBuffer response;
  call->Read(&response, nullptr);
  Next();
  grpc::Status status;
  call->Finish(&status, nullptr);
  Next();
  RETURN_IF_ERROR(rpc::FromGrpcStatus(status));
  return response;
}

absl::StatusOr<int64_t> Connection::Receive(const std::string& method,
                                            const grpc::ByteBuffer& request) {
  grpc::ClientContext context;
  context.set_deadline(In(std::chrono::minutes(5)));
  const auto call = stub_.PrepareCall(&context, method, &queue_);
  call->StartCall(nullptr);
  if (Next()) {
    call->WriteLast(request, {}, nullptr);
    Next();
  }
  int64_t bytes = 0;
  while (true) {
    grpc::ByteBuffer piece;
    call->Read(&piece, nullptr);
    if (!Next()) break;
    bytes += static_cast<int64_t>(piece.Length());
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  Next();
  RETURN_IF_ERROR(rpc::FromGrpcStatus(status));
  return bytes;
}

}  // namespace kernelmill::bench
