#include "dataset/training/conversations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/dsl/labels.h"
#include "common/dsl/languages.h"
#include "common/dsl/launcher_syntax.h"
#include "dataset/training/host_code.h"

// Makes questions and answers from what a kernel's record has, by four templates: write the kernel,
// complete its body, write its launcher, say what it does. A template is used only if the record
// has its answer and its question does not give the answer away. The texts of the templates are
// part of the dataset's format.
namespace kernelmill::dataset {
namespace {

using absl::string_view;

constexpr size_t kMinDocstringWords = 5;    // fewer do not say what a kernel computes
constexpr size_t kMaxLauncherBytes = 8192;  // in a question

// Returns the code as a block in its language.
std::string FencedCode(const v1::Kernel& kernel, string_view code) {
  return Fenced(code, dsl::IsC(kernel.dsl()) ? "cuda" : "python");
}

// Returns a docstring without the indentation of its lines and without blank lines around it.
std::string PlainDocstring(string_view docstring) {
  std::vector<std::string> lines;
  size_t indentation = string_view::npos;
  for (string_view line : absl::StrSplit(docstring, '\n')) {
    line = absl::StripTrailingAsciiWhitespace(line);
    const size_t blanks = line.size() - absl::StripLeadingAsciiWhitespace(line).size();
    if (!lines.empty() && !line.empty()) indentation = std::min(indentation, blanks);
    lines.emplace_back(line);
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i] = i == 0 ? std::string(absl::StripLeadingAsciiWhitespace(lines[i]))
                      : lines[i].substr(std::min(indentation, lines[i].size()));
  }
  return std::string(absl::StripAsciiWhitespace(absl::StrJoin(lines, "\n")));
}

size_t Words(string_view text) {
  return static_cast<size_t>(
      std::distance(absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty()).begin(),
                    absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty()).end()));
}

// Returns nothing for a role that is unknown, so that the question does not list it.
string_view RoleText(v1::ParameterRole role) {
  switch (role) {
    case v1::PARAMETER_ROLE_POINTER:
      return "pointer";
    case v1::PARAMETER_ROLE_STRIDE:
      return "stride";
    case v1::PARAMETER_ROLE_SIZE:
      return "size";
    case v1::PARAMETER_ROLE_CONSTEXPR:
      return "known when it is compiled";
    case v1::PARAMETER_ROLE_OTHER:
      return "value";
    default:
      return "";
  }
}

// Returns a line for each parameter with a known role.
std::string ParameterLines(const v1::Kernel& kernel) {
  std::string lines;
  for (const v1::Parameter& parameter : kernel.parameters()) {
    const string_view role = RoleText(parameter.role());
    if (role.empty() || parameter.name().empty()) continue;
    absl::StrAppend(&lines, "- `", parameter.name(), "`: ", role, "\n");
  }
  return lines;
}

// Returns true if the kernel's module can be an answer: it needs nothing else and is valid.
bool IsWhole(const v1::Kernel& kernel) {
  return kernel.self_contained() && !kernel.parse_error() && !kernel.module().empty() &&
         kernel.form() != v1::KERNEL_FORM_TEMPLATE;
}

// Returns a Python text without the indentation of its first line. Other texts stay as they are.
std::string AtTheMargin(const v1::Kernel& kernel, string_view text) {
  if (dsl::IsC(kernel.dsl())) return std::string(text);
  return code::DedentPython(text).value_or(std::string(text));
}

// Returns the signature without its indentation. It begins a line, and its other lines have the
// same indentation.
std::string Signature(const v1::Kernel& kernel) {
  const string_view source = kernel.source();
  const size_t begin = source.find(kernel.signature());
  if (begin == string_view::npos || begin == 0) return kernel.signature();
  const size_t line = source.rfind('\n', begin - 1) + 1;  // npos + 1 is the beginning
  return AtTheMargin(kernel, source.substr(line, begin - line + kernel.signature().size()));
}

// Returns true if a token of the text is the kernel's name. A name in a string or comment does not
// count.
bool Names(string_view text, const v1::Kernel& kernel) {
  const std::vector<code::Token> tokens = code::Lex(text, dsl::GetSyntax(kernel.dsl()));
  return std::any_of(tokens.begin(), tokens.end(), [&](const code::Token& token) {
    return token.kind == code::Token::kName && token.text == kernel.name();
  });
}

