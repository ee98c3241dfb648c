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

// One HTTP/2 connection to a server, for one call at a time. Messages were encoded before the clock
// started, so that the client uses as little of the machine as possible. Not thread-safe.
class Connection {
 public:
  // Connects without TLS if there are no credentials.
  Connection(const std::string& target,
             const std::shared_ptr<grpc::ChannelCredentials>& credentials);
  ~Connection();

  // Returns UNAVAILABLE if the server does not answer in time.
  absl::Status WaitUntilReady();

  // Makes a unary call; `method` is "/package.Service/Method". Returns the encoded answer.
  absl::StatusOr<grpc::ByteBuffer> Call(const std::string& method, const grpc::ByteBuffer& request);

  // Sends a client stream. The server may answer before the end of the stream.
  absl::StatusOr<grpc::ByteBuffer> Send(const std::string& method,
                                        const std::vector<grpc::ByteBuffer>& requests);

  // Receives a server stream. Returns the size of its encoded messages.
  absl::StatusOr<int64_t> Receive(const std::string& method, const grpc::ByteBuffer& request);

 private:
  bool Next();  // waits for the current operation; returns true if it succeeded

  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
};

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_STORE_CONNECTION_H_
