#include "services/extractor/core/cuda/given_kernels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/extractor/core/cuda/names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

constexpr string_view kCallOperator = "operator()";

// Bounds of what is read around a lambda, so that a hostile text cannot make each one long.
constexpr uint32_t kMaxHead = 256;     // tokens between '[' and '{'
constexpr uint32_t kMaxAround = 1024;  // tokens back to the call or the statement
constexpr int kMaxChain = 64;          // parts of a.b(c)->d

bool Lists(const std::vector<string_view>& words, string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Returns the class of n::C::operator(); empty for any other name.
string_view GetClassName(string_view qualname) {
  if (!absl::ConsumeSuffix(&qualname, kCallOperator)) return "";
  if (!absl::ConsumeSuffix(&qualname, "::")) return "";
  const size_t colon = qualname.rfind(':');
  return colon == string_view::npos ? qualname : qualname.substr(colon + 1);
}

// Returns the word by which kernels of a function are named: its own name, or that of its class.
string_view GetHostName(const Function& host) {
  const string_view name = GetClassName(host.qualname);
  return name.empty() ? string_view(host.name) : name;
}

}  // namespace

void GivenKernels::EnterHost(const Function& host) {
  if (!wanted()) return;
  in_host_ = true;
  hosts_.push_back(host);
}

void GivenKernels::LeaveHost() {
  in_host_ = false;
  awaited_.clear();
  variables_.clear();
  named_lambdas_.clear();
}

bool GivenKernels::IsItem(uint32_t at) const {
  return Lists(code_.takers->items, code_[at]) && code_.Is(at + 1, "<") && code_[at - 1] != "." &&
         code_[at - 1] != "->";
}

// Returns the item among the types of parameters; empty without one. A function among the
// parameters has parameters of its own.
string_view GivenKernels::FindItem(const Enclosed& parameters) const {
  if (!parameters.found()) return "";
  for (uint32_t at = parameters.open + 1; at < parameters.close; ++at) {
    if (IsItem(at)) return code_[at];
    const uint32_t close = brackets_.match[at];
    if (close != kNoToken && close > at) at = close;
  }
  return "";
}

void GivenKernels::ReadFunction(Function& function) {
  if (!wanted()) return;
  const string_view item = FindItem(function.parameters);
  const string_view type = GetClassName(function.qualname);
  if (type.empty()) {
    if (!item.empty()) function.device = true;
    return;
  }
  function.name = std::string(type);
  if (item.empty()) {
    candidates_.push_back(function);
    return;
  }
  function.global = true;
  function.found_by = std::string(item);
  typed_classes_.insert(function.name);
}

// Returns whether the word is called as a function that takes kernels: h.parallel_for, or
// sycl::ext::nd_launch.
bool GivenKernels::IsTaker(uint32_t at) const {
  const string_view word = code_[at];
  uint32_t before = at == 0 ? kNoToken : at - 1;
  if (code_.Is(before, "template") && before > 0) --before;
  if (code_.Is(before, ".") || code_.Is(before, "->")) return Lists(code_.takers->members, word);
  if (!code_.Is(before, "::") || !Lists(code_.takers->functions, word)) return false;
  const uint32_t first = QualifiedBegin(code_, brackets_, at);
  return absl::StrContains(JoinedWords(code_, brackets_, first, at), code_.takers->space);
}

// Returns the last word of the type that the tokens [begin, end) begin with: of the template
// arguments `class n::scale<T>, 2` the word scale. Empty if they begin with no type.
std::string GivenKernels::ReadTypeName(uint32_t begin, uint32_t end) const {
  std::string name;
  for (uint32_t at = begin; at < end; ++at) {
    const string_view word = code_[at];
    if (IsClassKey(word) || word == "typename" || word == "::" || word == "template") continue;
    if (!code_.IsWord(at) || IsReserved(word)) return name;
    name = std::string(word);
    if (!code_.Is(at + 1, "::") && !code_.Is(at + 1, "<")) return name;
    if (!code_.Is(at + 1, "<")) continue;
    const AngleSearch angle = FindAngleEnd(code_, brackets_, at + 1, kMaxHead);
    if (!angle.found || !code_.Is(angle.token + 1, "::")) return name;
    at = angle.token;
  }
  return name;
}

