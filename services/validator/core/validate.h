#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_VALIDATE_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_VALIDATE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "kernelmill/v1/action.pb.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::validator {

inline constexpr char kFileKind[] = "file";  // the kind of a whole file

// Returns a verdict on every kernel, in order: its file's licence, its checks, and the rules that
// reject it:
//   "license:<expression>"      the policy does not allow it
//   "license:adapted:<origin>"  its file says that the code comes from there, the policy wants the
//                               origin's licence or notice in the tree, and the tree has neither
//   "quality:<check>"           it fails a required check that applies to it
//   "quality:min_score"         its score is lower than the policy's
//   "quality:min_tokens"        it has fewer lexical tokens than the policy wants
//   "quality:kind:<kind>"       the policy excludes its kind
//   "quality:target:<target>"   the policy names targets, and its own is not among them
//   "sensitive:<kind>"          it holds a secret or an address of a kind that the policy rejects
//   "opt_out", "opt_out:<text>" the kernel, or a text that comes with it, is opted out (opt_out.h)
//   "template"                  it becomes Python only once it is filled in (KernelForm); no policy
//                               allows it
// For a whole file (KERNEL_FORM_FILE) the licence, secrets and addresses, and the required checks
// license_permissive, handwritten and readable count. It is also rejected as "binary", "empty",
// "too_large", or as "sensitive:too_many" if it has more findings than are listed. Its kind is
// "file".
//
// Reads the files' heads and the tree's licence files and metadata. `compiled` has one result of
// the compilers for each kernel; null if the job does not compile, and then no verdict mentions
// compilers.
//
// INVALID_ARGUMENT: a kernel's file is not among the files, the policy names an unknown check, or
// `compiled` has another number of kernels.
absl::StatusOr<v1::VerdictShard> Validate(const v1::KernelShard& kernels,
                                          const v1::FileShard& files, const v1::SourceTree& tree,
                                          const v1::ValidateParams& params,
                                          const v1::CompiledShard* compiled = nullptr);

// Returns the counters of the stage for these verdicts: kernels.accepted, kernels.rejected.license,
// .quality, .sensitive, .opt_out and .template (a kernel counts once, by its gravest reason; whole
// files count only as training_files.accepted and so on), checks.<name> (kernels that pass),
// kinds.<kind>, targets.<target>, license.<expression> (at most 50 different ones; license.other
// for the rest).
std::map<std::string, int64_t> CountVerdicts(const v1::VerdictShard& verdicts);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_VALIDATE_H_
