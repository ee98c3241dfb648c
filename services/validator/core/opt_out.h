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

// What people asked not to be in a dataset, of one source. Keeps a reference to the tree.
class OptOuts {
 public:
  // INVALID_ARGUMENT: a path is no glob.
  static absl::StatusOr<OptOuts> Create(
      const v1::SourceTree& tree, const google::protobuf::RepeatedPtrField<v1::OptOut>& entries);

  // Rejects the kernel:
  //   "opt_out"           it, or its file, is named
  //   "opt_out:module"    a part of its module is of a file that is
  //   "opt_out:launcher"  so is its launcher
  // A kernel of which a part is withheld would be another one, so it goes as a whole. Entries say
  // nothing of what another source lends: a source that an entry names lends nothing, which the
  // plan sees to.
  void Reject(const v1::Kernel& kernel, v1::Verdict* verdict);

 private:
  explicit OptOuts(job::SourceOptOut names) : names_(std::move(names)) {}

  // Whether the file is named.
  bool NamesFile(const std::string& path);
  std::string ReasonFor(const v1::Kernel& kernel);

  job::SourceOptOut names_;
  absl::flat_hash_map<absl::string_view, absl::string_view> hashes_;  // of the tree's files
  absl::flat_hash_map<std::string, bool> files_;                      // that were asked for
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_OPT_OUT_H_