// Returns the first token of an expression whose last name is at `name`: q of q.submit(f).wait.
uint32_t GivenKernels::PostfixBegin(uint32_t name) const {
  uint32_t begin = QualifiedBegin(code_, brackets_, name);
  for (int part = 0; part < kMaxChain && begin >= 2; ++part) {
    if (code_[begin - 1] == "template") --begin;
    if (begin < 2 || (code_[begin - 1] != "." && code_[begin - 1] != "->")) break;
    uint32_t end = begin - 2;
    const char mark = code_.tokens[end].mark;
    if (mark == ')' || mark == ']' || mark == '}') {
      const uint32_t open = brackets_.match[end];
      if (open == kNoToken || open > end || open == 0) break;
      const uint32_t called = NameBefore(code_, brackets_, open);
      if (called == kNoToken || IsReserved(code_[called])) return open;
      end = called;
    } else if (!code_.IsWord(end)) {
      break;
    }
    begin = QualifiedBegin(code_, brackets_, end);
  }
  return begin;
}

// Returns the first token of the call that has the token at `at` among its arguments; else of the
// statement.
uint32_t GivenKernels::BeginAround(uint32_t at) const {
  const uint32_t stop = at > kMaxAround ? at - kMaxAround : 0;
  for (uint32_t token = at; token > stop; --token) {
    const uint32_t before = token - 1;
    const char mark = code_.tokens[before].mark;
    const uint32_t open = brackets_.match[before];
    if (mark == ';' || mark == '{') return token;
    if (mark == '(' || mark == '[') {
      const uint32_t name = NameBefore(code_, brackets_, before);
      return mark == '[' || name == kNoToken || IsKeyword(code_[name]) ? at : PostfixBegin(name);
    }
    const bool is_value = code_.Is(token, ",") || code_.Is(token, ".");
    if (mark == '}' && !is_value) return token;
    if ((mark == ')' || mark == ']' || mark == '}') && open != kNoToken) token = open + 1;
  }
  return at;
}

// Reads a lambda from its '[' to its body. Returns false for any other '['.
bool GivenKernels::ReadHead(uint32_t at, Function& function) const {
  const uint32_t close = brackets_.match[at];
  if (close == kNoToken || close < at || at == 0 || code_.Is(at + 1, "[")) return false;
  const string_view before = code_[at - 1];
  const bool may_begin = before != ")" && before != "]" && before != "[" &&
                         (!code_.IsWord(at - 1) || IsExpressionWord(before)) &&
                         code_.tokens[at - 1].kind != Token::kString;
  if (!may_begin) return false;
  uint32_t now = close + 1;
  const uint32_t stop = std::min(code_.size(), now + kMaxHead);
  if (code_.Is(now, "<")) {
    const AngleSearch angle = FindAngleEnd(code_, brackets_, now, kMaxHead);
    if (!angle.found) return false;
    function.templates.push_back({now, angle.token});
    now = angle.token + 1;
  }
  for (; now < stop; ++now) {
    const char mark = code_.tokens[now].mark;
    if (mark == '{') break;
    if (mark == ';' || mark == ',' || mark == ')' || mark == ']' || mark == '}' || mark == '=') {
      return false;
    }
    if (mark != '(' && mark != '[') continue;
    const uint32_t end = brackets_.match[now];
    if (end == kNoToken || end < now) return false;
    // Macros and attributes with arguments come after words.
    if (mark == '(' && !function.parameters.found() && !code_.IsWord(now - 1)) {
      function.parameters = {now, end};
    }
    now = end;
  }
  if (now >= stop || brackets_.match[now] == kNoToken) return false;
  function.body = now;
  function.last = brackets_.match[now];
  return true;
}

