#ifndef KERNELMILL_CLIENT_EVALUATE_SAMPLE_RESULT_H_
#define KERNELMILL_CLIENT_EVALUATE_SAMPLE_RESULT_H_

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/evaluate/kernel_services.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::client {

// Something that is measured, by group:
//
//   static     of each sample 1 or 0: `parses`, `has_kernel`, and the validator's checks: 1 where
//   it
//              has a kernel and each of them passes that can be asked to; absent where none can.
//              `masked_accesses`: the share of its loads and stores that are masked
//   overlap    with the reference, 0 to 1: `exact_match` (but for white space around it),
//              `word_overlap`, `token_overlap` (5-token shingles), `structural_overlap` (the same
//              with local names, strings and numbers folded), `edit_similarity`
//   compile    1: ok, 0: error or unknown. Its name is "TOOLCHAIN TARGET", or "any", which is ok
//              where one of them is
//   decided    the same, absent where it is unknown
//   memorised  1 or 0: `exact`, `near`, `structural`, by the best match of its kernels, `any` of
//   the
//              three; `similarity` of that match, 0 without one
//   pass@K     of each task, of the decided samples; pass@K of all: of all its samples, where
//              unknown counts as failed. Names are those of compile
struct Measure {
  std::string group;
  std::string name;

  auto operator<=>(const Measure&) const = default;
};

inline constexpr char kStatic[] = "static";
inline constexpr char kOverlap[] = "overlap";
inline constexpr char kCompile[] = "compile";
inline constexpr char kDecided[] = "decided";
inline constexpr char kMemorised[] = "memorised";

// The problem of a sample without any code.
inline constexpr char kNoCode[] = "there is no code";

// What one compiler made of a sample for one target.
struct CompileOutcome {
  std::string toolchain;
  std::string target;
  v1::CompileStatus status = v1::COMPILE_STATUS_UNSPECIFIED;
  std::string message;  // why it is not ok
};

struct SampleResult {
  std::map<Measure, double> values;
  std::vector<std::string> problems;  // what the static checks found, a line each
  std::vector<CompileOutcome> compiles;
  std::optional<DatasetMatch> match;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_SAMPLE_RESULT_H_
