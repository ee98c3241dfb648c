#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_OPT_OUT_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_OPT_OUT_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/job/opt_out.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::validator {

// The opt-outs of one source, which reject its kernels. Keeps a reference to the tree.
class OptOuts {
 public:
  // INVALID_ARGUMENT: a path is not a valid glob.
  static absl::StatusOr<OptOuts> Create(
      const v1::SourceTree& tree, const google::protobuf::RepeatedPtrField<v1::OptOut>& entries);

  // Rejects the kernel if an entry names it:
  //   "opt_out"           the kernel, or its file, is named
  //   "opt_out:module"    a part of its module comes from a file that is named
  //   "opt_out:launcher"  its launcher comes from a file that is named
  // A kernel without such a part would be a different kernel, so it is rejected as a whole. Entries
  // about this source do not cover text that other sources lend it. A source that an entry names
  // lends nothing; the plan sees to that.
  void Reject(const v1::Kernel& kernel, v1::Verdict* verdict);

 private:
  explicit OptOuts(job::SourceOptOut names) : names_(std::move(names)) {}

  // Returns whether an entry names the file.
  bool NamesFile(const std::string& path);
  std::string ReasonFor(const v1::Kernel& kernel);

  job::SourceOptOut names_;
  absl::flat_hash_map<absl::string_view, absl::string_view> hashes_;  // the tree's files
  absl::flat_hash_map<std::string, bool> files_;                      // files asked for before
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_OPT_OUT_H_
