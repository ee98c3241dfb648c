#ifndef KERNELMILL_TESTS_BENCH_DEDUP_MADE_KERNELS_H_
#define KERNELMILL_TESTS_BENCH_DEDUP_MADE_KERNELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::bench {

// Makes any number of kernels, each a function of its number. They come in tens: seven are like no
// other, and three are copies of one of these with a few changed lines.
//
// Made kernels consist of statements of a few shapes, with their own names, functions and
// constants. The others are real kernels in which the names and numbers of three lines in five are
// replaced by some of all real ones, so that two copies of one kernel share a sixth of their lines.
class MadeKernels {
 public:
  // `real`: the kernels to change; none for made ones. It must outlive this.
  explicit MadeKernels(const v1::KernelShard& real);

  v1::Kernel Make(int64_t number) const;

 private:
  // A piece of a real kernel: what its tokens are replaced with, if its line is changed.
  struct Piece {
    enum Kind : uint8_t { kFixed, kName, kNumber };
    absl::string_view text;
    Kind kind;
  };
  using Line = std::vector<Piece>;

  std::vector<Line> CutLines(const v1::Kernel& kernel);
  void AppendChanged(const Line& line, uint64_t* state, std::string* text) const;
  std::string MakeText(int64_t number) const;
  v1::Kernel ChangeReal(int64_t number) const;

  const v1::KernelShard& real_;
  std::vector<std::vector<Line>> lines_;  // each real kernel's
  std::vector<absl::string_view> names_;  // as often as real kernels have them
  std::vector<absl::string_view> numbers_;
};

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_DEDUP_MADE_KERNELS_H_
