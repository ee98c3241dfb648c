#include "services/extractor/core/tags/value_flow.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "common/code/brackets.h"
#include "services/extractor/core/tags/phrases.h"

namespace kernelmill::extractor {

// clang-format off
// Kinds of calls, and the flow of values through a kernel. An example:
//
//   i = tl.load(idx + r)     i: loaded, index
//   x = tl.load(p + i)       x: loaded, index, gathered: its address is an index
//   y = x * 2                y: also computed
//   tl.store(q + r, y)       a store with the traits of y, at an address without traits
// clang-format on

namespace {

using absl::string_view;

// Names of functions of one kind, in all kernel languages.
struct Entry {
  CallKind kind;
  std::initializer_list<string_view> names;
};

// A name may be in several rows: its kinds add up. `sum` reduces and sums, `max` reduces and
// selects.
const Entry kEntries[] = {
    {kLoad,
     {"load", "descriptor_load", "_experimental_descriptor_load", "ldg", "__ldg", "buffer_load",
      "ld", "load_tile", "vload", "async_copy_global_to_shared"}},
    {kStore,
     {"store", "descriptor_store", "_experimental_descriptor_store", "buffer_store", "st",
      "store_tile", "swap"}},
    {kDot,
     {"dot",
      "dot_scaled",
      "dot_fma",
      "dot_general",
      "dot_precise_without_tf32",
      "b_dot",
      "safe_dot",
      "async_dot",
      "async_dot_scaled",
      "ragged_dot",
      "matmul",
      "matmul_ogs",
      "einsum",
      "warpgroup_mma",
      "tcgen05_mma",
      "tcgen05_mma_scaled",
      "mma_v2",
      "mfma",
      "mfma_scaled",
      "wmma",
      "wmma_scaled",
      "wgmma",
      "mma",
      "mma_sync",
      "mma16816",
      "@"}},
    {kReduce,
     {"sum",
      "max",
      "min",
      "reduce",
      "argmax",
      "argmin",
      "xor_sum",
      "prod",
      "mean",
      "nanmean",
      "any",
      "all",
      "var",
      "reduce_or",
      "reduce_and",
      "reduce_max",
      "reduce_sum",
      "reduce_by",
      "__shfl_xor_sync",
      "__shfl_down_sync",
      "__shfl_xor",
      "__shfl_down",
      "shfl_xor",
      "shfl_down_sync",
      "__reduce_add_sync",
      "warp_reduce",
      "warp_reduce_sum",
      "warpReduce",
      "warpReduceSum",
      "warpReduceMax",
      "warpReduceAllSum",
      "WarpReduceSum",
      "block_reduce",
      "blockReduce",
      "blockReduceSum",
      "blockReduceMax",
      "BlockReduce",
      "Reduce",
      "Sum"}},
    {kSum, {"sum", "reduce"}},
    {kMax, {"max", "maximum", "fmaxf", "reduce_max"}},
    {kScan,
     {"cumsum", "cumprod", "cummax", "associative_scan", "InclusiveSum", "ExclusiveSum",
      "inclusive_scan", "exclusive_scan"}},
    {kRandomCall,
     {"rand", "randn", "randint", "rand4x", "randn4x", "randint4x", "philox", "curand_uniform",
      "curand_uniform4", "curand4", "curand_init", "prng_random_bits", "stateful_uniform"}},
    {kExp,
     {"exp", "exp2", "fast_expf", "__expf", "expf", "exp2f", "safe_exp", "fast_exp", "exp_approx"}},
    {kRoot, {"rsqrt", "sqrt", "sqrt_rn", "rsqrtf", "sqrtf", "__frsqrt_rn"}},
    {kSelect,
     {"topk", "sort", "argsort", "max", "min", "argmax", "argmin", "maximum", "reduce",
      "associative_scan", "bitonic_merge"}},
    {kAtomicUpdate,
     {"atomic_add", "atomic_max", "atomic_or", "buffer_atomic_add", "atomicAdd", "atomicMax",
      "atomicMin", "atomicInc", "gpuAtomicAdd", "gpuAtomicAddNoReturn", "fastAtomicAdd"}},
    {kCopyCall,
     {"async_copy", "sync_copy", "make_async_copy", "copy_smem_to_gmem", "copy_gmem_to_smem",
      "async_copy_smem_to_gmem"}},
    {kCast,
     {"to",        "cast",        "astype",         "type",     "static_cast", "broadcast_to",
      "broadcast", "expand_dims", "reshape",        "view",     "trans",       "permute",
      "transpose", "squeeze",     "unsqueeze",      "ravel",    "expand",      "flatten",
      "item",      "T",           "convert_layout", "constexpr"}},
    {kPlace, {"program_id",     "num_programs", "axis_index",
              "arange",         "iota",         "broadcasted_iota",
              "cdiv",           "multiple_of",  "max_contiguous",
              "zeros",          "zeros_like",   "ones",
              "ones_like",      "full",         "full_like",
              "make_block_ptr", "advance",      "make_tensor_descriptor",
              "range",          "static_range", "len",
              "float",          "int",          "ds",
              "dslice",         "when",         "static_assert",
              "device_assert",  "assume"}},
};

// A kind of all functions whose names begin with a prefix.
struct Prefix {
  CallKind kind;
  string_view prefix;
};

const Prefix kPrefixes[] = {
    {kCrossLane, "shfl"},       {kCrossLane, "__shfl"},    {kCrossLane, "ballot"},
    {kCrossLane, "__ballot"},   {kCrossLane, "atomic"},    {kCrossLane, "my_pe"},
    {kCrossLane, "n_pes"},      {kCrossLane, "num_ranks"}, {kCrossLane, "rank"},
    {kCrossLane, "while_loop"}, {kCrossLane, "fori_loop"}, {kCrossLane, "cond"},
};

}  // namespace

// The hash table answers for whole names. Prefixes are few and are tried one by one.
uint32_t GetCallKinds(string_view name) {
  static const auto& kinds = *[] {
    auto* by_name = new absl::flat_hash_map<string_view, uint32_t>;
    for (const Entry& entry : kEntries) {
      for (const string_view word : entry.names) (*by_name)[word] |= entry.kind;
    }
    return by_name;
  }();
  const auto found = kinds.find(name);
  uint32_t all = found == kinds.end() ? 0 : found->second;
  for (const Prefix& entry : kPrefixes) {
    if (absl::StartsWith(name, entry.prefix)) all |= entry.kind;
  }
  return all;
}

namespace {

constexpr int kMaxDepth = 48;  // brackets around code; deeper code has no traits

bool Computes(string_view token) {
  static const auto& operators = *new absl::flat_hash_set<string_view>(
      {"+", "-", "*", "/",  "//", "%",  "**", "&", "|",  "^",  "<<", ">>",
       "~", "<", ">", "==", "!=", "<=", ">=", "!", "&&", "||", "@",  "?"});
  return operators.contains(token);
}

bool Augments(string_view token) {
  static const auto& operators = *new absl::flat_hash_set<string_view>(
      {"+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=", "@="});
  return operators.contains(token);
}

// Returns whether a parameter's name says that it holds the offsets or lengths of segments:
// cu_seqlens, indptr. A value that is loaded from there is no index, so that a kernel of ragged
// rows is no gather.
bool HoldsSegments(string_view parameter) {
  static const auto& words = *new absl::flat_hash_set<string_view>(
      {"offset",  "offsets", "seqlen", "seqlens", "len",    "lens",  "length",
       "lengths", "cu",      "cum",    "start",   "starts", "begin", "end",
       "ends",    "bins",    "indptr", "ptrs",    "size",   "sizes"});
  const std::vector<std::string> own = NameWords(parameter);
  return std::any_of(own.begin(), own.end(),
                     [&](const std::string& word) { return words.contains(word); });
}

// Returns the traits that a call of these kinds adds to those of its arguments.
ValueTraits OwnTraits(uint32_t kinds, ValueTraits arguments) {
  ValueTraits traits = 0;
  if ((kinds & kDot) != 0) traits |= kLoaded;
  if ((kinds & kReduce) != 0 && (arguments & kLoaded) != 0) traits |= kReduced;
  if ((kinds & kScan) != 0) traits |= kScanned;
  if ((kinds & kRandomCall) != 0) traits |= kRandom;
  return traits;
}

}  // namespace

ValueFlow::ValueFlow(const CodeText& code, const std::vector<TokenSpan>& body,
                     const absl::flat_hash_set<string_view>& parameters,
                     const absl::flat_hash_map<string_view, ValueTraits>& helpers)
    : code_(code), parameters_(parameters), helpers_(helpers) {
  for (const string_view parameter : parameters) {
    if (HoldsSegments(parameter)) segments_.insert(parameter);
  }
  // The second pass sees what later statements of a loop assigned. Stores are collected anew in
  // each pass, so that those of the second one count.
  for (const bool first : {true, false}) {
    first_pass_ = first;
    stores_.clear();
    atomics_.clear();
    for (const TokenSpan statement : body) Run(statement);
  }
}

// Returns the traits of all values that the name had so far; 0 for a name that nothing was assigned
// to.
ValueTraits ValueFlow::GetTraits(string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0 : found->second;
}

// Returns whether a subscript of the name is memory. In Python only that of a parameter is: a
// reference of Pallas.
bool ValueFlow::IsSubscripted(string_view name) const {
  return code_.is_c() || parameters_.contains(name);
}

// Returns whether the first name of an expression is a parameter that holds segments.
bool ValueFlow::NamesSegments(TokenSpan expression) const {
  for (size_t at = expression.begin; at < expression.end; ++at) {
    if (code_.IsName(at)) return segments_.contains(code_[at]);
  }
  return false;
}

// An assignment is split at its first '=' outside brackets. All other statements are expressions.
void ValueFlow::Run(TokenSpan statement) {
  if (!code_.is_c() && code_[statement.begin] == "for") return RunLoopHeader(statement);
  for (size_t at = statement.begin; at < statement.end; ++at) {
    const string_view token = code_[at];
    if (code::IsOpeningBracket(token)) {
      at = code_.FindClose(at, statement.end);
      continue;
    }
    const bool augmented = Augments(token);
    if (token != "=" && !augmented) continue;
    const TokenSpan left = {statement.begin, at};
    const TokenSpan right = {at + 1, statement.end};
    ValueTraits traits = ReadExpression(right, 0);
    if (augmented && (traits & kLoaded) != 0) traits |= kComputed;
    if ((augmented || UsesTarget(left, right)) && Accumulates(left, traits)) {
      traits |= kAccumulated;
    }
    return Assign(left, traits);
  }
  ReadExpression(statement, 0);
}

// The targets of `for x in y` get the traits of y. In Python only; a loop of C is made of
// assignments.
void ValueFlow::RunLoopHeader(TokenSpan statement) {
  size_t in = statement.begin;
  while (in < statement.end && code_[in] != "in") ++in;
  if (in == statement.end) return;
  const ValueTraits traits = ReadExpression({in + 1, statement.end}, 0);
  for (size_t at = statement.begin; at < in; ++at) {
    if (code_.IsName(at)) values_[code_[at]] |= traits;
  }
}

// Returns whether the assigned name is on the right as well: x = x * decay + y accumulates just as
// an augmented assignment does.
bool ValueFlow::UsesTarget(TokenSpan left, TokenSpan right) const {
  if (left.end != left.begin + 1) return false;
  for (size_t at = right.begin; at < right.end; ++at) {
    if (code_[at] == code_[left.begin] && code_.IsName(at)) return true;
  }
  return false;
}

// Returns whether a value computed from loaded ones is added to a name that held no loaded value.
// Only the first pass can tell: in the second one each name holds all that it ever gets.
bool ValueFlow::Accumulates(TokenSpan left, ValueTraits traits) const {
  return first_pass_ && left.end == left.begin + 1 && (traits & kComputed) != 0 &&
         (GetTraits(code_[left.begin]) & kLoaded) == 0;
}

// Gives the traits to the assigned names. In C the target is the last name on the left, behind its
// type, or memory if it begins with '*'. In Python it is every name before an annotation.
void ValueFlow::Assign(TokenSpan left, ValueTraits traits) {
  if (left.begin == left.end) return;
  if (AssignElement(left, traits)) return;
  if (code_.is_c()) {
    if (code_[left.begin] == "*") {
      stores_.push_back({ReadExpression({left.begin + 1, left.end}, 0), traits});
      return;
    }
    for (size_t at = left.end; at > left.begin; --at) {
      if (!code_.IsName(at - 1)) continue;
      values_[code_[at - 1]] |= traits;
      return;
    }
    return;
  }
  for (size_t at = left.begin; at < left.end && code_[at] != ":"; ++at) {  // x: annotation
    if (code_.IsName(at)) values_[code_[at]] |= traits;
  }
}

// Reads an assignment to a subscript, which is a store. Returns false at any other target.
bool ValueFlow::AssignElement(TokenSpan left, ValueTraits traits) {
  size_t open = left.begin;
  while (open < left.end && code_[open] != "[") ++open;
  if (open == left.end || open == left.begin) return false;
  const string_view name = code_[open - 1];
  // x.at[i] = v of Pallas.
  const bool at_view = name == "at" && open >= left.begin + 2 && code_[open - 2] == ".";
  if (!IsSubscripted(name) && !at_view) return false;
  const size_t close = code_.FindClose(open, left.end);
  const ValueTraits address = ReadExpression({open + 1, close}, 1);
  stores_.push_back({static_cast<ValueTraits>(address | GetTraits(name)), traits});
  contents_[name] |= traits;
  return true;
}

// Returns the traits of an expression, and notes its loads and stores. `depth` counts brackets
// around it, which the recursion follows.
ValueTraits ValueFlow::ReadExpression(TokenSpan expression, int depth) {
  if (depth > kMaxDepth) return 0;
  ValueTraits traits = 0;
  bool computes = false;
  for (size_t at = expression.begin; at < expression.end; ++at) {
    const string_view token = code_[at];
    if (!code_.IsName(at)) {
      if (IsDereference(at, expression.begin, expression.end)) {
        loads_ = true;
        traits |= kLoaded | kIndex;
        if ((GetTraits(code_[at + 1]) & kIndex) != 0) traits |= kGathered;
        ++at;
      } else if (Computes(token)) {
        computes = true;
      }
      continue;
    }
    const string_view next = at + 1 < expression.end ? code_[at + 1] : "";
    if (next == "=") {  // a keyword argument's name
      ++at;
    } else if (next == "(") {
      const size_t close = code_.FindClose(at + 1, expression.end);
      const Called called = ReadCall(at, {at + 2, close}, expression.begin, depth);
      traits |= called.traits;
      computes |= called.computes;
      at = close;
    } else if (next == "[" && IsSubscripted(token)) {
      const size_t close = code_.FindClose(at + 1, expression.end);
      traits |= ReadSubscript(at, close, depth);
      at = close;
    } else if (at == expression.begin || code_[at - 1] != ".") {
      traits |= GetTraits(token);
    }
  }
  if (computes && (traits & kLoaded) != 0) traits |= kComputed;
  return traits;
}

// A subscript of memory loads. The value also has the traits of all that was stored there.
ValueTraits ValueFlow::ReadSubscript(size_t name, size_t close, int depth) {
  loads_ = true;
  const ValueTraits address = ReadExpression({name + 2, close}, depth + 1) | GetTraits(code_[name]);
  const auto content = contents_.find(code_[name]);
  ValueTraits traits = kLoaded;
  if (!segments_.contains(code_[name])) traits |= kIndex;
  if ((address & kIndex) != 0) traits |= kGathered;
  if (content != contents_.end()) traits |= content->second;
  return traits;
}

// Arguments are read first, one by one: a load needs the traits of its address, a store those of
// its address and its value.
ValueFlow::Called ValueFlow::ReadCall(size_t name, TokenSpan arguments, size_t begin, int depth) {
  const string_view function = code_[name];
  const uint32_t kinds = GetCallKinds(function);
  std::vector<ValueTraits> each;
  for (size_t from = arguments.begin, at = from; at <= arguments.end; ++at) {
    if (at < arguments.end && code::IsOpeningBracket(code_[at])) {
      at = code_.FindClose(at, arguments.end);
      continue;
    }
    if (at < arguments.end && code_[at] != ",") continue;
    each.push_back(ReadExpression({from, at}, depth + 1));
    from = at + 1;
  }
  if (each.empty()) each.push_back(0);  // the text ends at the bracket
  // The value before the point: p of p.load(). A module has no traits.
  const bool method = name >= begin + 2 && code_[name - 1] == ".";
  const ValueTraits receiver = method ? GetTraits(code_[name - 2]) : 0;
  if ((kinds & kLoad) != 0) {
    loads_ = true;
    ValueTraits traits = kLoaded;
    if (!NamesSegments(arguments)) traits |= kIndex;
    if (((each.front() | receiver) & kIndex) != 0) traits |= kGathered;
    return {traits};
  }
  if ((kinds & kStore) != 0) {
    // store(address, value), or address.store(value).
    if (each.size() > 1) {
      stores_.push_back({each[0], each[1]});
    } else {
      stores_.push_back({receiver, each[0]});
    }
    return {};
  }
  ValueTraits traits = 0;
  for (const ValueTraits argument : each) traits |= argument;
  if ((kinds & kAtomicUpdate) != 0) {
    atomics_.push_back({each.front(), traits});
    return {static_cast<ValueTraits>(traits | kLoaded)};
  }
  traits |= receiver;
  Called called;
  // Casts, places, min and max do not count as computation.
  called.computes = (traits & kLoaded) != 0 && (kinds & (kCast | kPlace)) == 0 &&
                    function != "min" && function != "max";
  // A root of a sum is what a norm divides by.
  if ((kinds & kRoot) != 0 && (traits & kReduced) != 0) root_of_sum_ = true;
  called.traits = traits | OwnTraits(kinds, traits);
  // The text of a helper is not followed: its calls tell what its result has.
  const auto helper = helpers_.find(function);
  if (helper != helpers_.end()) called.traits |= helper->second;
  return called;
}

// Returns whether a '*' of C dereferences the name after it, and does not multiply.
bool ValueFlow::IsDereference(size_t star, size_t begin, size_t end) const {
  if (!code_.is_c() || code_[star] != "*" || star + 1 >= end || !code_.IsName(star + 1)) {
    return false;
  }
  if (star == begin) return true;
  const string_view before = code_[star - 1];
  return before == "(" || before == "," || before == "=" || before == "return" ||
         Computes(before) || before == ":";
}

}  // namespace kernelmill::extractor
