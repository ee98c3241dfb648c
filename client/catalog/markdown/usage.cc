#include "client/catalog/markdown/usage.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/code/brackets.h"
#include "common/code/lexer.h"

namespace kernelmill::client {
namespace {

using code::Token;
using Tokens = std::vector<Token>;

constexpr size_t kMaxUsage = 400;  // characters

bool IsName(absl::string_view word) {
  if (word.empty() || absl::ascii_isdigit(static_cast<unsigned char>(word[0]))) return false;
  return std::all_of(word.begin(), word.end(), [](char c) {
    return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
  });
}

// "a.b.c" of "src/a/b/c.py": the folders that packages are commonly put in are no package.
std::string ModuleOf(absl::string_view path) {
  if (!absl::ConsumeSuffix(&path, ".py")) return "";
  absl::ConsumeSuffix(&path, "/__init__");
  absl::ConsumePrefix(&path, "src/") || absl::ConsumePrefix(&path, "python/");
  const std::vector<absl::string_view> parts = absl::StrSplit(path, '/');
  if (!std::all_of(parts.begin(), parts.end(), IsName)) return "";
  return absl::StrJoin(parts, ".");
}

// The parameters of a definition, as a call has them: without annotations, defaults kept.
std::string Arguments(const Tokens& tokens) {
  size_t i = 0;
  while (i < tokens.size() && tokens[i].text != "def") ++i;
  while (i < tokens.size() && tokens[i].text != "(") ++i;
  std::vector<std::string> arguments = {""};
  int depth = 1;
  bool skipping = false;  // an annotation, or what a call has no word for
  for (++i; i < tokens.size(); ++i) {
    const absl::string_view text = tokens[i].text;
    depth += code::BracketDepthChange(text);
    if (depth == 0) break;
    if (tokens[i].kind == Token::kComment) continue;
    if (depth == 1 && text == ",") {
      arguments.emplace_back();
      skipping = false;
    } else if (depth == 1 && (text == ":" || text == "*" || text == "**" || text == "/")) {
      skipping = true;
    } else if (depth == 1 && text == "=") {
      skipping = false;
      arguments.back() += "=";
    } else if (!skipping) {
      absl::StrAppend(&arguments.back(), text);
    }
  }
  if (depth != 0) return "";
  arguments.erase(std::remove_if(arguments.begin(), arguments.end(),
                                 [](const std::string& argument) {
                                   return argument.empty() || argument == "self" ||
                                          argument == "cls" || argument == "ctx";
                                 }),
                  arguments.end());
  return absl::StrJoin(arguments, ", ");
}

}  // namespace

std::string MinimalUsage(const CatalogKernel& kernel) {
  if (!kernel.launcher.has_value() || kernel.dsl == "cuda") return "";
  const CatalogLauncher& launcher = *kernel.launcher;
  const std::string module = ModuleOf(launcher.path);
  const absl::string_view first = FirstPart(launcher.qualname);
  if (module.empty() || !IsName(first) || launcher.text.empty()) return "";
  const std::string from = absl::StrCat("from ", module, " import ", first);
  // Of a class how it is made is not in this text; torch's functions are called by apply.
  const Tokens tokens = code::Lex(launcher.text, code::Language::kPython);
  const absl::string_view last = LastPart(launcher.qualname);
  std::string call;
  if (first == launcher.qualname) {
    call = absl::StrCat(first, "(", Arguments(tokens), ")");
  } else if (last == "forward" && absl::StrContains(launcher.text, "ctx")) {
    call = absl::StrCat(first, ".apply(", Arguments(tokens), ")");
  } else {
    return "";
  }
  const std::string usage = absl::StrCat(from, " ; ", call);
  return usage.size() > kMaxUsage ? "" : usage;
}

}  // namespace kernelmill::client