// Words of kernels' names that do not say what is computed; sorted.
constexpr std::array<string_view, 72> kEmptyWords = {
    "a",       "an",        "and",       "backward", "bar",       "base",     "basic",   "baz",
    "body",    "bw",        "bwd",       "call",     "compute",   "cuda",     "custom",  "default",
    "demo",    "device",    "entry",     "example",  "fast",      "fn",       "foo",     "for",
    "foreach", "forward",   "func",      "function", "functions", "fused",    "fw",      "fwd",
    "generic", "global",    "gpu",       "helper",   "impl",      "inner",    "jit",     "kernel",
    "kernels", "launch",    "main",      "my",       "naive",     "new",      "of",      "old",
    "op",      "ops",       "optimized", "outer",    "per",       "poi",      "program", "red",
    "ref",     "reference", "run",       "simple",   "temp",      "template", "test",    "tests",
    "the",     "tl",        "tmp",       "triton",   "ver",       "version",  "wrapped", "wrapper"};

// Returns true if no word of the name says what the kernel computes: _fwd_kernel, kernel_2.
bool SaysNothing(string_view name) {
  size_t at = 0;
  while (at < name.size()) {
    // A word is a run of small letters, after capitals or one capital.
    size_t end = at;
    while (end < name.size() && absl::ascii_isupper(name[end])) ++end;
    if (end > at + 1 && end < name.size() && absl::ascii_islower(name[end])) --end;
    if (end <= at + 1) {
      while (end < name.size() && absl::ascii_islower(name[end])) ++end;
    }
    const std::string word = absl::AsciiStrToLower(name.substr(at, end - at));
    if (word.size() > 1 &&
        !std::binary_search(kEmptyWords.begin(), kEmptyWords.end(), string_view(word))) {
      return false;
    }
    at = std::max(end, at + 1);
  }
  return true;
}

// Returns the kernel's body without blanks around it; empty if the offset is at the end.
string_view Body(const v1::Kernel& kernel) {
  const auto offset = static_cast<size_t>(std::max(kernel.body_offset(), 0));
  const string_view source = kernel.source();
  return absl::StripAsciiWhitespace(source.substr(std::min(offset, source.size())));
}

code::Language GetLauncherLanguage(const v1::Kernel& kernel) {
  return dsl::GetLauncherSyntax(kernel, kernel.form() == v1::KERNEL_FORM_STRING);
}

// The launcher's text where that shows how the kernel is launched; else nothing. It has to name the
// kernel, which may have been handed to it by a macro or in a table, and not to hold it: a kernel
// within its launcher would be in the question that asks for it.
std::string ShownLauncher(const v1::Kernel& kernel) {
  const string_view text = kernel.launcher().text();
  if (!Names(text, kernel)) return "";
  if (!Body(kernel).empty() && absl::StrContains(text, Body(kernel))) return "";
  const code::Language language = GetLauncherLanguage(kernel);
  if (language == code::Language::kC) return std::string(text);
  return code::DedentPython(text).value_or(std::string(text));
}

// Returns the word for the kernel in a question.
string_view Noun(const v1::Kernel& kernel) {
  return kernel.role() == v1::KERNEL_ROLE_DEVICE ? "device function" : "kernel";
}

// Returns " for Ascend NPUs"; nothing for a kernel for any hardware, and for CUDA on NVIDIA's.
std::string Hardware(const v1::Kernel& kernel, string_view target) {
  if (dsl::IsC(kernel.dsl()) && target == "nvidia") return "";
  const std::string name = dsl::HardwareName(target);
  return name.empty() ? "" : absl::StrCat(" for ", name);
}

// Returns a docstring for the middle of a question. One with fences is a block of its own, since
// they may not be closed.
std::string Shown(const std::string& docstring) {
  for (const string_view line : absl::StrSplit(docstring, '\n')) {
    const string_view text = absl::StripLeadingAsciiWhitespace(line);
    if (absl::StartsWith(text, "```") || absl::StartsWith(text, "~~~")) {
      return Fenced(docstring, "text");
    }
  }
  return docstring;
}

