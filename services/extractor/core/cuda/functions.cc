#include "services/extractor/core/cuda/functions.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/cuda/declarations.h"
#include "services/extractor/core/cuda/given_kernels.h"
#include "services/extractor/core/cuda/names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// A hostile file could otherwise make names of any length.
constexpr size_t kMaxQualifiedName = 512;

// The scopes around the current token of a pass from the front to the end of a text: namespaces and
// classes, which hold declarations, and bodies of functions.
class Scopes {
 public:
  enum Kind : uint8_t { kDeclarations, kBody };

  Scopes();

  // Enters a scope that ends with the '}' at `last`. `name` may be empty, or several names joined
  // by
  // "::". `function` is the caller's number for the function whose body it is.
  void Enter(Kind kind, uint32_t last, std::string name, uint32_t function = kNoToken);

  // Leaves the scopes that end at or before `token`. Returns whether the outermost body was one.
  bool LeaveUpTo(uint32_t token);

  bool InBody() const { return scopes_.back().kind == kBody; }
  // Returns whether any scope around is a body.
  bool WithinBody() const { return outermost_body_ != 0; }
  // The caller's number for the innermost scope, if it is a body.
  uint32_t function() const { return scopes_.back().function; }

  // Returns `name` behind the names of the scopes around: n::C::name. Leaves out the outermost
  // names if the result would be long.
  std::string Qualify(string_view name) const;

 private:
  struct Scope {
    Kind kind;
    uint32_t last;
    uint32_t named;  // index of the nearest scope with a name, from this one outwards; 0 if none
    uint32_t function;
    std::string name;
  };

  std::vector<Scope> scopes_;  // the first is the file
  size_t outermost_body_ = 0;  // index; 0: no body is around
};

Scopes::Scopes() { scopes_.push_back({kDeclarations, kNoToken, 0, kNoToken, ""}); }

void Scopes::Enter(Kind kind, uint32_t last, std::string name, uint32_t function) {
  const auto self = static_cast<uint32_t>(scopes_.size());
  if (kind == kBody && !WithinBody()) outermost_body_ = self;
  const uint32_t named = name.empty() ? scopes_.back().named : self;
  scopes_.push_back({kind, last, named, function, std::move(name)});
}

bool Scopes::LeaveUpTo(uint32_t token) {
  while (scopes_.back().last <= token) scopes_.pop_back();
  if (!WithinBody() || outermost_body_ < scopes_.size()) return false;
  outermost_body_ = 0;
  return true;
}

std::string Scopes::Qualify(string_view name) const {
  std::vector<string_view> names = {name};
  size_t size = name.size();
  for (uint32_t at = scopes_.back().named; at != 0; at = scopes_[at - 1].named) {
    size += scopes_[at].name.size() + 2;
    if (size > kMaxQualifiedName) break;
    names.push_back(scopes_[at].name);
  }
  std::string joined;
  for (auto part = names.rbegin(); part != names.rend(); ++part) {
    absl::StrAppend(&joined, joined.empty() ? "" : "::", *part);
  }
  return joined;
}

// Collects the launches of a text, while Finder reads it from the front to the end.
//
// The basic idea: most launches name their kernel. The others launch a variable or what a function
// returned, so the finder also notes, for the outermost function around, where the values begin
// that variables are given, and which names the function returns. When a variable is launched, each
// word of its values becomes a launch, and at the end each name that a launched function returns.
// That finds too much rather than too little: a name that is no kernel's matches none later on.
class LaunchFinder {
 public:
  // Adds launches, and the functions around them, to `findings`. All arguments except `macros` must
  // outlive it.
  LaunchFinder(const Code& code, const Brackets& brackets, LaunchMacros macros, Findings* findings);

  // Call these when the body of an outermost function begins and ends.
  void EnterHost(Function host);
  void LeaveHost();

  // Reads the launch whose `<<<` is at `at`.
  void AddLaunch(uint32_t at);
  // Read a word in a body: one before '=', one before '(', and `return`.
  void AddValue(uint32_t at) { values_[code_[at]].push_back(at + 2); }
  void AddCall(uint32_t at);
  void AddReturn(uint32_t at) { AddReturned(ReturnedName(code_, at)); }

