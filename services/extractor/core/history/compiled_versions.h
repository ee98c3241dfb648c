#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_COMPILED_VERSIONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_COMPILED_VERSIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// The kernels of a history that a job compiles, each distinct one once: many versions are
// equal, since the text after a commit is the text before the next one.
//
// The basic idea: a record has only what compilers read, and no place, so that equal kernels have
// equal records. Records are sorted by their hash, and hashes decide where a shard ends: a new
// commit then changes only the shards that its kernels fall into, and the others need not be
// compiled again. Not thread-safe.
class CompiledVersions {
 public:
  struct Limits {
    // A shard ends after one of so many hashes, and before it has more kernels or bytes than these.
    uint64_t mean_kernels = 32;
    int max_kernels = 128;
    size_t max_bytes = 4u << 20;
  };

  // `job`: the toolchains and targets of the job; none if it does not compile.
  explicit CompiledVersions(v1::CompileParams job) : job_(std::move(job)) {}

  // Adds a kernel, and returns its key; empty if the job does not compile it.
  std::string Add(const v1::Kernel& kernel);

  // Returns the place of a key among all kernels. Call it after the last Add.
  int64_t GetPlace(const std::string& key);

  // Writes the kernels in shards, in the order of their places. Errors are those of `write`.
  absl::Status Write(const std::function<absl::Status(const v1::KernelShard&)>& write,
                     const Limits& limits) const;

 private:
  const v1::CompileParams job_;
  std::map<std::string, v1::Kernel> kernels_;  // by the hash of their bytes
  std::map<std::string, int64_t> places_;      // made by the first GetPlace
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_COMPILED_VERSIONS_H_
