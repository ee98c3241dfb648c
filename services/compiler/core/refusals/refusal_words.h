#ifndef KERNELMILL_SERVICES_COMPILER_CORE_REFUSALS_REFUSAL_WORDS_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_REFUSALS_REFUSAL_WORDS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::compiler {

// The words of one compiler: fragments of its messages, and what they say of a kernel.
struct RefusalWords {
  // A message that holds the fragment says that something is missing: {"MathDx", "library"}.
  struct Missing {
    absl::string_view fragment;
    absl::string_view missing;
  };

  absl::Span<const absl::string_view> package;  // names of the compiler's package in its errors
  absl::Span<const Missing> missing;
  absl::Span<const absl::string_view> never_taken;  // no arguments change it
};

// Decides whether a refusal of a kernel is an error of the kernel. The first row that holds:
//
//   a row of FindMissing (harness_words.h)         unknown, as there
//   a fragment of `missing`                        unknown, as the table says
//   the same try compiles for another target       error: the target cannot
//   a fragment of `never_taken`                    error
//   something of the signature was guessed         unknown, "type:NAME" or "constexpr:NAME": the
//                                                  first that was
//   anything else                                  error
void JudgeRefusal(const RefusalWords& words, const v1::KernelSignature& signature,
                  bool compiles_elsewhere, v1::CompileResult& result);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_REFUSALS_REFUSAL_WORDS_H_
