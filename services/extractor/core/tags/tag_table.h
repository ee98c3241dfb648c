#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAG_TABLE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAG_TABLE_H_

#include <cstdint>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::extractor {

// The vocabulary of operation tags, as data: tag_table.cc has it, tags.h says how it is used.
//
// Phrases are whole words, run together: "layernorm" is layer_norm, LayerNorm and layernorm
// (phrases.h).

// What the code, helpers included, must show before a phrase gives a tag. Python alone; of a kernel
// that calls what its module does not have nothing is asked.
enum class Needs : uint8_t {
  kNothing,
  kProduct,    // a dot, a sum, or what is summed up in a loop
  kNoProduct,  // no dot
  kReduction,
  kSelection,  // of the largest or smallest
  kScores,    // a dot, a reduction or an exponential: attention's; of C too, but for the name's own
  kConstant,  // a store of what is not loaded
};

struct TagRule {
  using List = std::initializer_list<absl::string_view>;

  absl::string_view tag;
  List words = {};       // in any of the names, the docstring's first sentence or the path
  List own_words = {};   // in the kernel's own name alone: elsewhere they may mean anything
  List parameters = {};  // in the name of a parameter
  List calls = {};       // last parts of what is called, helpers included; '*' ends a prefix
  List weak_calls = {};  // the same, where nothing else gave a tag
  List unless =
      {};  // beside a phrase, and without a dot, these words say that it is about something else
  Needs needs = Needs::kNothing;
  absl::string_view also = {};  // a broader tag that comes with it
  // Says how rather than what, as gather does: does not end the search for what the kernel is.
  bool generic = false;
};

// Sorted by tag.
absl::Span<const TagRule> TagRules();

// Phrases that hide the words that they are made of: fbgemm is no gemm.
TagRule::List OtherPhrases();

// Words of a direction, which is the tag "backward" or no tag.
TagRule::List BackwardWords();
TagRule::List ForwardWords();

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAG_TABLE_H_
