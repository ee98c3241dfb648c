#ifndef KERNELMILL_TESTS_CONTRACT_BAZEL_REMOTE_H_
#define KERNELMILL_TESTS_CONTRACT_BAZEL_REMOTE_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace kernelmill::testing {

// A process of bazel-remote, another store of the Remote Execution API, with a new directory and
// its own socket. The destructor kills it. Not thread-safe.
class BazelRemote {
 public:
  // Returns the program that tests/peers/install_bazel_remote.sh installed, from
  // KERNELMILL_BAZEL_REMOTE; empty if it is missing.
  static std::string Program();

  // Returns UNAVAILABLE if it does not start in time, or INTERNAL if it cannot be executed.
  static absl::StatusOr<std::unique_ptr<BazelRemote>> Start();
  ~BazelRemote();

  // Its address, for rpc::Connect.
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
