#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CONDITIONALS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CONDITIONALS_H_

#include <cstdint>
#include <vector>

#include "services/extractor/core/cuda/lexer.h"

namespace kernelmill::extractor::cuda {

// Bytes [begin, end) of a text.
struct ByteSpan {
  uint32_t begin = 0;
  uint32_t end = 0;
};

// The branches of #if ... #endif around each place of a text. An include guard does not count as a
// conditional: the whole text is in it. Immutable.
class Conditionals {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // A branch of a conditional; `conditional` is kNone outside all conditionals.
  struct Place {
    uint32_t conditional = kNone;
    uint32_t branch = 0;

    bool operator==(const Place& other) const {
      return conditional == other.conditional && branch == other.branch;
    }
  };

  explicit Conditionals(const Code& code);

  Place At(uint32_t offset) const;
  // Returns the branch around the conditional of `place`.
  Place Around(const Place& place) const { return all_[place.conditional].around; }
  // Returns the lines that lead into a branch: its #if, and each #elif or #else up to the branch.
  std::vector<ByteSpan> Lines(const Place& place) const;
  // Widens `span` to hold all of each conditional that it begins or ends within.
  ByteSpan Whole(ByteSpan span) const;

 private:
  struct Conditional {
    Place around;
    std::vector<ByteSpan> lines;  // each branch's #if, #elif or #else
    uint32_t end;                 // of the #endif's line
  };
  struct Change {
    uint32_t offset;
    Place place;  // from `offset` on
  };

  uint32_t CountDepth(Place place) const;

  std::vector<Conditional> all_;
  std::vector<Change> changes_;  // in the order of the text
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CONDITIONALS_H_