// The question has the kernel's name, operation, docstring, signature, parameters and launcher, as
// far as they are known.
std::string AskToWrite(const v1::Kernel& kernel, string_view hardware, string_view launcher) {
  std::vector<string_view> tags;
  for (const v1::Tag& tag : kernel.tags()) tags.push_back(tag.name());
  std::string text = absl::StrCat("Write a ", dsl::GetTitle(kernel.dsl()), " kernel named `",
                                  kernel.name(), "`", hardware, ".\n");
  if (!tags.empty()) absl::StrAppend(&text, "\nOperation: ", absl::StrJoin(tags, ", "), "\n");
  const std::string docstring = PlainDocstring(kernel.docstring());
  if (!docstring.empty()) absl::StrAppend(&text, "\nWhat it does:\n\n", Shown(docstring), "\n");
  absl::StrAppend(&text, "\nSignature:\n\n", FencedCode(kernel, Signature(kernel)), "\n");
  const std::string parameters = ParameterLines(kernel);
  if (!parameters.empty()) absl::StrAppend(&text, "\nParameters:\n\n", parameters);
  if (!launcher.empty() && launcher.size() <= kMaxLauncherBytes) {
    const bool is_c = GetLauncherLanguage(kernel) == code::Language::kC;
    absl::StrAppend(&text, "\nIt is launched so:\n\n", Fenced(launcher, is_c ? "cuda" : "python"),
                    "\n");
  }
  return text;
}

// The source without its docstring, which is between the signature and the body.
std::string WithoutDocstring(const v1::Kernel& kernel) {
  const string_view source = kernel.source();
  const size_t signature = source.find(kernel.signature());
  const auto body = static_cast<size_t>(std::max(kernel.body_offset(), 0));
  if (signature == string_view::npos || body > source.size()) return "";
  const size_t end = signature + kernel.signature().size();
  // The docstring must not occur again in what remains, or the question would show its answer.
  if (end > body || absl::StrContains(source.substr(body), kernel.docstring())) return "";
  return AtTheMargin(kernel, absl::StrCat(source.substr(0, end), "\n", source.substr(body)));
}

// Returns true if the launcher is a test: a function or class whose name begins with "test".
bool IsTest(const v1::Launcher& launcher) {
  for (const string_view part : absl::StrSplit(launcher.qualname(), '.')) {
    if (absl::StartsWithIgnoreCase(absl::StripPrefix(part, "_"), "test")) return true;
  }
  return false;
}

// Returns the signatures of the other kernels that a launcher launches; nothing if one of them is
// not among the siblings.
std::optional<std::string> FindSignatures(const std::vector<std::string>& launched,
                                          const Siblings& siblings) {
  std::string text;
  for (const std::string& name : launched) {
    const auto sibling = siblings.find(name);
    if (sibling == siblings.end()) return std::nullopt;
    absl::StrAppend(&text, Signature(*sibling->second), "\n");
  }
  return text;
}

// The question has the function's head, the names that it takes from elsewhere, the signatures of
// the other kernels that it launches, and the module.
std::string LaunchQuestion(const v1::Kernel& kernel, string_view hardware, const HostCode& host,
                           const std::string& others) {
  std::string text = absl::StrCat("Write the function that launches `", kernel.name(), "`",
                                  hardware.empty() ? "" : ", a kernel", hardware,
                                  ". It begins so:\n\n", FencedCode(kernel, host.head), "\n\n");
  if (!others.empty()) {
    absl::StrAppend(&text, "It also launches:\n\n", FencedCode(kernel, others), "\n\n");
  }
  if (!host.names.empty()) {
    absl::StrAppend(&text, "These names are defined elsewhere: `",
                    absl::StrJoin(host.names, "`, `"), "`.\n\n");
  }
  absl::StrAppend(&text, "The kernel:\n\n", FencedCode(kernel, kernel.module()));
  return text;
}

// Makes a kernel's conversations, a template after the other.
class ConversationMaker {
 public:
  ConversationMaker(const v1::Kernel& kernel, const manifest::FimPair& fim, string_view target,
                    const Siblings& siblings)
      : kernel_(kernel),
        hardware_(Hardware(kernel, target)),
        fim_(fim),
        siblings_(siblings),
        launcher_(ShownLauncher(kernel)),
        docstring_(PlainDocstring(kernel.docstring())) {}

  Conversations Run() {
    Write();
    Complete();
    Launch();
    Document();
    return std::move(all_);
  }

 private:
  // The places of the templates in TemplateNames().
  enum Template : uint8_t { kWrite, kComplete, kLaunch, kDocument };

