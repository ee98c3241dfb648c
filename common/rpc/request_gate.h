#ifndef KERNELMILL_COMMON_RPC_REQUEST_GATE_H_
#define KERNELMILL_COMMON_RPC_REQUEST_GATE_H_

#include <cstdint>
#include <memory>

namespace grpc {
class Service;
}

namespace kernelmill::rpc {

// A gate before the methods of a server that take one request: it looks at the request before it is
// parsed, and lets in only as many calls at a time as the memory for them allows, of one caller and
// of all. The others wait, or are refused where too many wait. Thread-safe.
class RequestGate {
 public:
  // `memory_bytes`: for the requests and answers of calls that are handled.
  explicit RequestGate(int64_t memory_bytes);
  ~RequestGate();

  // Puts the gate before the methods of a service that is not served yet. What already has a gate
  // keeps it. The service may outlive this object.
  void Guard(grpc::Service& service) const;

 private:
  class Limits;
  class Handler;
  const std::shared_ptr<Limits> limits_;
};

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_REQUEST_GATE_H_
