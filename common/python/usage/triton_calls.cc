#include "common/python/usage/triton_calls.h"

#include <algorithm>
#include <iterator>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace kernelmill::python {
namespace {

// The traits of a function whose arguments are integers.
CallTraits Numbers(UsageRule rule, bool gives_index, bool shape = false) {
  CallTraits traits;
  traits.numbers = true;
  traits.rule = rule;
  traits.gives_index = gives_index;
  traits.shape = shape;
  return traits;
}

// The traits of a function whose result is made of its first argument, or of its first two. A need
// of the result is a need of these.
CallTraits Passes(bool two = false, bool shape = false) {
  CallTraits traits;
  traits.passes = true;
  traits.passes_two = two;
  traits.shape = shape;
  return traits;
}

// The functions of triton.language that say anything about types, sizes or addresses. One that is
// missing here passes nothing on and needs nothing.
absl::flat_hash_map<absl::string_view, CallTraits> MakeTraits() {
  absl::flat_hash_map<absl::string_view, CallTraits> table;
  table["arange"] = Numbers(UsageRule::kRange, true, true);
  table["range"] = table["static_range"] = Numbers(UsageRule::kRange, true);
  table["cdiv"] = Numbers(UsageRule::kCdiv, true);
  for (absl::string_view name :
       {"rand", "randn", "randint", "rand4x", "randn4x", "randint4x", "philox"}) {
    table[name] = Numbers(UsageRule::kRandom, name.find("int") != absl::string_view::npos);
  }
  // Integers, whatever the arguments are.
  CallTraits index;
  index.gives_index = true;
  for (absl::string_view name :
       {"program_id", "num_programs", "argmax", "argmin", "next_power_of_2"}) {
    table[name] = index;
  }
  // They take floats and give floats, so that their arguments need to be floats.
  CallTraits floats;
  floats.floats = true;
  for (absl::string_view name :
       {"exp",   "exp2", "log",  "log2",   "log1p", "expm1", "sqrt",    "sqrt_rn",
        "rsqrt", "sin",  "cos",  "tan",    "tanh",  "erf",   "sigmoid", "softmax",
        "floor", "ceil", "fdiv", "div_rn", "pow",   "atan",  "acos",    "asin"}) {
    table[name] = floats;
  }
  // The first argument in another shape or order, or reduced.
  for (absl::string_view name : {"expand_dims",
                                 "trans",
                                 "permute",
                                 "ravel",
                                 "flip",
                                 "max_contiguous",
                                 "multiple_of",
                                 "max_constancy",
                                 "advance",
                                 "make_block_ptr",
                                 "make_tensor_descriptor",
                                 "sum",
                                 "max",
                                 "min",
                                 "cumsum",
                                 "sort",
                                 "abs",
                                 "clamp",
                                 "xor_sum",
                                 "gather",
                                 "interleave",
                                 "split",
                                 "item"}) {
    table[name] = Passes();
  }
  for (absl::string_view name : {"broadcast_to", "reshape", "view"})
    table[name] = Passes(false, true);
  for (absl::string_view name : {"minimum", "maximum", "broadcast", "join", "cat"})
    table[name] = Passes(true);
  CallTraits shape;
  shape.shape = true;
  table["zeros"] = table["full"] = shape;
  return table;
}

}  // namespace

// Functions, and methods of descriptors of the same name.
MemoryAccess GetMemoryAccess(absl::string_view function) {
  if (function == "load" || function == "_experimental_descriptor_load" ||
      function == "buffer_load" || function == "load_tensor_descriptor") {
    return MemoryAccess::kLoad;
  }
  if (function == "store" || function == "_experimental_descriptor_store" ||
      function == "buffer_store" || function == "store_tensor_descriptor") {
    return MemoryAccess::kStore;
  }
  if (function == "atomic_add" || function == "atomic_max" || function == "atomic_min")
    return MemoryAccess::kAtomic;
  if (function == "atomic_and" || function == "atomic_or" || function == "atomic_xor")
    return MemoryAccess::kBitwise;
  if (function == "atomic_cas" || function == "atomic_xchg") return MemoryAccess::kCompareAndSwap;
  return MemoryAccess::kNone;
}

// A name that the table lacks has no traits.
CallTraits GetCallTraits(absl::string_view function) {
  static const auto& table = *new absl::flat_hash_map<absl::string_view, CallTraits>(MakeTraits());
  const auto found = table.find(function);
  return found == table.end() ? CallTraits{} : found->second;
}

// x.T is a value, as x is; every other attribute is taken for a module.
bool IsMethodOfValue(const Function& function, const Expression& callee) {
  if (callee.kind != Expression::kAttribute) return false;
  const Expression* of = callee.parts[0];
  if (of->kind == Expression::kAttribute) return of->name == "T";
  if (of->kind != Expression::kName) return true;
  return function.Find(of->name) >= 0 || function.values.contains(of->name);
}

int CountBits(absl::string_view type) {
  if (absl::StartsWith(type, "float8") || type == "int8" || type == "uint8") return 8;
  if (type == "float16" || type == "bfloat16" || type == "int16" || type == "uint16") return 16;
  if (type == "float32" || type == "int32" || type == "uint32") return 32;
  if (type == "float64" || type == "int64" || type == "uint64") return 64;
  return 0;
}

bool IsFloatLiteral(absl::string_view number) {
  if (absl::StartsWithIgnoreCase(number, "0x")) return false;
  return number.find_first_of(".eE") != absl::string_view::npos;
}

bool NamesPointer(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  return absl::StrContains(lower, "ptr") || absl::StrContains(lower, "pointer");
}

bool Accesses(absl::string_view function) {
  const absl::string_view stem = function.substr(0, function.find('_'));
  if (stem == "ld" || stem == "st") return true;
  return function == "load" || function == "store" || absl::EndsWith(function, "_load") ||
         absl::EndsWith(function, "_store") || absl::StrContains(function, "atomic_") ||
         absl::StartsWith(function, "async_copy") || absl::EndsWith(function, "load_to_shared");
}

bool MakesDescriptor(absl::string_view function) {
  return function == "make_block_ptr" || absl::EndsWith(function, "make_tensor_descriptor");
}

bool HandsOn(absl::string_view function) {
  static constexpr absl::string_view kNames[] = {
      "advance",       "broadcast_to",   "cast",       "make_block_ptr",
      "max_constancy", "max_contiguous", "multiple_of"};
  return std::find(std::begin(kNames), std::end(kNames), function) != std::end(kNames);
}

bool IsView(absl::string_view method) {
  static constexpr absl::string_view kNames[] = {
      "_reinterpret", "advance", "bitcast", "broadcast_to", "cast", "expand_dims", "index",
      "permute",      "reshape", "slice",   "subslice",     "to",   "trans",       "view"};
  return std::find(std::begin(kNames), std::end(kNames), method) != std::end(kNames);
}

bool IsRange(absl::string_view function) {
  return function == "range" || absl::EndsWith(function, "_range");
}

}  // namespace kernelmill::python