void GivenKernels::ReadWord(uint32_t at) {
  if (!wanted() || !in_host_) return;
  if (IsTaker(at)) ReadCall(at);
  if (at == 0 || at + 1 >= code_.size()) return;
  const char next = code_.tokens[at + 1].mark;
  const string_view before = code_[at - 1];
  const bool after_type = (code_.IsWord(at - 1) && !IsExpressionWord(before)) || before == ">" ||
                          before == ">>" || before == "&" || before == "&&";
  if (after_type && (next == '=' || next == '(' || next == '{' || next == ';')) {
    variables_[code_[at]] = at;
  }
}

void GivenKernels::ReadCall(uint32_t at) {
  Call call;
  call.taker = at;
  uint32_t open = at + 1;
  if (code_.Is(open, "<")) {
    const AngleSearch angle = FindAngleEnd(code_, brackets_, open, kMaxAround);
    if (!angle.found) return;
    call.name = ReadTypeName(open + 1, angle.token);
    open = angle.token + 1;
  }
  if (!code_.Is(open, "(") || brackets_.match[open] == kNoToken) return;
  call.close = brackets_.match[open];
  call.first = PostfixBegin(at);
  uint32_t last_argument = open + 1;
  for (uint32_t now = open + 1; now < call.close; ++now) {
    const char mark = code_.tokens[now].mark;
    if (mark == ',') last_argument = now + 1;
    if (mark == '[' && now == last_argument) awaited_[now] = call;
    const uint32_t end = brackets_.match[now];
    if (end != kNoToken && end > now) now = end;
  }
  if (last_argument < call.close) ReadLastArgument(last_argument, call);
}

// Reads an argument that may name its kernel: a variable, *this, C(...) or C{...}.
void GivenKernels::ReadLastArgument(uint32_t begin, const Call& call) {
  const uint32_t last = call.close - 1;
  const string_view word = code_[last];
  if (last == begin && code_.IsWord(last)) {
    const auto lambda = named_lambdas_.find(word);
    if (lambda != named_lambdas_.end()) return Give(lambdas_[lambda->second], call);
    return GiveClass(FindClass(word), call);
  }
  if (word == "this") {
    string_view around = hosts_.back().qualname;
    around.remove_suffix(std::min(around.size(), hosts_.back().name.size() + 2));
    const size_t colon = around.rfind(':');
    return GiveClass(colon == string_view::npos ? around : around.substr(colon + 1), call);
  }
  const uint32_t open = brackets_.match[last];
  if (open == kNoToken || open < begin || open > last || code_[last] == "]") return;
  const uint32_t name = NameBefore(code_, brackets_, open);
  if (name != kNoToken) GiveClass(code_[name], call);
}

// Returns the class of a variable by its declaration: C x(...), or auto x = C(...).
string_view GivenKernels::FindClass(string_view name) const {
  const auto declared = variables_.find(name);
  if (declared == variables_.end()) return "";
  const uint32_t at = declared->second;
  uint32_t end = at;
  while (end > 0 && (code_[end - 1] == "&" || code_[end - 1] == "&&")) --end;
  const uint32_t type = NameBefore(code_, brackets_, end);
  if (type == kNoToken) return "";
  if (code_[type] != "auto" && code_[type] != "const") return code_[type];
  for (uint32_t now = at + 2; code_.IsWord(now) && now + 1 < code_.size(); ++now) {
    uint32_t after = now + 1;
    if (code_.Is(after, "<")) {
      const AngleSearch angle = FindAngleEnd(code_, brackets_, after, kMaxHead);
      if (!angle.found) return "";
      after = angle.token + 1;
    }
    if (code_.Is(after, "(") || code_.Is(after, "{")) return code_[now];
    if (!code_.Is(after, "::")) return "";
    now = after;
  }
  return "";
}

void GivenKernels::Give(Lambda& lambda, const Call& call) const {
  if (lambda.given && lambda.function.found_by == code_[call.taker]) return;
  lambda.given = true;
  lambda.function.name = call.name;
  lambda.function.found_by = std::string(code_[call.taker]);
  lambda.launch.first = call.first;
  lambda.launch.last = call.close;
}

