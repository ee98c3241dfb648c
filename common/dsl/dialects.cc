#include "common/dsl/dialects.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"

namespace kernelmill::dsl {
namespace {

using absl::string_view;

// A dialect that is known, and the module whose names are its own.
struct KnownDialect {
  string_view module;
  string_view name;
  string_view requirement;
};

constexpr string_view kTritonDist = "triton_dist";

constexpr KnownDialect kDialects[] = {
    {"triton.language.extra.tlx", "tlx", "facebookexperimental/triton"},
    {"triton.language.extra.cann", "cann", "triton-ascend"},
    {"triton.language.extra.ascend", "ascend", "triton-ascend"},
    {"triton.language.extra.intel", "intel", "intel/intel-xpu-backend-for-triton"},
    {"triton.experimental.tle", "tle", "FlagTree"},
    {"triton_dist.language", kTritonDist, "ByteDance-Seed/Triton-distributed"},
    {"triton_dist.jit", kTritonDist, "ByteDance-Seed/Triton-distributed"},
};

// Modules of triton.language.extra that Triton has.
constexpr string_view kOwnExtra[] = {"cuda", "hip", "libdevice"};

std::optional<Dialect> FindDialectOfName(string_view dotted) {
  for (const KnownDialect& known : kDialects) {
    string_view rest = dotted;
    if (absl::ConsumePrefix(&rest, known.module) && (rest.empty() || rest[0] == '.')) {
      return Dialect{std::string(known.name), std::string(known.requirement), std::string(dotted)};
    }
  }
  string_view rest = dotted;
  if (!absl::ConsumePrefix(&rest, "triton.language.extra.")) return std::nullopt;
  const string_view name = FirstPart(rest);
  const bool own =
      std::find(std::begin(kOwnExtra), std::end(kOwnExtra), name) != std::end(kOwnExtra);
  if (own || name.empty()) return std::nullopt;
  return Dialect{std::string(name), "", std::string(dotted)};
}

// Returns the dotted names of an import statement: a.b for `from a import b as c`.
std::vector<std::string> ImportedNames(string_view statement) {
  constexpr string_view kBlanks = " \t\r\n\\()";
  std::vector<std::string> names;
  std::string module;
  string_view list = absl::StripAsciiWhitespace(statement);
  if (absl::ConsumePrefix(&list, "from ")) {
    const size_t end = list.find(" import");
    if (end == string_view::npos) return names;
    module = absl::StrCat(absl::StripAsciiWhitespace(list.substr(0, end)), ".");
    list.remove_prefix(end + 1);
  }
  if (!absl::ConsumePrefix(&list, "import")) return names;
  for (const string_view entry : absl::StrSplit(list, ',')) {
    const std::vector<string_view> words =
        absl::StrSplit(entry, absl::ByAnyChar(kBlanks), absl::SkipEmpty());
    if (!words.empty()) names.push_back(absl::StrCat(module, words[0]));
  }
  return names;
}

}  // namespace

// Other modules of triton_dist, such as its kernels, are a library like any other.
bool IsDialectModule(absl::string_view module) {
  return module == "triton_dist" || module == "triton_dist.language" ||
         absl::StartsWith(module, "triton_dist.language.");
}

// The first name decides, except that Triton-distributed has the dialects of the vendors that it is
// built for, and they do not have it.
std::optional<Dialect> FindDialect(const v1::Kernel& kernel) {
  if (!CompilesAsTriton(kernel.dsl())) return std::nullopt;
  std::optional<Dialect> found;
  const auto look_at = [&found](string_view name) {
    if (found && found->name == kTritonDist) return;
    std::optional<Dialect> dialect = FindDialectOfName(name);
    if (dialect && (!found || dialect->name == kTritonDist)) found = std::move(dialect);
  };
  look_at(kernel.found_by());
  for (const std::string& call : kernel.calls()) look_at(call);
  for (const std::string& statement : kernel.imports()) {
    for (const std::string& name : ImportedNames(statement)) look_at(name);
  }
  return found;
}

}  // namespace kernelmill::dsl
