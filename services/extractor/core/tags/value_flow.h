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

// A kind of function of kernel languages, by the last part of its name: dot of tl.dot and jnp.dot.
// A function may be of several kinds, so kinds are bits. The table is in value_flow.cc.
enum CallKind : uint32_t {
  kLoad = 1 << 0,
  kStore = 1 << 1,
  kDot = 1 << 2,
  kReduce = 1 << 3,
  kSum = 1 << 4,
  kMax = 1 << 5,
  kScan = 1 << 6,
  kRandomCall = 1 << 7,
  kExp = 1 << 8,
  kRoot = 1 << 9,
  kSelect = 1 << 10,  // picks the largest or smallest of several
  kAtomicUpdate = 1 << 11,
  kCopyCall = 1 << 12,  // copies blocks of memory
  kCast = 1 << 13,      // changes a type or shape and computes nothing
  kPlace = 1 << 14,     // returns a program's number, a size, an index or a constant
  kCrossLane =
      1 << 15,  // moves values in a way that no store shows: shuffles, atomics, loops by call
};

// Returns the set of kinds of a function; 0 if the table has no such name.
uint32_t GetCallKinds(absl::string_view name);

// A fact about where a value comes from.
enum ValueTrait : uint16_t {
  kLoaded = 1 << 0,    // from memory
  kComputed = 1 << 1,  // computed from loaded values, by more than a cast or a change of shape
  kReduced = 1 << 2,
  kScanned = 1 << 3,
  kRandom = 1 << 4,
  kGathered = 1 << 5,     // loaded from an address that a loaded value gives
  kAccumulated = 1 << 6,  // loaded values were added to a name that held none
  kIndex = 1 << 7,        // loaded from anything but a list of offsets or lengths of segments
};
using ValueTraits = uint16_t;  // a set

// The values that flow into the stores of a kernel.
//
// The basic idea: read the statements one after another, twice, because in a loop a value flows
// back to statements before it. A name has the traits of everything that is assigned to it
// anywhere. An expression has the traits of the names, loads and calls in it. The traits of an
// address do not flow into the value that is loaded from it, except that the value counts as
// gathered if a loaded value gave the address. Branches, scopes and types are ignored. That is
// enough to tell what kind of operation a kernel does, and for nothing more.
//
// Loads are the calls that the table of call kinds names, and subscripts: of parameters in Pallas,
// of anything in C. Total on any text; linear in it, up to a bounded depth of brackets.
class ValueFlow {
 public:
  struct Store {
    ValueTraits address = 0;
    ValueTraits value = 0;
  };

  // `helpers` has the traits of the results of helpers, by name.
  ValueFlow(const CodeText& code, const std::vector<TokenSpan>& body,
            const absl::flat_hash_set<absl::string_view>& parameters,
            const absl::flat_hash_map<absl::string_view, ValueTraits>& helpers);

  const std::vector<Store>& stores() const { return stores_; }
  // Atomic updates of memory.
  const std::vector<Store>& atomics() const { return atomics_; }
  bool loads() const { return loads_; }
  // Returns whether a root of a reduced value is taken.
  bool root_of_sum() const { return root_of_sum_; }

 private:
  struct Called {
    ValueTraits traits = 0;
    bool computes = false;  // from loaded values
  };

  void Run(TokenSpan statement);
  void RunLoopHeader(TokenSpan statement);
  bool UsesTarget(TokenSpan left, TokenSpan right) const;
  bool Accumulates(TokenSpan left, ValueTraits traits) const;
  void Assign(TokenSpan left, ValueTraits traits);
  bool AssignElement(TokenSpan left, ValueTraits traits);
  ValueTraits ReadExpression(TokenSpan expression, int depth);
  ValueTraits ReadSubscript(size_t name, size_t close, int depth);
  Called ReadCall(size_t name, TokenSpan arguments, size_t begin, int depth);
  ValueTraits GetTraits(absl::string_view name) const;
  bool IsDereference(size_t star, size_t begin, size_t end) const;
  bool IsSubscripted(absl::string_view name) const;
  bool NamesSegments(TokenSpan expression) const;

  const CodeText& code_;
  const absl::flat_hash_set<absl::string_view>& parameters_;
  const absl::flat_hash_map<absl::string_view, ValueTraits>& helpers_;
  // Parameters that hold offsets or lengths of segments.
  absl::flat_hash_set<absl::string_view> segments_;
  bool first_pass_ = true;
  absl::flat_hash_map<absl::string_view, ValueTraits> values_;
  absl::flat_hash_map<absl::string_view, ValueTraits> contents_;  // stored by subscripts
  std::vector<Store> stores_;
  std::vector<Store> atomics_;
  bool loads_ = false;
  bool root_of_sum_ = false;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_VALUE_FLOW_H_
