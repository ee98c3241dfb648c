#include "dataset/training/conversations.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/code/lexer.h"
#include "common/code/python.h"

// Makes questions and answers from what a kernel's record has, by four templates: write the kernel,
// complete its body, write its launcher, say what it does. A template is used only if the record
// has its answer and its question does not give the answer away. The texts of the templates are
// part of the dataset's format.
namespace kernelmill::dataset {
namespace {

using absl::string_view;

constexpr size_t kMinDocstringWords = 5;
constexpr size_t kMaxLauncherBytes = 8192;  // in a question

// The languages of kernels; everything without a case is Triton.
string_view LanguageName(v1::Dsl dsl) {
  switch (dsl) {
    case v1::DSL_GLUON:
      return "Gluon";
    case v1::DSL_PALLAS:
      return "Pallas";
    case v1::DSL_CUDA:
      return "CUDA";
    default:
      return "Triton";
  }
}

// Returns the code between fences that are longer than any fence in it.
std::string Fenced(const v1::Kernel& kernel, string_view code) {
  std::string fence = "```";
  while (absl::StrContains(code, fence)) fence += '`';
  const bool ended = absl::EndsWith(code, "\n");
  return absl::StrCat(fence, kernel.dsl() == v1::DSL_CUDA ? "cuda" : "python", "\n", code,
                      ended ? "" : "\n", fence);
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
  if (kernel.dsl() == v1::DSL_CUDA) return std::string(text);
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
  const std::vector<code::Token> tokens = code::Lex(text, code::ToLanguage(kernel.dsl()));
  return std::any_of(tokens.begin(), tokens.end(), [&](const code::Token& token) {
    return token.kind == code::Token::kName && token.text == kernel.name();
  });
}

// Returns the kernel's body without blanks around it; empty if the offset is at the end.
string_view Body(const v1::Kernel& kernel) {
  const auto offset = static_cast<size_t>(std::max(kernel.body_offset(), 0));
  const string_view source = kernel.source();
  return absl::StripAsciiWhitespace(source.substr(std::min(offset, source.size())));
}

// The launcher's text where that shows how the kernel is launched; else nothing. It has to name the
// kernel, which may have been handed to it by a macro or in a table, and not to hold it: a kernel
// within its launcher would be in the question that asks for it.
std::string ShownLauncher(const v1::Kernel& kernel) {
  const string_view text = kernel.launcher().text();
  if (!Names(text, kernel)) return "";
  if (!Body(kernel).empty() && absl::StrContains(text, Body(kernel))) return "";
  return AtTheMargin(kernel, text);
}

// Returns the word for the kernel in a question.
string_view Noun(const v1::Kernel& kernel) {
  return kernel.role() == v1::KERNEL_ROLE_DEVICE ? "device function" : "kernel";
}

// The question has the kernel's name, operation, docstring, signature, parameters and launcher, as
// far as they are known.
std::string WriteQuestion(const v1::Kernel& kernel, string_view launcher) {
  std::vector<string_view> tags;
  for (const v1::Tag& tag : kernel.tags()) tags.push_back(tag.name());
  std::string text = absl::StrCat("Write a ", LanguageName(kernel.dsl()), " kernel named `",
                                  kernel.name(), "`.\n");
  if (!tags.empty()) absl::StrAppend(&text, "\nOperation: ", absl::StrJoin(tags, ", "), "\n");
  const std::string docstring = PlainDocstring(kernel.docstring());
  if (!docstring.empty()) absl::StrAppend(&text, "\nWhat it does:\n\n", docstring, "\n");
  absl::StrAppend(&text, "\nSignature:\n\n", Fenced(kernel, Signature(kernel)), "\n");
  const std::string parameters = ParameterLines(kernel);
  if (!parameters.empty()) absl::StrAppend(&text, "\nParameters:\n\n", parameters);
  if (!launcher.empty() && launcher.size() <= kMaxLauncherBytes) {
    absl::StrAppend(&text, "\nIt is launched so:\n\n", Fenced(kernel, launcher), "\n");
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

}  // namespace

// The order is fixed: Conversations refers to the names by their places.
const std::vector<std::string>& TemplateNames() {
  static const auto* const names =
      new std::vector<std::string>{"write", "complete", "launch", "document"};
  return *names;
}

// Returns the conversations of a kernel, from none to four, in the order of TemplateNames().
std::vector<Conversation> Conversations(const v1::Kernel& kernel, const manifest::FimPair& fim) {
  const std::string system =
      absl::StrCat("You write GPU kernels in ", LanguageName(kernel.dsl()), ".");
  std::vector<Conversation> all;
  const auto add = [&](size_t name, std::string user, std::string assistant) {
    all.push_back({TemplateNames()[name], system, std::move(user), std::move(assistant)});
  };
  const std::string launcher = ShownLauncher(kernel);
  const bool launched = kernel.role() == v1::KERNEL_ROLE_KERNEL;
  if (launched && IsWhole(kernel) && (!kernel.docstring().empty() || kernel.tags_size() > 0)) {
    add(0, WriteQuestion(kernel, launcher), Fenced(kernel, kernel.module()));
  }
  if (fim.excluded.empty()) {
    add(1,
        absl::StrCat("Complete the body of this ", Noun(kernel), ".\n\n",
                     Fenced(kernel, fim.prompt)),
        Fenced(kernel, fim.completion));
  }
  if (!launcher.empty() && kernel.dsl() != v1::DSL_CUDA && !kernel.module().empty()) {
    add(2,
        absl::StrCat("Write the function that launches `", kernel.name(), "`.\n\n",
                     Fenced(kernel, kernel.module())),
        Fenced(kernel, launcher));
  }
  const std::string docstring = PlainDocstring(kernel.docstring());
  const std::string bare = docstring.empty() ? "" : WithoutDocstring(kernel);
  if (!bare.empty() && Words(docstring) >= kMinDocstringWords) {
    add(3, absl::StrCat("What does this ", Noun(kernel), " do?\n\n", Fenced(kernel, bare)),
        docstring);
  }
  return all;
}

}  // namespace kernelmill::dataset