  // At the end of the text, adds a launch for each name that a launched function returns.
  void FollowReturned();

 private:
  void AddReturned(string_view name);
  void Launched(string_view name, uint32_t first, uint32_t last);
  uint32_t HostIndex();

  const Code& code_;
  const Brackets& brackets_;
  LaunchMacros macros_;
  Findings& findings_;
  bool in_host_ = false;
  Function host_;  // the outermost function around
  uint32_t host_index_ = kNoToken;
  uint32_t given_left_;  // how many more words of values may count as launched; bounds the time
  absl::flat_hash_map<std::string, std::set<std::string>> returned_;  // by a function's name
  // For each variable of the outermost body the tokens at which its values begin.
  absl::flat_hash_map<string_view, std::vector<uint32_t>> values_;
};

LaunchFinder::LaunchFinder(const Code& code, const Brackets& brackets, LaunchMacros macros,
                           Findings* findings)
    : code_(code),
      brackets_(brackets),
      macros_(std::move(macros)),
      findings_(*findings),
      given_left_(code.size()) {
  macros_.Add(code);
}

void LaunchFinder::EnterHost(Function host) {
  in_host_ = true;
  host_ = std::move(host);
}

void LaunchFinder::LeaveHost() {
  in_host_ = false;
  host_ = Function();
  host_index_ = kNoToken;
  values_.clear();
}

void LaunchFinder::AddLaunch(uint32_t at) {
  const uint32_t close = brackets_.match[at];
  const uint32_t name = NameBefore(code_, brackets_, at);
  if (close == kNoToken || name == kNoToken) return;
  const uint32_t first = QualifiedBegin(code_, brackets_, name);
  const bool called = code_.Is(close + 1, "(") && brackets_.match[close + 1] != kNoToken;
  Launched(code_[name], first, called ? brackets_.match[close + 1] : close);
}

// Reads NAME(...), which may be a macro that launches, or a function that launches its argument.
void LaunchFinder::AddCall(uint32_t at) {
  constexpr uint32_t kFirstArguments = 3;
  const string_view word = code_[at];
  const MacroLaunches* macro = macros_.Find(word);
  const bool calls = IsLaunchCall(word);
  const uint32_t close = brackets_.match[at + 1];
  if ((macro == nullptr && !calls) || close == kNoToken || close < at) return;
  const std::vector<string_view> arguments = NamedArguments(code_, brackets_, at + 1);
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const bool given =
        (calls && i < kFirstArguments) || (macro != nullptr && macro->arguments.contains(i));
    if (given && !arguments[i].empty()) Launched(arguments[i], at, close);
  }
  if (macro == nullptr) return;
  for (const std::string& name : macro->names) Launched(name, at, close);
  for (const std::string& name : macro->returned) AddReturned(name);
  for (const uint32_t index : macro->macros) {
    const MacroLaunches* given =
        index < arguments.size() ? macros_.Find(arguments[index]) : nullptr;
    if (given == nullptr) continue;
    for (const std::string& name : given->names) Launched(name, at, close);
    for (const std::string& name : given->returned) AddReturned(name);
  }
}

// Notes that the outermost function around returns `name`, perhaps a kernel that its caller
// launches.
void LaunchFinder::AddReturned(string_view name) {
  constexpr size_t kMaxReturned = 64;
  if (name.empty() || !in_host_) return;
  std::set<std::string>& returned = returned_[host_.name];
  if (returned.size() < kMaxReturned) returned.insert(std::string(name));
}

void LaunchFinder::FollowReturned() {
  const size_t count = findings_.launches.size();
  for (size_t i = 0; i < count && given_left_ > 0; ++i) {
    const auto returned = returned_.find(findings_.launches[i].name);
    if (returned == returned_.end()) continue;
    for (const std::string& name : returned->second) {
      if (given_left_ == 0) break;
      --given_left_;
      Launch launch = findings_.launches[i];
      launch.name = name;
      findings_.launches.push_back(std::move(launch));
    }
  }
}

