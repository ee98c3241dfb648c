#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAG_TABLE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAG_TABLE_H_

#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::extractor {

// The vocabulary of operation tags, as data. tags.h explains how it is used.
//
// Phrases are whole words, written together: "layernorm" is layer_norm, LayerNorm and layernorm
// (phrases.h).

// A condition on a kernel's code, helpers included, for a phrase to give a tag. Checked for Python
// only, and not for kernels whose module lacks something that they use.
enum class Needs : uint8_t {
  kNothing,
  kProduct,    // a dot, a sum, or an accumulation in a loop
  kNoProduct,  // no dot
  kReduction,
  kSelection,  // picks the largest or smallest
  kScores,     // attention: a dot, a reduction or an exponential. Checked for C as well, except for
               // phrases in the kernel's own name
  kConstant,   // a store of a value that was not loaded
};

// A tag and what gives it.
struct TagRule {
  using List = std::initializer_list<absl::string_view>;

  absl::string_view tag;
  List words = {};       // phrases in any name, the docstring's first sentence or the path
  List own_words = {};   // phrases in the kernel's own name only; elsewhere they may mean anything
  List parameters = {};  // phrases in the name of a parameter
  List calls = {};       // last parts of called names, helpers included; '*' ends a prefix
  List weak_calls = {};  // the same, but only if nothing else gave a tag
  // Words beside a phrase that make it mean something else, if the kernel has no dot.
  List unless = {};
  Needs needs = Needs::kNothing;
  absl::string_view also = {};  // a broader tag that comes with this one
  // The tag says how the kernel works rather than what it does, as gather does. It does not end the
  // search for tags in further names.
  bool generic = false;
};

// Sorted by tag.
absl::Span<const TagRule> TagRules();

// Phrases that hide the words that they are made of: fbgemm is no gemm.
TagRule::List OtherPhrases();

// Words for a direction. A kernel gets the tag "backward" or none.
TagRule::List BackwardWords();
TagRule::List ForwardWords();

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAG_TABLE_H_
