#ifndef KERNELMILL_TESTS_BENCH_STORE_CONNECTION_H_
#define KERNELMILL_TESTS_BENCH_STORE_CONNECTION_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grpc {
class ChannelCredentials;
}

namespace kernelmill::bench {

// One HTTP/2 connection to a server, with one call at a time on it. Messages are bytes that were
// encoded before the clock started, so that the client takes as little of the machine as it can.
// Not thread-safe.
class Connection {
 public:
  // Without TLS where there are no credentials.
  Connection(const std::string& target,
             const std::shared_ptr<grpc::ChannelCredentials>& credentials);
  ~Connection();

  // UNAVAILABLE: nobody answers in time.
  absl::Status WaitUntilReady();

  // A unary call; `method` is "/package.Service/Method". The answer, not decoded.
  absl::StatusOr<grpc::ByteBuffer> Call(const std::string& method, const grpc::ByteBuffer& request);

  // A client stream; the server may answer before all is sent.
  absl::StatusOr<grpc::ByteBuffer> Send(const std::string& method,
                                        const std::vector<grpc::ByteBuffer>& requests);

  // A server stream; the bytes of its messages, encoding included.
  absl::StatusOr<int64_t> Receive(const std::string& method, const grpc::ByteBuffer& request);

 private:
  bool Next();  // waits for the one operation under way; whether it went well

  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
};

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_STORE_CONNECTION_H_