// Adds a launch of `name`, and one of each word in the values that a variable of this name has.
void LaunchFinder::Launched(string_view name, uint32_t first, uint32_t last) {
  const uint32_t host = HostIndex();
  findings_.launches.push_back({std::string(name), first, last, host});
  const auto values = values_.find(name);
  if (values == values_.end()) return;
  constexpr size_t kMaxValues = 8;
  constexpr uint32_t kMaxTokens = 64;
  const size_t count = std::min(kMaxValues, values->second.size());
  for (size_t i = 0; i < count; ++i) {
    const uint32_t begin = values->second[i];
    for (uint32_t at = begin; at < std::min(code_.size(), begin + kMaxTokens); ++at) {
      if (code_.tokens[at].mark == ';' || given_left_ == 0) break;
      if (!code_.IsWord(at) || IsKeyword(code_[at]) || code_[at] == name) continue;
      --given_left_;
      findings_.launches.push_back({std::string(code_[at]), first, last, host});
    }
  }
}

// Returns the index of the function around, which becomes a host with its first launch.
uint32_t LaunchFinder::HostIndex() {
  if (in_host_ && host_index_ == kNoToken) {
    host_index_ = static_cast<uint32_t>(findings_.hosts.size());
    findings_.hosts.push_back(host_);
  }
  return host_index_;
}

// Returns whether the word is __launch_bounds__ or a macro for it, such as C10_LAUNCH_BOUNDS_2.
bool IsLaunchBounds(string_view word) {
  return word == "__launch_bounds__" || absl::StrContains(word, "LAUNCH_BOUNDS");
}

// Notes about the declaration that is being read.
struct Declaration {
  uint32_t first = 0;
  bool global = false;
  bool device = false;
  bool is_namespace = false;
  bool assigned = false;      // after '=' or enum: braces hold values
  bool frozen = false;        // the declarator's name cannot follow any more
  bool initializers = false;  // in a constructor's member initializers
  bool recovered = false;     // in a body, where it cannot be: a '}' is missing
  uint32_t class_key = kNoToken;
  uint32_t name_begin = kNoToken;  // the declarator's name: '~', `operator` or a word
  uint32_t name_end = kNoToken;
  Enclosed parameters;
  std::vector<Enclosed> templates;
  uint32_t after_templates = kNoToken;
  Enclosed launch_bounds;
};

// The pass over the tokens; see FindFunctions. Each step moves at_ forward.
class Finder {
 public:
  Finder(const Code& code, const Brackets& brackets, LaunchMacros macros)
      : code_(code),
        brackets_(brackets),
        launches_(code, brackets, std::move(macros), &findings_),
        given_(code, brackets) {}

  Findings Run() {
    while (at_ < code_.size()) {
      if (scopes_.LeaveUpTo(at_)) LeaveHost();
      Step();
    }
    launches_.FollowReturned();
    given_.AddTo(findings_);
    MarkErrors();
    return std::move(findings_);
  }

 private:
  void LeaveHost() {
    launches_.LeaveHost();
    given_.LeaveHost();
  }

  // A body is read like declarations once a definition has begun in it, which happens only after a
  // missing '}'.
  bool InDeclarations() const { return !scopes_.InBody() || declaration_.recovered; }

  void Restart(uint32_t first) {
    declaration_ = Declaration();
    declaration_.first = first;
  }

  // Reads the token at at_. Semicolons and closing brackets end the declaration that is being read.
  void Step() {
    const char mark = code_.tokens[at_].mark;
    if (mark == ';' || mark == '}' || mark == ')' || mark == ']') {
      Restart(++at_);
    } else if (mark == '{') {
      OpenBrace();
    } else if (code_.IsWord(at_)) {
      if (InDeclarations()) {
        ReadDeclared(code_[at_]);
      } else {
        ReadInBody(code_[at_]);
      }
    } else if (mark == '\0' && code_[at_] == "<<<") {
      launches_.AddLaunch(at_);
      ++at_;
    } else if (InDeclarations()) {
      ReadMark(code_[at_]);
    } else {
      if (mark == '=') declaration_.assigned = true;
      if (mark == '[') given_.ReadBracket(at_);
      ++at_;
    }
  }