  void Ask(Template name, std::string user, std::string assistant) {
    all_.asked.push_back({TemplateNames()[name],
                          absl::StrCat("You write ", hardware_.empty() ? "GPU " : "", "kernels in ",
                                       dsl::GetTitle(kernel_.dsl()), hardware_, "."),
                          std::move(user), std::move(assistant)});
  }
  void Skip(Template name, string_view reason) {
    all_.not_asked.push_back({TemplateNames()[name], reason});
  }

  // A tag alone says which kind of operation it is, and not which operation.
  void Write() {
    const bool shows_launcher =
        !launcher_.empty() && launcher_.size() <= kMaxLauncherBytes && !IsTest(kernel_.launcher());
    if (kernel_.role() != v1::KERNEL_ROLE_KERNEL) return Skip(kWrite, "device_function");
    if (!IsWhole(kernel_)) return Skip(kWrite, "not_self_contained");
    if (SaysNothing(kernel_.name())) return Skip(kWrite, "empty_name");
    if (!shows_launcher && Words(docstring_) < kMinDocstringWords) {
      return Skip(kWrite, "no_ground");
    }
    Ask(kWrite, AskToWrite(kernel_, hardware_, launcher_), FencedCode(kernel_, kernel_.module()));
  }

  void Complete() {
    if (!fim_.excluded.empty()) return Skip(kComplete, fim_.excluded);
    if (SaysNothing(kernel_.name()) && Words(docstring_) < kMinDocstringWords) {
      return Skip(kComplete, "empty_name");
    }
    Ask(kComplete,
        absl::StrCat("Complete the body of this ", Noun(kernel_), hardware_, ".\n\n",
                     FencedCode(kernel_, fim_.prompt)),
        FencedCode(kernel_, fim_.completion));
  }

  void Launch() {
    if (dsl::IsC(kernel_.dsl())) return Skip(kLaunch, "language");
    if (launcher_.empty()) return Skip(kLaunch, "no_launcher");
    if (IsTest(kernel_.launcher())) return Skip(kLaunch, "test_launcher");
    if (kernel_.module().empty()) return Skip(kLaunch, "no_module");
    const std::optional<HostCode> host = ReadHostCode(launcher_, kernel_.module(), kernel_.name());
    if (!host) return Skip(kLaunch, "launcher_syntax");
    if (!host->has_parameters) return Skip(kLaunch, "no_parameters");
    const std::optional<std::string> others = FindSignatures(host->launched, siblings_);
    if (!others) return Skip(kLaunch, "launches_others");
    Ask(kLaunch, LaunchQuestion(kernel_, hardware_, *host, *others),
        FencedCode(kernel_, launcher_));
  }

  void Document() {
    if (docstring_.empty()) return Skip(kDocument, "no_docstring");
    if (Words(docstring_) < kMinDocstringWords) return Skip(kDocument, "short_docstring");
    const std::string bare = WithoutDocstring(kernel_);
    if (bare.empty()) return Skip(kDocument, "docstring_elsewhere");
    Ask(kDocument,
        absl::StrCat("What does this ", Noun(kernel_), " do?\n\n", FencedCode(kernel_, bare)),
        docstring_);
  }

  const v1::Kernel& kernel_;
  const std::string hardware_;
  const manifest::FimPair& fim_;
  const Siblings& siblings_;
  const std::string launcher_;
  const std::string docstring_;
  Conversations all_;
};

}  // namespace

// The order is fixed: ConversationMaker refers to the names by their places.
const std::vector<std::string>& TemplateNames() {
  static const auto* const names =
      new std::vector<std::string>{"write", "complete", "launch", "document"};
  return *names;
}

// A fence ends at the first one that is as long as it.
std::string Fenced(string_view text, string_view language) {
  std::string fence = "```";
  while (absl::StrContains(text, fence)) fence += '`';
  return absl::StrCat(fence, language, "\n", text, absl::EndsWith(text, "\n") ? "" : "\n", fence);
}

std::string WriteQuestion(const v1::Kernel& kernel, string_view target) {
  return AskToWrite(kernel, Hardware(kernel, target), ShownLauncher(kernel));
}

Conversations MakeConversations(const v1::Kernel& kernel, const manifest::FimPair& fim,
                                string_view target, const Siblings& siblings) {
  return ConversationMaker(kernel, fim, target, siblings).Run();
}

}  // namespace kernelmill::dataset
