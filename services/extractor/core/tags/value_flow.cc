#include "services/extractor/core/tags/value_flow.h"

#include <algorithm>
#include <string>

#include "services/extractor/core/tags/call_kinds.h"
#include "services/extractor/core/tags/phrases.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;

constexpr int kMaxDepth = 48;  // of brackets; nothing is known of what is deeper

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

bool IsOfSegments(string_view parameter) {
  static const auto& words = *new absl::flat_hash_set<string_view>(
      {"offset",  "offsets", "seqlen", "seqlens", "len",    "lens",  "length",
       "lengths", "cu",      "cum",    "start",   "starts", "begin", "end",
       "ends",    "bins",    "indptr", "ptrs",    "size",   "sizes"});
  const std::vector<std::string> own = NameWords(parameter);
  return std::any_of(own.begin(), own.end(),
                     [&](const std::string& word) { return words.contains(word); });
}

bool Opens(string_view token) { return token == "(" || token == "[" || token == "{"; }

// What a call brings by itself, its arguments' traits being `arguments`.
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
    if (IsOfSegments(parameter)) segments_.insert(parameter);
  }
  for (const bool first : {true, false}) {
    first_pass_ = first;
    stores_.clear();
    atomics_.clear();
    for (const TokenSpan statement : body) Run(statement);
  }
}

ValueTraits ValueFlow::ValueOf(string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0 : found->second;
}

bool ValueFlow::IsSubscripted(string_view name) const {
  return code_.is_c() || parameters_.contains(name);
}

// As its first name does.
bool ValueFlow::NamesSegments(TokenSpan expression) const {
  for (size_t at = expression.begin; at < expression.end; ++at) {
    if (code_.IsName(at)) return segments_.contains(code_[at]);
  }
  return false;
}

void ValueFlow::Run(TokenSpan statement) {
  if (!code_.is_c() && code_[statement.begin] == "for") return RunLoopHeader(statement);
  for (size_t at = statement.begin; at < statement.end; ++at) {
    const string_view token = code_[at];
    if (Opens(token)) {
      at = code_.CloseOf(at, statement.end);
      continue;
    }
    const bool augmented = Augments(token);
    if (token != "=" && !augmented) continue;
    const TokenSpan left = {statement.begin, at};
    const TokenSpan right = {at + 1, statement.end};
    ValueTraits traits = TraitsOf(right, 0);
    if (augmented && (traits & kLoaded) != 0) traits |= kComputed;
    if ((augmented || UsesTarget(left, right)) && Accumulates(left, traits)) {
      traits |= kAccumulated;
    }
    return Assign(left, traits);
  }
  TraitsOf(statement, 0);
}

void ValueFlow::RunLoopHeader(TokenSpan statement) {
  size_t in = statement.begin;
  while (in < statement.end && code_[in] != "in") ++in;
  if (in == statement.end) return;
  const ValueTraits traits = TraitsOf({in + 1, statement.end}, 0);
  for (size_t at = statement.begin; at < in; ++at) {
    if (code_.IsName(at)) values_[code_[at]] |= traits;
  }
}

// x = x * decay + y is the same as an augmented assignment.
bool ValueFlow::UsesTarget(TokenSpan left, TokenSpan right) const {
  if (left.end != left.begin + 1) return false;
  for (size_t at = right.begin; at < right.end; ++at) {
    if (code_[at] == code_[left.begin] && code_.IsName(at)) return true;
  }
  return false;
}

// Computed of loaded values, into a name that had none.
bool ValueFlow::Accumulates(TokenSpan left, ValueTraits traits) const {
  return first_pass_ && left.end == left.begin + 1 && (traits & kComputed) != 0 &&
         (ValueOf(code_[left.begin]) & kLoaded) == 0;
}