  // Reads a word in a body.
  void ReadInBody(string_view word) {
    if (word == "__global__") {
      declaration_.recovered = true;
    } else if (word == "template" && code_.Is(at_ + 1, "<") && at_ == declaration_.first) {
      declaration_.recovered = true;
    } else {
      if (IsClassKey(word)) declaration_.class_key = at_;
      if (code_.Is(at_ + 1, "=")) launches_.AddValue(at_);
      if (code_.Is(at_ + 1, "(")) launches_.AddCall(at_);
      if (word == "return") launches_.AddReturn(at_);
      given_.ReadWord(at_);
      ++at_;
    }
  }

  // Reads punctuation among declarations.
  void ReadMark(string_view mark) {
    if (mark == "(" && IsCurried()) {
      declaration_.parameters = {at_, brackets_.match[at_]};
    }
    if (mark == "(" || mark == "[") {
      const uint32_t close = brackets_.match[at_];
      if (mark == "[" && code_.Is(at_ + 1, "[") && close != kNoToken) ReadAttribute(close);
      at_ = close == kNoToken ? at_ + 1 : close + 1;
      return;
    }
    if (mark == ":") {
      declaration_.frozen = true;
      declaration_.initializers = declaration_.parameters.found();
    } else if (mark == "->") {
      declaration_.frozen = true;
    } else if (mark == "=") {
      declaration_.assigned = true;
    }
    ++at_;
  }

  // Returns whether at_ is at the second parentheses of NAME(macro argument)(parameters).
  bool IsCurried() const {
    const Enclosed& parameters = declaration_.parameters;
    return parameters.found() && !declaration_.frozen && at_ == parameters.close + 1 &&
           brackets_.match[at_] != kNoToken;
  }

  // Reads a word among declarations.
  void ReadDeclared(string_view word) {
    if (StartsAnother(word)) Restart(at_);
    if (word == "template") return ReadTemplate();
    if (word == "operator") return ReadOperator();
    if (IsAccess(word) && code_.Is(at_ + 1, ":")) return Restart(at_ += 2);
    if (IsLaunchBounds(word) && code_.Is(at_ + 1, "(")) return ReadLaunchBounds();
    if (IsAttribute(word) && code_.Is(at_ + 1, "(")) return SkipAttribute(word);
    ReadQualifier(word);
    if (word == "namespace") declaration_.is_namespace = true;
    if (word == "enum") declaration_.assigned = true;
    if (IsClassKey(word) && !declaration_.frozen) declaration_.class_key = at_;
    const bool of_class_key = at_ > 0 && declaration_.class_key == at_ - 1;
    if (code_.Is(at_ + 1, "(") && !declaration_.frozen && !of_class_key) return ReadDeclarator();
    if (code_.Is(at_ + 1, "<")) return ReadArguments();
    ++at_;
  }

  void ReadQualifier(string_view word) {
    if (code_.IsOfKernel(word)) declaration_.global = true;
    if (code_.IsOfDevice(word)) declaration_.device = true;
  }

  // Reads the qualifiers of Metal in an attribute: [[kernel, max_total_threads(256)]].
  void ReadAttribute(uint32_t close) {
    for (uint32_t at = at_ + 2; at < close; ++at) {
      if (code_.IsWord(at)) ReadQualifier(code_[at]);
    }
  }

  // Returns whether the declaration so far was a macro's use without a semicolon, so that `word`
  // begins another: NAME(...) and then a type.
  bool StartsAnother(string_view word) const {
    const Enclosed& parameters = declaration_.parameters;
    return parameters.found() && at_ == parameters.close + 1 &&
           declaration_.name_begin == declaration_.first && !IsTrailer(word) &&
           !code_.Is(at_ + 1, "{");
  }

  // Reads a template header. Several in a row belong to one declaration; one after anything else
  // begins a new declaration.
  void ReadTemplate() {
    const bool another = declaration_.after_templates == at_;
    if (!another && at_ != declaration_.first) {
      const bool recovered = declaration_.recovered;
      Restart(at_);
      declaration_.recovered = recovered;
    }
    if (!code_.Is(at_ + 1, "<")) {
      ++at_;
      return;
    }
    const AngleSearch end = FindAngleEnd(code_, brackets_, at_ + 1);
    if (end.found) {
      declaration_.templates.push_back({at_ + 1, end.token});
      declaration_.after_templates = end.token + 1;
    }
    at_ = end.found ? end.token + 1 : std::max(end.token, at_ + 2);
  }

