#include "services/compiler/core/cuda/host_arguments.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "services/compiler/core/cuda/cpp_text.h"

namespace kernelmill::compiler::cuda {
namespace {

using absl::string_view;

constexpr int kMaxDepth = 4;          // names that stand for names
constexpr size_t kMaxArguments = 16;  // of a parameter
constexpr size_t kMaxMentions = 64;   // of a kernel in the host's text, and of a macro
constexpr int kMaxLookups = 256;      // of names, for all parameters

constexpr string_view kLiteralTypes[] = {
    "float",         "double",       "int",      "char",     "short",       "long",
    "long long",     "bool",         "half",     "__half",   "half2",       "__half2",
    "__nv_bfloat16", "float2",       "float4",   "int4",     "uint4",       "size_t",
    "unsigned",      "unsigned int", "int8_t",   "int16_t",  "int32_t",     "int64_t",
    "uint8_t",       "uint16_t",     "uint32_t", "uint64_t", "nv_bfloat16", "__nv_fp8_e4m3",
    "__nv_fp8_e5m2", "unsigned char"};

// Returns whether the text is a flag, a known type or a number.
bool IsLiteral(string_view text) {
  if (text == "true" || text == "false") return true;
  if (std::find(std::begin(kLiteralTypes), std::end(kLiteralTypes), text) !=
      std::end(kLiteralTypes)) {
    return true;
  }
  absl::ConsumePrefix(&text, "-");
  const size_t end = text.find_first_not_of("0123456789");
  return !text.empty() && end != 0 &&
         (end == string_view::npos || text.find_first_not_of("uUlL", end) == string_view::npos);
}

bool IsName(string_view text) {
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsWord(c) || c == ':'; });
}

// Returns whether a module defines a type or a constant of this name in a namespace, where its
// lines begin at the first column.
bool Defines(string_view module, string_view name) {
  for (size_t at = FindWord(module, name); at != string_view::npos;
       at = FindWord(module, name, at + 1)) {
    const size_t above = at == 0 ? string_view::npos : module.rfind('\n', at - 1);
    const size_t begin = above == string_view::npos ? 0 : above + 1;
    string_view before = absl::StripTrailingAsciiWhitespace(module.substr(begin, at - begin));
    if (before.empty() || absl::ascii_isspace(static_cast<unsigned char>(before[0]))) continue;
    const string_view after = absl::StripLeadingAsciiWhitespace(module.substr(at + name.size()));
    if (after.size() < 2) continue;
    const bool constant = after[0] == '=' && after[1] != '=' && HasWord(before, "constexpr");
    const std::string word = TakeLastWord(before);
    const bool type = word == "struct" || word == "class" || word == "enum" || word == "using";
    // `class T,` of a template header defines nothing.
    if (constant || (type && absl::StrContains("{:=", after[0]))) return true;
  }
  return false;
}

class HostText {
 public:
  explicit HostText(const v1::Kernel& kernel)
      : name_(kernel.name()),
        text_(OneLine(kernel.launcher().text())),
        raw_module_(kernel.module()),
        module_(OneLine(raw_module_)) {
    // Names of template parameters hide those of the module.
    for (const v1::CudaLaunch& launch : kernel.cuda().launches())
      AddMentions(OneLine(launch.text()));
    AddMentions(text_);
    if (absl::StartsWith(text_, "template <") || absl::StartsWith(text_, "template<")) {
      const size_t open = text_.find('<');
      const size_t close = FindClose(text_, open);
      if (close != std::string::npos) head_ = text_.substr(open, close - open);
    }
  }

  std::vector<HostArgument> Find(size_t place) {
    std::vector<HostArgument> found;
    for (const std::vector<std::string>& list : lists_) {
      if (place >= list.size()) continue;
      for (std::string& value : Resolve(list[place], 0)) {
        const auto known = std::find_if(found.begin(), found.end(), [&](const HostArgument& other) {
          return other.value == value;
        });
        const bool written = value == list[place];
        if (known != found.end()) {
          known->written |= written;
        } else if (found.size() < kMaxArguments) {
          found.push_back({std::move(value), written});
        }
      }
    }
    return found;
  }

 private:
  // Adds the template arguments of each `name<...>`.
  void AddMentions(string_view text) {
    for (size_t at = FindWord(text, name_); at != string_view::npos && lists_.size() < kMaxMentions;
         at = FindWord(text, name_, at + 1)) {
      size_t open = at + name_.size();
      while (open < text.size() && text[open] == ' ') ++open;
      if (open >= text.size() || text[open] != '<' || absl::StartsWith(text.substr(open), "<<"))
        continue;
      const size_t close = FindClose(text, open);
      if (close != string_view::npos)
        lists_.push_back(SplitList(text.substr(open + 1, close - open - 2)));
    }
  }