void GivenKernels::GiveClass(string_view name, const Call& call) {
  if (name.empty()) return;
  given_classes_.try_emplace(std::string(name), std::string(code_[call.taker]));
  launches_.push_back(
      {std::string(name), call.first, call.close, static_cast<uint32_t>(hosts_.size() - 1)});
}

void GivenKernels::ReadBracket(uint32_t at) {
  if (!wanted() || !in_host_) return;
  Lambda lambda;
  if (!ReadHead(at, lambda.function)) return;
  lambda.host = static_cast<uint32_t>(hosts_.size() - 1);
  const string_view item = FindItem(lambda.function.parameters);
  const auto call = awaited_.find(at);
  // A lambda that is called at once gives its result.
  const bool is_value = at >= 2 && code_[at - 1] == "=" && code_.IsWord(at - 2) &&
                        !code_.Is(lambda.function.last + 1, "(");
  if (call == awaited_.end() && item.empty() && !is_value) return;
  lambda.function.global = true;
  if (call != awaited_.end()) {
    lambda.function.first = call->second.first;
    Give(lambda, call->second);
  } else {
    lambda.function.first = BeginAround(at);
    lambda.function.found_by = std::string(item);
    lambda.given = !item.empty();
  }
  if (is_value) named_lambdas_[code_[at - 2]] = lambdas_.size();
  lambdas_.push_back(std::move(lambda));
}

// The untyped operator() of a class counts if no other one of it is known by its parameters.
void GivenKernels::AddCandidates(Findings& findings) {
  for (Function& function : candidates_) {
    const auto given = given_classes_.find(function.name);
    if (given == given_classes_.end() || typed_classes_.contains(function.name)) continue;
    function.global = true;
    function.found_by = given->second;
    findings.functions.push_back(std::move(function));
  }
}

void GivenKernels::AddLambdas(Findings& findings) {
  const auto by_body = [](const auto& a, const auto& b) { return a.body < b.body; };
  std::sort(findings.functions.begin(), findings.functions.end(), by_body);
  std::vector<Function> all;
  size_t next = 0;      // function
  uint32_t within = 0;  // the end of the kernels and device functions so far
  uint32_t host = kNoToken;
  int number = 0;
  const auto first_host = static_cast<uint32_t>(findings.hosts.size());
  for (Lambda& lambda : lambdas_) {
    for (; next < findings.functions.size(); ++next) {
      if (findings.functions[next].body > lambda.function.body) break;
      within = std::max(within, findings.functions[next].last);
    }
    if (!lambda.given || lambda.function.body < within) continue;
    within = lambda.function.last;
    const Function& around = hosts_[lambda.host];
    if (lambda.host != host) number = 0;
    host = lambda.host;
    Function& function = lambda.function;
    if (function.name.empty()) function.name = absl::StrCat(GetHostName(around), "_", ++number);
    function.qualname = absl::StrCat(around.qualname, "::", function.name);
    if (lambda.launch.first != kNoToken) {
      lambda.launch.name = function.name;
      lambda.launch.host = first_host + host;
      findings.launches.push_back(std::move(lambda.launch));
    }
    all.push_back(std::move(function));
  }
  findings.functions.insert(findings.functions.end(), std::make_move_iterator(all.begin()),
                            std::make_move_iterator(all.end()));
  std::sort(findings.functions.begin(), findings.functions.end(), by_body);
}

void GivenKernels::AddTo(Findings& findings) {
  if (!wanted()) return;
  const auto first_host = static_cast<uint32_t>(findings.hosts.size());
  AddCandidates(findings);
  AddLambdas(findings);
  for (Launch& launch : launches_) {
    launch.host += first_host;
    findings.launches.push_back(std::move(launch));
  }
  findings.hosts.insert(findings.hosts.end(), std::make_move_iterator(hosts_.begin()),
                        std::make_move_iterator(hosts_.end()));
}

}  // namespace kernelmill::extractor::cuda
