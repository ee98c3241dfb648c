#include "services/compiler/adapters/sandbox/attacks/attacks.h"

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"

namespace kernelmill::compiler {
namespace {

struct Prefix {
  absl::string_view name;
  Fate fate;
};
constexpr Prefix kPrefixes[] = {{"refused_", Fate::kRefused},
                                {"silenced_", Fate::kSilenced},
                                {"ended_", Fate::kEnded},
                                {"overrun_", Fate::kOverrun},
                                {"contained_", Fate::kContained}};

std::string Read(absl::string_view file) {
  absl::StatusOr<std::string> text = ReadFile(absl::StrCat(KM_ATTACKS, "/", file, ".py"), 1 << 20);
  if (!text.ok()) std::abort();  // a test without its data
  return *std::move(text);
}

}  // namespace

std::vector<Attack> AttacksOf(absl::string_view file, const std::string& victim) {
  const std::string text = absl::StrCat(victim, Read("ways"), "\n", Read(file));
  std::vector<Attack> attacks;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, "def ")) continue;
    const std::string name(line.substr(0, line.find('(')));
    for (const Prefix& prefix : kPrefixes) {
      if (!absl::StartsWith(name, prefix.name)) continue;
      attacks.push_back({name, absl::StrCat(text, "\n\n", name, "()\n"), prefix.fate});
    }
  }
  return attacks;
}

std::vector<std::string> AttackFiles() {
  return {"channel", "files", "limits", "machine", "network", "next_kernel", "watcher"};
}

}  // namespace kernelmill::compiler