  // Returns what an argument stands for in the module; empty if that is not known.
  std::vector<std::string> Resolve(const std::string& argument, int depth) {
    if (IsLiteral(argument)) return {argument};
    if (depth >= kMaxDepth) return {};
    if (const size_t open = argument.find('<'); open != std::string::npos)
      return ResolveTemplate(argument, open, depth);
    if (!IsName(argument)) return {};
    if (absl::StrContains(argument, "::")) {
      for (const absl::string_view part : absl::StrSplit(argument, "::", absl::SkipEmpty())) {
        if (!HasWord(module_, part)) return {};
      }
      return {argument};
    }
    if (HasWord(head_, argument)) return {};
    std::vector<std::string> values = FindValues(argument, depth);
    if (values.empty() && Defines(raw_module_, argument)) values.push_back(argument);
    return values;
  }

  // X<a, b>, if the module has X and all arguments are known. The first value of each counts.
  std::vector<std::string> ResolveTemplate(const std::string& argument, size_t open, int depth) {
    const string_view type = absl::StripAsciiWhitespace(string_view(argument).substr(0, open));
    if (!IsName(type) || !absl::EndsWith(argument, ">")) return {};
    const size_t colon = type.rfind("::");
    if (!Defines(raw_module_, colon == string_view::npos ? type : type.substr(colon + 2)))
      return {};
    std::vector<std::string> values;
    for (const std::string& each :
         SplitList(string_view(argument).substr(open + 1, argument.size() - open - 2))) {
      std::vector<std::string> one = Resolve(each, depth + 1);
      if (one.empty()) return {};
      values.push_back(std::move(one[0]));
    }
    return {absl::StrCat(type, "<", absl::StrJoin(values, ", "), ">")};
  }

  // Returns what the host function says that its name is.
  std::vector<std::string> FindValues(const std::string& name, int depth) {
    std::vector<std::string> values;
    if (++lookups_ > kMaxLookups) return values;
    for (size_t at = FindWord(text_, name); at != std::string::npos;
         at = FindWord(text_, name, at + 1)) {
      const string_view after =
          absl::StripLeadingAsciiWhitespace(string_view(text_).substr(at + name.size()));
      if (after.size() < 2 || after[0] != '=' || after[1] == '=' || !IsDeclaration(at)) continue;
      const string_view value = after.substr(1, after.find(';') - 1);
      for (std::string& each : Resolve(std::string(absl::StripAsciiWhitespace(value)), depth + 1))
        values.push_back(std::move(each));
    }
    AddMacroValues(name, depth, values);
    return values;
  }

  // Returns whether the statement up to a place is `using` or begins with constexpr or const.
  bool IsDeclaration(size_t at) const {
    const size_t begin = text_.find_last_of(";{}", at);
    const string_view statement = absl::StripAsciiWhitespace(
        string_view(text_).substr(begin == std::string::npos ? 0 : begin + 1,
                                  at - (begin == std::string::npos ? 0 : begin + 1)));
    return absl::EndsWith(statement, "using") || HasWord(statement, "constexpr") ||
           absl::StartsWith(statement, "const ") || absl::StartsWith(statement, "static const ");
  }

  // Adds what calls of a macro of the host function give to its parameter.
  void AddMacroValues(const std::string& name, int depth, std::vector<std::string>& values) {
    size_t calls = 0;
    for (size_t at = text_.find("#define "); at != std::string::npos;
         at = text_.find("#define ", at + 1)) {
      const size_t begin = at + 8;
      const size_t open = text_.find('(', begin);
      if (open == std::string::npos || !IsName(string_view(text_).substr(begin, open - begin)))
        continue;
      const size_t close = FindClose(text_, open);
      if (close == std::string::npos) continue;
      const std::vector<std::string> parameters =
          SplitList(string_view(text_).substr(open + 1, close - open - 2));
      const auto found = std::find(parameters.begin(), parameters.end(), name);
      if (found == parameters.end()) continue;
      const auto place = static_cast<size_t>(found - parameters.begin());
      const string_view macro = string_view(text_).substr(begin, open - begin);
      for (size_t call = FindWord(text_, macro, close);
           call != std::string::npos && ++calls < kMaxMentions;
           call = FindWord(text_, macro, call + 1)) {
        const size_t arguments = call + macro.size();
        if (arguments >= text_.size() || text_[arguments] != '(') continue;
        const size_t end = FindClose(text_, arguments);
        if (end == std::string::npos) continue;
        const std::vector<std::string> list =
            SplitList(string_view(text_).substr(arguments + 1, end - arguments - 2));
        if (place >= list.size()) continue;
        for (std::string& each : Resolve(list[place], depth + 1)) values.push_back(std::move(each));
      }
    }
  }

  const std::string name_;
  const std::string text_;  // the function around the first launch, on one line
  const std::string& raw_module_;
  const std::string module_;  // on one line
  std::string head_;          // the function's template parameters
  std::vector<std::vector<std::string>> lists_;
  int lookups_ = 0;
};

}  // namespace

std::vector<std::vector<HostArgument>> FindHostArguments(const v1::Kernel& kernel, size_t count) {
  HostText host(kernel);
  std::vector<std::vector<HostArgument>> found;
  for (size_t place = 0; place < count; ++place) found.push_back(host.Find(place));
  return found;
}

}  // namespace kernelmill::compiler::cuda
