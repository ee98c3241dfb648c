#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_VALUE_FLOW_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_VALUE_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/tags/code_text.h"

namespace kernelmill::extractor {

// How a value came about; a set of them is one number.
enum ValueTrait : uint16_t {
  kLoaded = 1 << 0,    // from memory
  kComputed = 1 << 1,  // of loaded values, by more than a cast or a change of shape
  kReduced = 1 << 2,
  kScanned = 1 << 3,
  kRandom = 1 << 4,
  kGathered = 1 << 5,     // loaded from where a loaded value says
  kAccumulated = 1 << 6,  // loaded values were added to what began as none
  kIndex = 1 << 7,        // loaded, and not from where segments begin and end: offsets, lengths
};
using ValueTraits = uint16_t;

// What flows into the stores of a kernel.
//
// The basic idea: statements are read one after another, twice for the sake of loops. A name has
// the traits of all that is assigned to it anywhere; an expression has those of the names, loads
// and calls in it. What an address is made of does not flow into what is loaded from it, but for
// its being gathered. No branch, no scope and no type is known: good for telling what kind of
// operation a kernel does, and for nothing else.
//
// Loads are calls that languages' tables name, and subscripts: of parameters in Pallas, of anything
// in C. Linear in the text, up to a depth of brackets; total on any.
class ValueFlow {
 public:
  struct Store {
    ValueTraits address = 0;
    ValueTraits value = 0;
  };

  // `helpers`: what calls of the functions of these names bring.
  ValueFlow(const CodeText& code, const std::vector<TokenSpan>& body,
            const absl::flat_hash_set<absl::string_view>& parameters,
            const absl::flat_hash_map<absl::string_view, ValueTraits>& helpers);

  const std::vector<Store>& stores() const { return stores_; }
  // Additions and the like to memory.
  const std::vector<Store>& atomics() const { return atomics_; }
  bool loads() const { return loads_; }
  // A root is taken of something that was summed up.
  bool root_of_sum() const { return root_of_sum_; }

 private:
  struct Called {
    ValueTraits traits = 0;
    bool computes = false;  // of loaded values
  };

  void Run(TokenSpan statement);
  void RunLoopHeader(TokenSpan statement);
  bool UsesTarget(TokenSpan left, TokenSpan right) const;
  bool Accumulates(TokenSpan left, ValueTraits traits) const;
  void Assign(TokenSpan left, ValueTraits traits);
  bool AssignElement(TokenSpan left, ValueTraits traits);
  ValueTraits TraitsOf(TokenSpan expression, int depth);
  ValueTraits TraitsOfSubscript(size_t name, size_t close, int depth);
  Called TraitsOfCall(size_t name, TokenSpan arguments, size_t begin, int depth);
  ValueTraits ValueOf(absl::string_view name) const;
  bool IsDereference(size_t star, size_t begin, size_t end) const;
  bool IsSubscripted(absl::string_view name) const;
  bool NamesSegments(TokenSpan expression) const;

  const CodeText& code_;
  const absl::flat_hash_set<absl::string_view>& parameters_;
  const absl::flat_hash_map<absl::string_view, ValueTraits>& helpers_;
  // Parameters that hold where segments begin and end.
  absl::flat_hash_set<absl::string_view> segments_;
  bool first_pass_ = true;
  absl::flat_hash_map<absl::string_view, ValueTraits> values_;
  absl::flat_hash_map<absl::string_view, ValueTraits> contents_;  // of what is subscripted
  std::vector<Store> stores_;
  std::vector<Store> atomics_;
  bool loads_ = false;
  bool root_of_sum_ = false;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_VALUE_FLOW_H_
