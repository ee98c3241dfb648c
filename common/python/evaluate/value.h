#ifndef KERNELMILL_COMMON_PYTHON_EVALUATE_VALUE_H_
#define KERNELMILL_COMMON_PYTHON_EVALUATE_VALUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::python {

struct Frame;
struct Record;

// The value of an expression. Lists, dictionaries and records are shared, as Python shares them.
struct Value {
  enum class Type : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kList,
    kTuple,
    kDict,      // items: a key, its value, a key and so on, in the order of insertion
    kRecord,    // what Config(...) makes
    kFunction,  // of the file
    kText,      // of an argument of a record: an expression as it is written, since it is not known
  };
  using Items = std::vector<Value>;

  Type type = Type::kNone;
  int64_t integer = 0;  // a bool too
  double real = 0;
  std::string text;              // a string's, or a kText's
  std::shared_ptr<Items> items;  // of a list, tuple or dictionary
  std::shared_ptr<Record> record;
  NodeId function = kNoNode;       // function_definition or lambda
  const Frame* closure = nullptr;  // whose names a function sees

  static Value None() { return {}; }
  static Value Bool(bool value);
  static Value Int(int64_t value);
  static Value Float(double value);
  static Value String(absl::string_view value);
  static Value Text(absl::string_view value);
  static Value List(Items items) { return Sequence(Type::kList, std::move(items)); }
  static Value Tuple(Items items) { return Sequence(Type::kTuple, std::move(items)); }
  static Value Dict(Items items) { return Sequence(Type::kDict, std::move(items)); }
  static Value Sequence(Type type, Items items);

  bool IsNumber() const {
    return type == Type::kInt || type == Type::kFloat || type == Type::kBool;
  }
  bool IsSequence() const { return type == Type::kList || type == Type::kTuple; }
  double AsReal() const { return type == Type::kFloat ? real : static_cast<double>(integer); }
};

// The arguments of a Config(...), positional ones by their parameters' names.
struct Record {
  std::vector<std::pair<std::string, Value>> arguments;

  const Value* Find(absl::string_view name) const;
};

// As Python's bool(); nothing for what is not known.
std::optional<bool> Truth(const Value& value);

// As Python's repr(), of what holds no record or function; nothing above `max_bytes`.
std::optional<std::string> Repr(const Value& value, size_t max_bytes);

// Returns whether the value holds `other`, a list or dictionary, at any depth, or may do so once
// `steps` are spent. A container that would hold itself makes the value unknown: it would never be
// freed.
bool MayHold(const Value& value, const Value& other, int64_t& steps, int depth = 0);

// Python's operators over numbers, strings, lists and tuples. Nothing if Python refuses the
// operands, if the result does not fit into 64 bits, or if it has more than kMaxItems items or
// kMaxString bytes. The items that are read are taken from `steps`; nothing also if these do not
// suffice.
inline constexpr size_t kMaxItems = 1 << 16;
inline constexpr size_t kMaxString = 256;  // bytes
std::optional<Value> Arithmetic(absl::string_view sign, const Value& a, const Value& b,
                                int64_t& steps);
std::optional<bool> Compare(absl::string_view sign, const Value& a, const Value& b, int64_t& steps);

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_EVALUATE_VALUE_H_
