#ifndef KERNELMILL_COMMON_TESTING_RPC_GENERIC_CALL_H_
#define KERNELMILL_COMMON_TESTING_RPC_GENERIC_CALL_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace kernelmill::testing {

// Makes a unary call with an empty message to any method ("/package.Service/Method"). Returns its
// status.
inline grpc::Status GenericCall(std::shared_ptr<grpc::Channel> channel, const std::string& method,
                                absl::Duration timeout) {
  grpc::GenericStub stub(std::move(channel));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  const grpc::Slice empty("");
  const grpc::ByteBuffer request(&empty, 1);
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  return status;
}

}  // namespace kernelmill::testing

#endif  // KERNELMILL_COMMON_TESTING_RPC_GENERIC_CALL_H_
