#ifndef KERNELMILL_COMMON_PYTHON_USAGE_USAGE_FINDER_H_
#define KERNELMILL_COMMON_PYTHON_USAGE_USAGE_FINDER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"
#include "common/python/usage/sizes.h"
#include "common/python/usage/usage_rules.h"
#include "common/python/usage/value_classifier.h"

namespace kernelmill::python {

// A need of the body: what it asks of a value. A later one says more than an earlier one.
enum class Need : uint8_t {
  kAny,
  kStoredFloat,  // a float is stored there
  kStoredInt,    // an integer is
  kStoredInt64,  // one of 64 bits is
  kStoredBool,   // a comparison's outcome is
  kFloat,        // given to exp, log and the like
  kFloat32,      // one name is given it or a tensor of float32
  kInt,          // counted, compared with an index
  kBool,         // a mask or a condition
  kIndex,        // part of an address, a bound of a loop, divided or shifted as integers are
  kBits,         // & | ^ << >>
  kBits32,       // read as an integer of 32 bits, which a float's are as well
  kUint8,        // packed numbers or scales of tl.dot_scaled
  kInt8,         // read as another type of as many bits, or multiplied as integers by tl.dot
  kInt16,
  kInt32,
  kInt64,   // made a pointer
  kUint32,  // asserted
};

// Places of a tuple that are asked for: as many as the largest number, or as a constexpr says.
struct TuplePlaces {
  static constexpr int64_t kMost = 64;
  int64_t count = 0;  // 0: it is no tuple
  absl::string_view constexpr_name;
};

// The use of a parameter that is no constexpr, by level: of the value itself, of what is loaded
// from there, and of what is loaded from where that points to.
struct ArgumentUsage {
  static constexpr size_t kLevels = 3;
  struct Level {
    Need need = Need::kAny;
    UsageRule rule = UsageRule::kNoRule;  // kNoRule: nothing is asked
  };
  std::array<Level, kLevels> levels;
  bool pointer = false;       // memory is accessed there
  bool descriptor = false;    // by its own methods: x.load([i])
  bool none_checked = false;  // compared with None
  TuplePlaces places;         // of a tuple: x[i], where i is a number when it is compiled
  absl::string_view element;  // "uint8" of static_assert(x.dtype.element_ty == tl.uint8); or empty
  // For a descriptor, by dimension: the constexpr that the offset is a multiple of, which is then
  // as large as the block; empty if it is unknown.
  std::vector<absl::string_view> block;
};

// The use of a constexpr.
struct ConstexprUsage {
  bool condition = false;  // an if depends on it, alone or in `and`, `or` and `not`
  bool dtype = false;      // a type: x.to(D), dtype=D
  bool shape = false;      // of a tensor: arange, zeros, reshape, block shapes
  bool unrolled = false;   // a bound of static_range
  bool number = false;     // in arithmetic, or a bound of a loop
  bool integer = false;    // divided or shifted as integers are, or a bound of a loop
  bool called = false;
  bool place = false;  // it is a tuple's index: x[it]
  bool none_checked = false;
  bool dot = false;            // it is in a shape that tl.dot takes
  int order = -1;              // its place in the order of a block pointer
  int64_t least = 0;           // the least value that a shape divides: 256 for B // 32 // 8
  absl::string_view asserted;  // 1 of static_assert(B == 1)
  std::vector<const Expression*> choices;   // numbers that it is told apart by: B == 8
  const Expression* multiple_of = nullptr;  // C of static_assert(B % C == 0), C <= B
  std::vector<const Expression*>
      compared;               // literals and names that it is compared with, each once
  absl::string_view keyword;  // of a call that it is given to whole; the first
};

struct FunctionUsage {
  std::vector<ArgumentUsage> arguments;    // one a parameter
  std::vector<ConstexprUsage> constexprs;  // likewise
  // Parameters at the end of the strides of tensor descriptors, which have to be 1.
  absl::flat_hash_set<absl::string_view> unit_strides;
  bool three_dimensional = false;  // a tensor is made one: x[:, None, None]
  std::vector<SizeEquation> equations;
};

// The uses of parameters by the functions of a module, for the compiler to infer types and values.
// Refers to the functions. Not thread-safe.
//
// The basic idea: each operation needs something of its operands: tl.exp(x) needs a float, i // x
// an integer, tl.load(x + i) that x points to memory. A need is followed back to the parameters:
// through all values of a local name, both branches of a condition, the address of a load (one
// level deeper: what is loaded has the need), and the results and arguments of the module's
// helpers. The strongest need of a parameter at a level is kept, with its rule. A name has all
// values that it is ever given, whatever the order of execution. Each need of a name is followed
// once, and all work is bounded by kMaxSteps, after which nothing more is learned.
class UsageFinder {
 public:
  static constexpr int64_t kMaxSteps = 2'000'000;
  static constexpr int kMaxCalls = 12;  // helpers in one another

