#include "services/extractor/core/cuda/functions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "services/extractor/core/cuda/launch_finder.h"
#include "services/extractor/core/cuda/names.h"
#include "services/extractor/core/cuda/reserved_words.h"
#include "services/extractor/core/cuda/scopes.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

bool IsAccess(string_view word) {
  return word == "public" || word == "private" || word == "protected";
}

// C10_LAUNCH_BOUNDS_2(...) and its like too.
bool IsLaunchBounds(string_view word) {
  return word == "__launch_bounds__" || absl::StrContains(word, "LAUNCH_BOUNDS");
}

// What has been seen of the declaration that is being read.
struct Declaration {
  uint32_t first = 0;
  bool global = false;
  bool device = false;
  bool is_namespace = false;
  bool assigned = false;      // '=' or enum: its braces hold values
  bool frozen = false;        // what follows cannot be the declarator
  bool initializers = false;  // of a constructor's members
  bool recovered = false;     // stands in a body, where it cannot
  uint32_t class_key = kNoToken;
  uint32_t name_begin = kNoToken;  // of the declarator: '~', `operator` or a word
  uint32_t name_end = kNoToken;
  Enclosed parameters;
  std::vector<Enclosed> templates;
  uint32_t after_templates = kNoToken;
  Enclosed launch_bounds;
};

class Finder {
 public:
  Finder(const Code& code, const Brackets& brackets, LaunchMacros macros)
      : code_(code),
        brackets_(brackets),
        launches_(code, brackets, std::move(macros), &findings_) {}

  Findings Run() {
    while (at_ < code_.size()) {
      if (scopes_.LeaveUpTo(at_)) launches_.LeaveHost();
      Step();
    }
    launches_.FollowReturned();
    MarkErrors();
    return std::move(findings_);
  }

 private:
  bool InDeclarations() const { return !scopes_.InBody() || declaration_.recovered; }

  void Restart(uint32_t first) {
    declaration_ = Declaration();
    declaration_.first = first;
  }

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
      ++at_;
    }
  }

  // In a body.
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
      ++at_;
    }
  }

  // Among declarations: marks.
  void ReadMark(string_view mark) {
    if (mark == "(" && IsCurried()) {
      declaration_.parameters = {at_, brackets_.match[at_]};
    }
    if (mark == "(" || mark == "[") {
      const uint32_t close = brackets_.match[at_];
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

  // The second parentheses of NAME(macro argument)(parameters).
  bool IsCurried() const {
    const Enclosed& parameters = declaration_.parameters;
    return parameters.found() && !declaration_.frozen && at_ == parameters.close + 1 &&
           brackets_.match[at_] != kNoToken;
  }

  // Among declarations: words.
  void ReadDeclared(string_view word) {
    if (StartsAnother(word)) Restart(at_);
    if (word == "template") return ReadTemplate();
    if (word == "operator") return ReadOperator();
    if (IsAccess(word) && code_.Is(at_ + 1, ":")) return Restart(at_ += 2);
    if (IsLaunchBounds(word) && code_.Is(at_ + 1, "(")) return ReadLaunchBounds();
    if (IsAttribute(word) && code_.Is(at_ + 1, "(")) return SkipAttribute(word);
    if (code_.global_words.contains(word)) declaration_.global = true;
    if (code_.device_words.contains(word)) declaration_.device = true;
    if (word == "namespace") declaration_.is_namespace = true;
    if (word == "enum") declaration_.assigned = true;
    if (IsClassKey(word) && !declaration_.frozen) declaration_.class_key = at_;
    const bool of_class_key = at_ > 0 && declaration_.class_key == at_ - 1;
    if (code_.Is(at_ + 1, "(") && !declaration_.frozen && !of_class_key) return ReadDeclarator();
    if (code_.Is(at_ + 1, "<")) return ReadArguments();
    ++at_;
  }

  // Whether the declaration so far was a macro's use without a semicolon: NAME(...), then a type.
  bool StartsAnother(string_view word) const {
    const Enclosed& parameters = declaration_.parameters;
    return parameters.found() && at_ == parameters.close + 1 &&
           declaration_.name_begin == declaration_.first && !IsTrailer(word) &&
           !code_.Is(at_ + 1, "{");
  }

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

  void ReadOperator() {
    constexpr uint32_t kMaxOperator = 64;
    uint32_t open = at_ + 1;
    const bool calls = code_.Is(open, "(") && code_.Is(open + 1, ")");
    if (calls) open += 2;
    const uint32_t end = open;
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

  // A word before '(': the declarator, unless another one follows. The last one counts, because
  // macros with arguments stand before a type; but one right after parameters is a trailing macro.
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

  // A word before '<': template arguments, if they end. Where they do not, none before that place
  // do.
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

  // Whether the brace is of a constructor's initializer: member{...}.
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
    if (declaration_.recovered) MarkBodyAround();
    const bool wanted = function.global || function.device;
    const auto index = static_cast<uint32_t>(findings_.functions.size());
    const bool is_host = !scopes_.WithinBody();
    scopes_.Enter(Scopes::kBody, close, own, wanted ? index : kNoToken);
    if (wanted) findings_.functions.push_back(function);
    if (is_host) launches_.EnterHost(std::move(function));
  }

  // A kernel in a body: something is missing between them.
  void MarkBodyAround() {
    const uint32_t around = scopes_.function();
    if (around != kNoToken) findings_.functions[around].parse_error = true;
  }

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

  // "C::" of C<T>::f.
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
  uint32_t no_arguments_before_ = 0;
};

}  // namespace

Findings FindFunctions(const Code& code, const Brackets& brackets, LaunchMacros macros) {
  return Finder(code, brackets, std::move(macros)).Run();
}

}  // namespace kernelmill::extractor::cuda
