#include "common/job/mix_check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/field_check.h"

namespace kernelmill::job {
namespace {

constexpr size_t kMaxName = 64;
constexpr int kMaxPhases = 100;
constexpr int kMaxParts = 1000;
constexpr int64_t kMaxTokens = int64_t{1} << 50;
constexpr double kMaxEpochs = 10'000;
constexpr absl::string_view kConfigs[] = {"kernels", "fim", "instruct", "files"};

absl::Status Wrong(const std::string& where, absl::string_view what) {
  return FieldError("mix." + where, what);
}

absl::Status CheckOwnName(const std::string& where, const std::string& name,
                          std::set<std::string>& names) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  });
  if (name.empty() || name.size() > kMaxName || !plain) {
    return Wrong(where, "is not 1 to 64 letters, digits, '.', '_' and '-'");
  }
  if (!names.insert(name).second) return Wrong(where, absl::StrCat(JsonString(name), " is twice"));
  return absl::OkStatus();
}

absl::Status CheckTokens(const std::string& where, int64_t tokens) {
  if (tokens >= 0 && tokens <= kMaxTokens) return absl::OkStatus();
  return Wrong(where, absl::StrCat("is not between 0 and ", kMaxTokens));
}

// A number that is finite and not below 0; 0 is one that was not given.
absl::Status CheckAmount(const std::string& where, double amount, double most) {
  if (std::isfinite(amount) && amount >= 0 && amount <= most) return absl::OkStatus();
  return Wrong(where, absl::StrCat("is not between 0 and ", most));
}

absl::Status CheckPart(const std::string& where, const v1::MixPart& part,
                       const std::set<std::string>& corpora) {
  if (!part.corpus().empty()) {
    if (!corpora.contains(part.corpus())) {
      return Wrong(where + ".corpus",
                   absl::StrCat(JsonString(part.corpus()), " is none of mix.corpora"));
    }
    if (!part.config().empty() ||
        part.repositories_size() + part.categories_size() + part.dsls_size() + part.tiers_size() >
            0) {
      return Wrong(where, "an outside corpus has no rows to choose from");
    }
  }
  if (!part.config().empty() &&
      std::find(std::begin(kConfigs), std::end(kConfigs), part.config()) == std::end(kConfigs)) {
    return Wrong(where + ".config", absl::StrCat("unknown config ", JsonString(part.config()),
                                                 "; kernels, fim, instruct, files are known"));
  }
  for (const int tier : part.tiers()) {
    if (tier < 1 || tier > 3) return Wrong(where + ".tiers", "a tier is 1, 2 or 3");
  }
  RETURN_IF_ERROR(CheckAmount(where + ".weight", part.weight(), 1e9));
  RETURN_IF_ERROR(CheckAmount(where + ".epochs", part.epochs(), kMaxEpochs));
  if (part.weight() > 0 && part.epochs() > 0) {
    return Wrong(where, "has a weight and epochs: one of them says how much is read");
  }
  return absl::OkStatus();
}

absl::Status CheckPhase(const std::string& where, const v1::MixPhase& phase,
                        const std::set<std::string>& corpora) {
  RETURN_IF_ERROR(CheckTokens(where + ".tokens", phase.tokens()));
  if (phase.parts_size() == 0) return Wrong(where + ".parts", "is missing");
  if (phase.parts_size() > kMaxParts) return Wrong(where + ".parts", "has more than 1000");
  bool shares = false;
  for (int i = 0; i < phase.parts_size(); ++i) {
    RETURN_IF_ERROR(CheckPart(absl::StrCat(where, ".parts[", i, "]"), phase.parts(i), corpora));
    shares = shares || phase.parts(i).epochs() == 0;
  }
  if (shares && phase.tokens() == 0) {
    return Wrong(where + ".tokens", "is missing: parts without epochs share them");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMix(const v1::Mix& mix) {
  std::set<std::string> corpora;
  for (int i = 0; i < mix.corpora_size(); ++i) {
    const std::string where = absl::StrCat("corpora[", i, "]");
    RETURN_IF_ERROR(CheckOwnName(where + ".name", mix.corpora(i).name(), corpora));
    RETURN_IF_ERROR(CheckTokens(where + ".tokens", mix.corpora(i).tokens()));
  }
  RETURN_IF_ERROR(CheckAmount("max_epochs", mix.max_epochs(), kMaxEpochs));
  if (mix.phases_size() > kMaxPhases) return Wrong("phases", "has more than 100");
  std::set<std::string> names;
  for (int i = 0; i < mix.phases_size(); ++i) {
    const std::string where = absl::StrCat("phases[", i, "]");
    RETURN_IF_ERROR(CheckOwnName(where + ".name", mix.phases(i).name(), names));
    RETURN_IF_ERROR(CheckPhase(where, mix.phases(i), corpora));
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::job
