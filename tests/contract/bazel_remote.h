#ifndef KERNELMILL_TESTS_CONTRACT_BAZEL_REMOTE_H_
#define KERNELMILL_TESTS_CONTRACT_BAZEL_REMOTE_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace kernelmill::testing {

// A bazel-remote (a store of the Remote Execution API that others wrote and run) as a process, on a
// fresh directory and a socket of its own; killed with this object. Not thread-safe.
class BazelRemote {
 public:
  // Where tests/peers/install_bazel_remote.sh left it, as KERNELMILL_BAZEL_REMOTE says; empty if it
  // is not there.
  static std::string Program();

  // UNAVAILABLE: it does not start; INTERNAL: it cannot be run at all.
  static absl::StatusOr<std::unique_ptr<BazelRemote>> Start();
  ~BazelRemote();

  // For rpc::Connect.
  std::string address() const { return "unix:" + socket(); }

 private:
  explicit BazelRemote(TempDir dir) : dir_(std::move(dir)) {}
  std::string socket() const { return dir_.path() + "/socket"; }
  absl::Status Spawn();
  absl::Status WaitForSocket();

  TempDir dir_;
  pid_t pid_ = -1;
};

}  // namespace kernelmill::testing

#endif  // KERNELMILL_TESTS_CONTRACT_BAZEL_REMOTE_H_
