#include "common/dsl/libraries.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "common/code/lexer.h"

namespace kernelmill::dsl {
namespace {

using absl::string_view;

struct NamedLibrary {
  string_view name;
  std::vector<string_view> namespaces;
};

const std::vector<NamedLibrary>& Libraries() {
  static const auto& libraries = *new std::vector<NamedLibrary>{
      {"composable_kernel", {"ck", "ck_tile"}},
      {"cutlass", {"cutlass", "cute"}},
      {"thunderkittens", {"kittens"}},
  };
  return libraries;
}

// Returns whether the token at `at` names an outermost namespace: cute::f, namespace cute {.
bool IsNamespace(const std::vector<code::Token>& tokens, size_t at) {
  const string_view before = at > 0 ? tokens[at - 1].text : "";
  const string_view after = at + 1 < tokens.size() ? tokens[at + 1].text : "";
  const bool within = before == "::" && at > 1 && tokens[at - 2].kind == code::Token::kName;
  return before == "namespace" || (after == "::" && !within);
}

}  // namespace

std::vector<string_view> FindLibraries(string_view text) {
  std::vector<string_view> found;
  std::vector<code::Token> tokens;
  for (const NamedLibrary& library : Libraries()) {
    const auto mentions = [&](string_view name) { return absl::StrContains(text, name); };
    if (std::none_of(library.namespaces.begin(), library.namespaces.end(), mentions)) continue;
    if (tokens.empty()) {
      tokens = code::Lex(text, code::Language::kC);
      std::erase_if(tokens, [](const auto& token) { return token.kind == code::Token::kComment; });
    }
    for (size_t at = 0; at < tokens.size(); ++at) {
      const auto& names = library.namespaces;
      const bool named = tokens[at].kind == code::Token::kName &&
                         std::find(names.begin(), names.end(), tokens[at].text) != names.end();
      if (!named || !IsNamespace(tokens, at)) continue;
      found.push_back(library.name);
      break;
    }
  }
  return found;
}

}  // namespace kernelmill::dsl