  explicit UsageFinder(const ModuleFunctions& module) : module_(module) {}

  // Returns the uses of the function's parameters, computed once. While the function is being read,
  // in a recursion, it returns what is known by then.
  const FunctionUsage& FindUsage(const Function& function);

 private:
  struct Scope;

  void Walk(Scope& scope, const Expression& expression);
  void VisitCall(Scope& scope, const Expression& call);
  bool VisitMemory(Scope& scope, const Expression& call, absl::string_view name);
  absl::string_view FindStep(Scope& scope, const Expression& offset, int depth = 0);
  void VisitDescriptor(Scope& scope, const Expression& call);
  void VisitCast(Scope& scope, const Expression& call);
  void VisitHelper(Scope& scope, const Expression& call, const Function& helper);
  void VisitBinary(Scope& scope, const Expression& expression);
  void VisitCompare(Scope& scope, const Expression& expression);
  void VisitCondition(Scope& scope, const Expression& expression);
  void VisitDotScaled(Scope& scope, const Expression& call);
  void VisitDot(Scope& scope, const Expression& call, const Expression* accumulator);
  void VisitAssertion(Scope& scope, const Expression& condition);
  bool BeginsAsInteger(Scope& scope, const Expression& accumulator);
  void VisitAlternatives(Scope& scope);
  bool IsModuleConstant(const Scope& scope, const Expression& name) const;
  ArgumentUsage* FindElementType(Scope& scope, const Expression& expression, int depth = 0);
  void VisitSubscript(Scope& scope, const Expression& of, const Expression& index);
  void VisitPlace(Scope& scope, const Expression& of, const Expression& index);
  void VisitShape(Scope& scope, const Expression& expression);
  void RequireLeast(Scope& scope, const Expression& size, int64_t least, int depth = 0);
  int64_t FindNumber(Scope& scope, const Expression& expression, int depth = 0);
  // The sizes of a tensor; empty for a scalar or a pointer. A name that is given several values has
  // the first one's.
  using Shape = std::vector<Product>;
  std::optional<Product> FindSize(Scope& scope, const Expression& size, int depth);
  std::optional<Shape> FindShape(Scope& scope, const Expression& expression, int depth);
  std::optional<Shape> FindCallShape(Scope& scope, const Expression& call, int depth);
  std::optional<Shape> MakeShape(Scope& scope, const std::vector<const Expression*>& sizes);
  void VisitReshape(Scope& scope, const Expression& call);
  void VisitArange(Scope& scope, const Expression& call);
  void AddEqualSizes(Scope& scope, const Expression& left, const Expression& right);
  void AddEquation(Scope& scope, SizeEquation equation);
  void AddHelperEquations(Scope& scope, const Expression& call, const Function& helper,
                          const std::vector<SizeEquation>& theirs);
  void NeedNumbers(Scope& scope, const Expression& expression, UsageRule rule);

  // A need with the level of the value that has it, and the rule that found it.
  struct Demand {
    size_t level;
    Need need;
    UsageRule rule;
  };
  void Require(Scope& scope, const Expression& expression, Demand demand);
  void RequireName(Scope& scope, absl::string_view name, Demand demand);
  void RequireFromCall(Scope& scope, const Expression& call, Demand demand);
  void RequireFromReturn(Scope& scope, const Expression& call, const Function& helper,
                         Demand demand);
  ConstexprUsage* FindConstexpr(Scope& scope, const Expression& expression);

  bool LeadsToPointer(Scope& scope, const Expression& expression, int depth = 0);

  const ModuleFunctions& module_;
  absl::flat_hash_map<const Function*, std::unique_ptr<FunctionUsage>> known_;
  int64_t steps_left_ = kMaxSteps;
  int calls_ = 0;
};

// A function that UsageFinder looks at, and what it has learned of it so far.
struct UsageFinder::Scope {
  const Function& function;
  FunctionUsage& usage;
  absl::flat_hash_set<std::string> followed;  // names with level and need
  ValueClassifier classes;
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_USAGE_FINDER_H_
