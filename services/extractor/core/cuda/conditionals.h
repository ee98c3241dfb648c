#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CONDITIONALS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CONDITIONALS_H_

#include <cstdint>
#include <vector>

#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// Bytes of a text.
struct ByteSpan {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// Which branches of #if ... #endif a place of a text stands in. An include guard is none of them.
class Conditionals {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // A branch of a conditional; outside of all of them the conditional is kNone.
  struct Place {
    uint32_t conditional = kNone;
    uint32_t branch = 0;

    bool operator==(const Place& other) const {
      return conditional == other.conditional && branch == other.branch;
    }
  };

  explicit Conditionals(const Code& code);

  Place At(uint32_t offset) const;
  // The branch that a conditional stands in.
  Place Around(const Place& place) const { return all_[place.conditional].around; }
  // The lines that lead into a branch: its #if, and #elif or #else up to its own.
  std::vector<ByteSpan> Lines(const Place& place) const;
  // `span` with the whole of each conditional that it begins or ends in the midst of.
  ByteSpan Whole(ByteSpan span) const;

 private:
  struct Conditional {
    Place around;
    std::vector<ByteSpan> lines;  // of each branch
    uint32_t end;                 // of the #endif's line
  };
  struct Change {
    uint32_t offset;
    Place place;  // from there on
  };

  uint32_t DepthOf(Place place) const;

  std::vector<Conditional> all_;
  std::vector<Change> changes_;  // in the order of the text
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CONDITIONALS_H_
