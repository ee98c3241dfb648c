#include "services/fetcher/adapters/wheel/wheel_choice.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {
namespace {

// name-version[-build]-python-abi-platform.whl
bool IsWheelOf(absl::string_view filename, const PackageName& package) {
  if (!absl::ConsumeSuffix(&filename, ".whl")) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(filename, '-');
  if (parts.size() != 5 && parts.size() != 6) return false;
  return NormalizeProjectName(parts[0]) == NormalizeProjectName(package.name) &&
         absl::EqualsIgnoreCase(parts[1], package.version);
}

int Rank(absl::string_view filename) {
  if (absl::EndsWith(filename, "-py3-none-any.whl")) return 0;
  return absl::EndsWith(filename, "-none-any.whl") ? 1 : 2;
}

bool Better(const IndexFile& a, const IndexFile& b) {
  return std::make_tuple(a.yanked, Rank(a.filename), absl::string_view(a.filename)) <
         std::make_tuple(b.yanked, Rank(b.filename), absl::string_view(b.filename));
}

}  // namespace

absl::StatusOr<PackageName> ParsePackage(absl::string_view package) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(package, absl::MaxSplits("==", 1));
  const auto bad = [](absl::string_view text) {
    return text.empty() || text.find_first_of("/\\?#%:& ") != absl::string_view::npos ||
           text == "." || text == "..";
  };
  if (bad(parts.first) || bad(parts.second)) {
    return absl::InvalidArgumentError(
        absl::StrCat(JsonString(package), ": a package is written name==version"));
  }
  return PackageName{std::string(parts.first), std::string(parts.second)};
}

absl::StatusOr<IndexFile> ChooseWheel(const std::vector<IndexFile>& files,
                                      const PackageName& package, absl::string_view sha256) {
  std::vector<IndexFile> wheels;
  for (const IndexFile& file : files) {
    if (IsWheelOf(file.filename, package)) wheels.push_back(file);
  }
  const std::string wanted = absl::StrCat(package.name, "==", package.version);
  if (wheels.empty()) {
    return absl::NotFoundError(absl::StrCat("the index has no wheel of ", ToUtf8(wanted)));
  }
  if (!sha256.empty()) {
    // Files that the index gives no hash for may be the one: the bytes will tell.
    const auto other = [&](const IndexFile& f) { return !f.sha256.empty() && f.sha256 != sha256; };
    wheels.erase(std::remove_if(wheels.begin(), wheels.end(), other), wheels.end());
    std::stable_sort(wheels.begin(), wheels.end(), [](const IndexFile& a, const IndexFile& b) {
      return a.sha256.size() > b.sha256.size();
    });
    if (wheels.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("wrong hash: no wheel of ", ToUtf8(wanted), " has SHA-256 ", sha256));
    }
    if (!wheels.front().sha256.empty()) return wheels.front();
  }
  return *std::min_element(wheels.begin(), wheels.end(), Better);
}

}  // namespace kernelmill::fetcher
