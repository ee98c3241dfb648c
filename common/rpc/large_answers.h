#ifndef KERNELMILL_COMMON_RPC_LARGE_ANSWERS_H_
#define KERNELMILL_COMMON_RPC_LARGE_ANSWERS_H_

#include <memory>
#include <string>

namespace grpc {
class Channel;
class ChannelCredentials;
}  // namespace grpc

namespace kernelmill::rpc {

// As Connect(), towards a server that is trusted with this process's memory: answers have 512 MiB
// at most. A worker's channel to its coordinator: the action of a stage that works on the whole job
// names each of its shards, with some 350 bytes.
std::shared_ptr<grpc::Channel> ConnectForLargeAnswers(
    const std::string& target, std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr);

}  // namespace kernelmill::rpc

#endif  // KERNELMILL_COMMON_RPC_LARGE_ANSWERS_H_
