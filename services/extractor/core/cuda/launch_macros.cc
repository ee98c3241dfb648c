#include "services/extractor/core/cuda/launch_macros.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/code/brackets.h"
#include "services/extractor/core/cuda/names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;

// Macros that launch kernels. A macro is not expanded: its text is searched for launches, like a
// body. It launches a fixed name, one of its arguments, the result of a function that returns a
// kernel, or the kernels of a macro that it gets as an argument. MacroLaunches notes these four
// apart; LaunchFinder::AddCall applies them at each use.
constexpr size_t kMaxMacroArguments = 16;  // read of a call
constexpr size_t kMaxNames = 64;           // launched by one macro
constexpr uint32_t kFirstArguments = 3;    // one of them is the kernel of a launching call

// Returns the parameters of a macro whose definition continues with `rest`: "(a, b) text".
std::vector<string_view> SplitParameters(string_view rest) {
  std::vector<string_view> parameters;
  const size_t close = rest.find(')');
  if (rest.empty() || rest[0] != '(' || close == string_view::npos) return parameters;
  for (const string_view part : absl::StrSplit(rest.substr(1, close - 1), ',')) {
    parameters.push_back(absl::StripAsciiWhitespace(part));
  }
  return parameters;
}

}  // namespace

// Returns whether the word looks like a function or macro that launches its argument: by name,
// since its definition is often in another source. CHECK, BOUNDS and ERROR are parts of names that
// launch nothing.
bool IsLaunchCall(absl::string_view word) {
  if (absl::StartsWith(word, "hipLaunch") || absl::StartsWith(word, "cudaLaunch")) return true;
  return absl::StrContains(word, "LAUNCH") && !absl::StrContains(word, "CHECK") &&
         !absl::StrContains(word, "BOUNDS") && !absl::StrContains(word, "ERROR");
}

// Returns for each argument the first plain name in it; empty for an argument without one.
std::vector<absl::string_view> NamedArguments(const Code& code, const Brackets& brackets,
                                              uint32_t open) {
  std::vector<string_view> names;
  const uint32_t close = brackets.match[open];
  if (close == kNoToken || close < open) return names;
  names.emplace_back();
  bool named = false;
  for (uint32_t at = open + 1; at < close; ++at) {
    const char mark = code.tokens[at].mark;
    if (mark == ',') {
      if (names.size() >= kMaxMacroArguments) return names;
      names.emplace_back();
      named = false;
      continue;
    }
    if (mark == '<') {
      const AngleSearch end = FindAngleEnd(code, brackets, at, 256);
      if (end.found) at = end.token;
      continue;
    }
    if (code.IsWord(at) && !named) {
      const bool follows = code.Is(at + 1, "(") || code.Is(at + 1, "::") || IsKeyword(code[at]);
      if (!follows) {
        names.back() = code[at];
        named = true;
      }
      continue;
    }
    // Brackets before the name may hold it, as in (k<T>) and NAME(k). Those after it hold commas
    // that separate no arguments.
    if (code::IsOpeningBracket(mark) && named && brackets.match[at] != kNoToken) {
      at = brackets.match[at];
    }
  }
  return names;
}

// Only a plain name counts: of `return f(x)` the value is not known.
absl::string_view ReturnedName(const Code& code, uint32_t at) {
  constexpr uint32_t kMaxTokens = 16;
  for (uint32_t next = at + 1; next < std::min(code.size(), at + kMaxTokens); ++next) {
    if (code.IsWord(next) && !code.Is(next + 1, "::")) {
      return code.Is(next + 1, "(") ? string_view() : code[next];
    }
    if (!code.IsWord(next) && code[next] != "::" && code[next] != "&") break;
  }
  return "";
}

const MacroLaunches* LaunchMacros::Find(absl::string_view name) const {
  const auto found = macros_.find(name);
  return found == macros_.end() ? nullptr : &found->second;
}

void LaunchMacros::Add(const Code& code) {
  for (const Macro& macro : code.macros) {
    if (!macro.undefines) AddOne(macro);
  }
}

// Reads the macro's text like a function's body. A name that is a parameter of the macro is noted
// by its number, so that each use of the macro can look up its own argument.
void LaunchMacros::AddOne(const Macro& macro) {
  const std::vector<string_view> parameters = SplitParameters(macro.rest);
  const Code body = Lex(macro.rest);
  const Brackets brackets = MatchBrackets(body);
  MacroLaunches launches;
  const auto add = [&](string_view name) {
    if (name.empty() || launches.names.size() >= kMaxNames) return;
    const auto parameter = std::find(parameters.begin(), parameters.end(), name);
    if (parameter == parameters.end()) {
      launches.names.insert(std::string(name));
    } else {
      launches.arguments.insert(static_cast<uint32_t>(parameter - parameters.begin()));
    }
  };
  for (uint32_t at = 0; at < body.size(); ++at) {
    if (body[at] == "<<<") {
      const uint32_t name = NameBefore(body, brackets, at);
      if (name != kNoToken) add(body[name]);
    }
    if (body[at] == "return" && launches.returned.size() < kMaxNames) {
      const string_view name = ReturnedName(body, at);
      if (!name.empty()) launches.returned.insert(std::string(name));
    }
    if (!body.IsWord(at) || !body.Is(at + 1, "(")) continue;
    const auto invoked = std::find(parameters.begin(), parameters.end(), body[at]);
    if (invoked != parameters.end()) {
      launches.macros.insert(static_cast<uint32_t>(invoked - parameters.begin()));
    }
    // A macro that uses another one launches what that one launches, if the other is defined
    // before.
    const MacroLaunches* other = Find(body[at]);
    const bool calls = IsLaunchCall(body[at]);
    if (other == nullptr && !calls) continue;
    const std::vector<string_view> arguments = NamedArguments(body, brackets, at + 1);
    for (uint32_t i = 0; i < arguments.size(); ++i) {
      if ((calls && i < kFirstArguments) || (other != nullptr && other->arguments.contains(i))) {
        add(arguments[i]);
      }
    }
    if (other != nullptr) {
      for (const std::string& name : other->names) add(name);
    }
  }
  const bool useful = !launches.names.empty() || !launches.arguments.empty() ||
                      !launches.macros.empty() || !launches.returned.empty();
  if (!useful) return;
  // A macro may have several definitions, in branches of #if: any of them may hold at its use.
  MacroLaunches& all = macros_[std::string(macro.name)];
  all.names.merge(launches.names);
  all.arguments.merge(launches.arguments);
  all.macros.merge(launches.macros);
  all.returned.merge(launches.returned);
}

}  // namespace kernelmill::extractor::cuda