void ValueFlow::Assign(TokenSpan left, ValueTraits traits) {
  if (left.begin == left.end) return;
  if (AssignElement(left, traits)) return;
  if (code_.is_c()) {
    if (code_[left.begin] == "*") {
      stores_.push_back({TraitsOf({left.begin + 1, left.end}, 0), traits});
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

// An assignment to a subscript, which is a store.
bool ValueFlow::AssignElement(TokenSpan left, ValueTraits traits) {
  size_t open = left.begin;
  while (open < left.end && code_[open] != "[") ++open;
  if (open == left.end || open == left.begin) return false;
  const string_view name = code_[open - 1];
  const bool at_view = name == "at" && open >= left.begin + 2 && code_[open - 2] == ".";
  if (!IsSubscripted(name) && !at_view) return false;
  const size_t close = code_.CloseOf(open, left.end);
  const ValueTraits address = TraitsOf({open + 1, close}, 1);
  stores_.push_back({static_cast<ValueTraits>(address | ValueOf(name)), traits});
  contents_[name] |= traits;
  return true;
}

ValueTraits ValueFlow::TraitsOf(TokenSpan expression, int depth) {
  if (depth > kMaxDepth) return 0;
  ValueTraits traits = 0;
  bool computes = false;
  for (size_t at = expression.begin; at < expression.end; ++at) {
    const string_view token = code_[at];
    if (!code_.IsName(at)) {
      if (IsDereference(at, expression.begin, expression.end)) {
        loads_ = true;
        traits |= kLoaded | kIndex;
        if ((ValueOf(code_[at + 1]) & kIndex) != 0) traits |= kGathered;
        ++at;
      } else if (Computes(token)) {
        computes = true;
      }
      continue;
    }
    const string_view next = at + 1 < expression.end ? code_[at + 1] : "";
    if (next == "=") {  // of a keyword argument
      ++at;
    } else if (next == "(") {
      const size_t close = code_.CloseOf(at + 1, expression.end);
      const Called called = TraitsOfCall(at, {at + 2, close}, expression.begin, depth);
      traits |= called.traits;
      computes |= called.computes;
      at = close;
    } else if (next == "[" && IsSubscripted(token)) {
      const size_t close = code_.CloseOf(at + 1, expression.end);
      traits |= TraitsOfSubscript(at, close, depth);
      at = close;
    } else if (at == expression.begin || code_[at - 1] != ".") {
      traits |= ValueOf(token);
    }
  }
  if (computes && (traits & kLoaded) != 0) traits |= kComputed;
  return traits;
}

ValueTraits ValueFlow::TraitsOfSubscript(size_t name, size_t close, int depth) {
  loads_ = true;
  const ValueTraits address = TraitsOf({name + 2, close}, depth + 1) | ValueOf(code_[name]);
  const auto content = contents_.find(code_[name]);
  ValueTraits traits = kLoaded;
  if (!segments_.contains(code_[name])) traits |= kIndex;
  if ((address & kIndex) != 0) traits |= kGathered;
  if (content != contents_.end()) traits |= content->second;
  return traits;
}

ValueFlow::Called ValueFlow::TraitsOfCall(size_t name, TokenSpan arguments, size_t begin,
                                          int depth) {
  const string_view function = code_[name];
  const uint32_t kinds = CallKindsOf(function);
  std::vector<ValueTraits> each;
  for (size_t from = arguments.begin, at = from; at <= arguments.end; ++at) {
    if (at < arguments.end && Opens(code_[at])) {
      at = code_.CloseOf(at, arguments.end);
      continue;
    }
    if (at < arguments.end && code_[at] != ",") continue;
    each.push_back(TraitsOf({from, at}, depth + 1));
    from = at + 1;
  }
  if (each.empty()) each.push_back(0);  // the text ends at the bracket
  const bool method = name >= begin + 2 && code_[name - 1] == ".";
  const ValueTraits receiver = method ? ValueOf(code_[name - 2]) : 0;
  if ((kinds & kLoad) != 0) {
    loads_ = true;
    ValueTraits traits = kLoaded;
    if (!NamesSegments(arguments)) traits |= kIndex;
    if (((each.front() | receiver) & kIndex) != 0) traits |= kGathered;
    return {traits};
  }
  if ((kinds & kStore) != 0) {
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
  called.computes = (traits & kLoaded) != 0 && (kinds & (kCast | kPlace)) == 0 &&
                    function != "min" && function != "max";
  if ((kinds & kRoot) != 0 && (traits & kReduced) != 0) root_of_sum_ = true;
  called.traits = traits | OwnTraits(kinds, traits);
  const auto helper = helpers_.find(function);
  if (helper != helpers_.end()) called.traits |= helper->second;
  return called;
}

// Of C: a '*' that takes what a name points to.
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