  // Reads operator+, operator() or a conversion operator up to the parentheses of its parameters.
  void ReadOperator() {
    constexpr uint32_t kMaxOperator = 64;
    uint32_t open = at_ + 1;
    const bool calls = code_.Is(open, "(") && code_.Is(open + 1, ")");
    if (calls) open += 2;
    const uint32_t end = open;
    while (calls && code_.Is(open, "[") && brackets_.match[open] != kNoToken) {  // attributes
      open = brackets_.match[open] + 1;
    }
    const uint32_t stop = std::min(code_.size(), at_ + kMaxOperator);
    while (open < stop && code_[open] != "(" && code_[open] != ";" && code_[open] != "{") ++open;
    if (!code_.Is(open, "(") || brackets_.match[open] == kNoToken || declaration_.frozen) {
      at_ = std::max(open, at_ + 1);
      return;
    }
    SetDeclarator(at_, open);
    if (calls) declaration_.name_end = end;  // without the arguments of a specialization
    declaration_.frozen = true;
  }

  void SetDeclarator(uint32_t name, uint32_t open) {
    declaration_.name_begin = name;
    declaration_.name_end = open;
    declaration_.parameters = {open, brackets_.match[open]};
    at_ = declaration_.parameters.close + 1;
  }

  void ReadLaunchBounds() {
    const uint32_t close = brackets_.match[at_ + 1];
    if (close != kNoToken) declaration_.launch_bounds = {at_ + 1, close};
    at_ = close == kNoToken ? at_ + 2 : close + 1;
  }

  void SkipAttribute(string_view word) {
    if (declaration_.parameters.found() && (word == "noexcept" || word == "requires")) {
      declaration_.frozen = true;
    }
    const uint32_t close = brackets_.match[at_ + 1];
    at_ = close == kNoToken ? at_ + 2 : close + 1;
  }

  // Reads a word before '(', the declarator. A later one replaces it, because macros with arguments
  // may come before the type. A word right after parameters is a trailing macro, though.
  void ReadDeclarator() {
    const uint32_t open = at_ + 1;
    const Enclosed& parameters = declaration_.parameters;
    const uint32_t close = brackets_.match[open];
    const bool trails = parameters.found() && parameters.close + 1 == at_;
    if (close == kNoToken || trails || declaration_.assigned) {
      at_ = close == kNoToken ? open + 1 : close + 1;
      return;
    }
    const bool destructor = at_ > declaration_.first && code_[at_ - 1] == "~";
    SetDeclarator(destructor ? at_ - 1 : at_, open);
  }

  // Reads a word before '<', and the template arguments if the '<' is not a comparison. A search
  // for their end that fails is not repeated for the '<' that it passed, which would fail at the
  // same token: that keeps the pass linear.
  void ReadArguments() {
    const uint32_t open = at_ + 1;
    if (open < no_arguments_before_) {
      at_ = open + 1;
      return;
    }
    const AngleSearch end = FindAngleEnd(code_, brackets_, open);
    if (!end.found) {
      no_arguments_before_ = end.token;
      at_ = open + 1;
      return;
    }
    const uint32_t name = at_;
    at_ = end.token + 1;
    const bool declares = code_.Is(at_, "(") && brackets_.match[at_] != kNoToken &&
                          !declaration_.frozen && !declaration_.assigned;
    if (declares) SetDeclarator(name, at_);
  }

