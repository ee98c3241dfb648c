#include "services/fetcher/adapters/git/git_pin.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::fetcher {
namespace {

bool IsObjectId(absl::string_view text) {
  return text.size() == 40 && std::all_of(text.begin(), text.end(), absl::ascii_isxdigit);
}

// The refs that a name may stand for, the preferred one first. A tag object is asked for together
// with the commit that it is peeled to.
std::vector<std::string> Candidates(absl::string_view ref) {
  if (ref == "HEAD") return {"HEAD"};
  if (absl::StartsWith(ref, "refs/")) return {absl::StrCat(ref, "^{}"), std::string(ref)};
  return {absl::StrCat("refs/heads/", ref), absl::StrCat("refs/tags/", ref, "^{}"),
          absl::StrCat("refs/tags/", ref)};
}

// Lines of "<id>\t<name>". ls-remote matches name ends, so that there may be others than asked for.
std::map<std::string, std::string> ParseRefs(absl::string_view output) {
  std::map<std::string, std::string> refs;
  for (const absl::string_view line : absl::StrSplit(output, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    refs.emplace(parts.second, parts.first);
  }
  return refs;
}

}  // namespace

absl::StatusOr<std::string> PinGit(absl::string_view url, absl::string_view ref,
                                   const GitOptions& options) {
  ASSIGN_OR_RETURN(GitUrl checked, CheckGitUrl(url, options.allow_local));
  if (ref.empty()) ref = "HEAD";
  if (IsObjectId(ref)) return absl::AsciiStrToLower(ref);
  RETURN_IF_ERROR(CheckGitRef(ref));
  ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create(options.temp_dir));
  ASSIGN_OR_RETURN(GitCommand git, GitCommand::Create(std::move(checked), options, folder.path()));
  std::vector<std::string> arguments = {"--quiet", "--", "origin"};
  const std::vector<std::string> candidates = Candidates(ref);
  arguments.insert(arguments.end(), candidates.begin(), candidates.end());
  ASSIGN_OR_RETURN(const std::string output, git.Run({"ls-remote", arguments}));
  const std::map<std::string, std::string> refs = ParseRefs(output);
  for (const std::string& candidate : candidates) {
    const auto found = refs.find(candidate);
    if (found == refs.end()) continue;
    if (IsObjectId(found->second)) return found->second;
    return absl::FailedPreconditionError("the repository's object ids are not SHA-1");
  }
  return absl::NotFoundError(absl::StrCat("no ref ", JsonString(ref), " in ", JsonString(url)));
}

}  // namespace kernelmill::fetcher