  // Decides at '{' what it opens: a class, a value that is skipped, a function's body or a
  // namespace. In a body only local classes are entered; other braces belong to statements.
  void OpenBrace() {
    const uint32_t close = brackets_.match[at_];
    if (close == kNoToken) return Restart(++at_);
    std::string name;
    const bool is_class = declaration_.class_key != kNoToken && !declaration_.assigned &&
                          ClassName(code_, brackets_, declaration_.class_key, at_, name);
    if (!InDeclarations()) {
      if (is_class) scopes_.Enter(Scopes::kDeclarations, close, std::move(name));
      return Restart(++at_);
    }
    if (declaration_.assigned || OpensMember()) {
      at_ = close + 1;
      return;
    }
    if (declaration_.parameters.found()) {
      EnterFunction(close);
    } else {
      if (!is_class) name = NamespaceName();
      scopes_.Enter(Scopes::kDeclarations, close, std::move(name));
    }
    Restart(++at_);
  }

  // Returns whether the brace belongs to a constructor's initializer: member{...}.
  bool OpensMember() const {
    if (!declaration_.initializers) return false;
    const string_view before = code_[at_ - 1];
    return code_.IsWord(at_ - 1) || before == ">" || before == ">>";
  }

  std::string NamespaceName() const {
    if (!declaration_.is_namespace) return "";
    uint32_t begin = declaration_.first;
    while (begin < at_ && code_[begin] != "namespace") ++begin;
    return JoinedWords(code_, brackets_, begin + 1, at_);
  }

  // Enters a function's body. Only kernels and device functions are kept, but every outermost
  // function is a host that launches may be in.
  void EnterFunction(uint32_t close) {
    Function function;
    function.first = declaration_.first;
    function.body = at_;
    function.last = close;
    function.global = declaration_.global;
    function.device = declaration_.device;
    function.parameters = declaration_.parameters;
    function.templates = std::move(declaration_.templates);
    function.launch_bounds = declaration_.launch_bounds;
    function.name = DeclaratorText();
    const std::string own = absl::StrCat(DeclaratorScope(), function.name);
    function.qualname = scopes_.Qualify(own);
    given_.ReadFunction(function);
    if (declaration_.recovered) MarkBodyAround();
    const bool wanted = function.global || function.device;
    const auto index = static_cast<uint32_t>(findings_.functions.size());
    const bool is_host = !scopes_.WithinBody();
    scopes_.Enter(Scopes::kBody, close, own, wanted ? index : kNoToken);
    if (wanted) findings_.functions.push_back(function);
    if (!is_host) return;
    given_.EnterHost(function);
    launches_.EnterHost(std::move(function));
  }

  // A definition in a body means that a '}' is missing between them: the body's end is wrong.
  void MarkBodyAround() {
    const uint32_t around = scopes_.function();
    if (around != kNoToken) findings_.functions[around].parse_error = true;
  }

  // Returns the function's own name as written: k, ~C, operator(), operator new.
  std::string DeclaratorText() const {
    std::string text;
    const uint32_t begin = declaration_.name_begin;
    if (code_[begin] != "operator") {
      if (code_[begin] == "~") return absl::StrCat("~", code_[begin + 1]);
      return std::string(code_[begin]);
    }
    for (uint32_t at = begin; at < declaration_.name_end; ++at) {
      const bool words = at > begin && code_.IsWord(at - 1) && code_.IsWord(at);
      absl::StrAppend(&text, words ? " " : "", code_[at]);
    }
    return text;
  }

  // Returns "C::" for C<T>::f.
  std::string DeclaratorScope() const {
    const uint32_t begin = QualifiedBegin(code_, brackets_, declaration_.name_begin);
    if (begin == declaration_.name_begin) return "";
    return absl::StrCat(JoinedWords(code_, brackets_, begin, declaration_.name_begin), "::");
  }

  void MarkErrors() {
    for (Function& function : findings_.functions) {
      if (brackets_.HasErrorIn(function.first + 1, function.last)) function.parse_error = true;
    }
  }

  const Code& code_;
  const Brackets& brackets_;
  Findings findings_;
  uint32_t at_ = 0;
  Declaration declaration_;
  Scopes scopes_;
  LaunchFinder launches_;
  GivenKernels given_;
  uint32_t no_arguments_before_ = 0;
};

}  // namespace

Findings FindFunctions(const Code& code, const Brackets& brackets, LaunchMacros macros) {
  return Finder(code, brackets, std::move(macros)).Run();
}

}  // namespace kernelmill::extractor::cuda
