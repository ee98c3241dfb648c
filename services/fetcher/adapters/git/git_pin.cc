#include "services/fetcher/adapters/git/git_pin.h"

#include <fstream>
#include <istream>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {
namespace {

// The refs that a name may stand for, the preferred one first. A tag object is asked for together
// with the commit that it is peeled to.
std::vector<std::string> Candidates(absl::string_view ref) {
  if (ref == "HEAD") return {"HEAD"};
  if (absl::StartsWith(ref, "refs/")) return {absl::StrCat(ref, "^{}"), std::string(ref)};
  return {absl::StrCat("refs/heads/", ref), absl::StrCat("refs/tags/", ref, "^{}"),
          absl::StrCat("refs/tags/", ref)};
}

// Lines of "<id>\t<name>". ls-remote matches name ends, so that there may be others than asked for.
RefIds ParseRefs(absl::string_view output) {
  RefIds refs;
  for (const absl::string_view line : absl::StrSplit(output, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    refs.emplace(parts.second, parts.first);
  }
  return refs;
}

// The candidates among the refs that a server sent, in a trace of packets: lines that end in
// "< <id> <name>" and perhaps attributes, among them "peeled:<id>". In the protocol's first
// version a NUL, which git writes as "\0", and the server's capabilities follow the first name.
RefIds ParseTrace(std::istream& trace, const std::vector<std::string>& candidates) {
  constexpr absl::string_view kReceived = "< ";  // after the name of the program that did
  RefIds refs;
  for (std::string line; std::getline(trace, line);) {
    const size_t at = absl::string_view(line).find(kReceived);
    if (at == absl::string_view::npos) continue;
    std::vector<std::string> words = absl::StrSplit(line.substr(at + kReceived.size()), ' ');
    if (words.size() < 2 || !IsHex(words[0], 40)) continue;
    words[1] = words[1].substr(0, words[1].find("\\0"));
    const auto add = [&](const std::string& name, absl::string_view id) {
      if (absl::c_linear_search(candidates, name)) refs.emplace(name, id);
    };
    add(words[1], words[0]);
    for (absl::string_view word : words) {
      if (absl::ConsumePrefix(&word, "peeled:")) add(words[1] + "^{}", word);
    }
  }
  return refs;
}

// ls-remote has the server send all refs, be they a million, and picks from them. fetch names those
// that it is after, and the server sends no others; so this fetches the candidates and takes them
// all out again, which leaves nothing to fetch, and reads from git's trace what the server said.
// Still one round trip. HEAD cannot be a pattern; that a pattern matches nothing is no error.
absl::StatusOr<RefIds> AskForRefs(GitCommand& git, const std::vector<std::string>& candidates,
                                  const std::string& trace) {
  GitCall call = {
      "fetch",
      {"--dry-run", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
       "--recurse-submodules=no", "--", "origin", "^refs/*", "^HEAD"}};
  for (const std::string& candidate : candidates) {
    const absl::string_view name = absl::StripSuffix(candidate, "^{}");
    call.arguments.push_back(name == "HEAD" ? "HEAD"
                                            : absl::StrCat(name, "*:refs/pin/", name, "*"));
  }
  call.packet_trace = trace;
  RETURN_IF_ERROR(git.Run(call).status());
  std::ifstream file(trace);
  return ParseTrace(file, candidates);
}

// The other way, for what is not in the trace: names that are not ASCII, servers that speak no
// protocol but plain HTTP, and refs that are not there.
absl::StatusOr<RefIds> ListRefs(GitCommand& git, const std::vector<std::string>& candidates) {
  GitCall call = {"ls-remote", {"--quiet", "--", "origin"}};
  call.arguments.insert(call.arguments.end(), candidates.begin(), candidates.end());
  ASSIGN_OR_RETURN(const std::string output, git.Run(call));
  return ParseRefs(output);
}

absl::StatusOr<RefIds> FindRefsByGit(const GitUrl& url, const std::vector<std::string>& candidates,
                                     const GitOptions& options) {
  ASSIGN_OR_RETURN(const TempDir folder, TempDir::Create(options.temp_dir));
  RETURN_IF_ERROR(MakeRepository(folder.path()));
  ASSIGN_OR_RETURN(GitCommand git, GitCommand::Create(url, options, folder.path()));
  ASSIGN_OR_RETURN(RefIds refs, AskForRefs(git, candidates, folder.path() + "/packets"));
  if (!refs.empty()) return refs;
  return ListRefs(git, candidates);
}

absl::StatusOr<RefIds> FindRefs(const GitUrl& url, const std::vector<std::string>& candidates,
                                const GitOptions& options) {
  if (options.smart_http == nullptr || !options.smart_http->Serves(url)) {
    return FindRefsByGit(url, candidates, options);
  }
  SmartHttpRemote remote(options.smart_http, url, SmartHttpOptionsOf(options));
  absl::StatusOr<RefIds> refs = remote.Refs({candidates.begin(), candidates.end()});
  if (!absl::IsUnimplemented(refs.status())) return refs;
  refs = FindRefsByGit(url, candidates, options);
  if (refs.ok()) options.smart_http->LeaveToGit(url);
  return refs;
}

}  // namespace

absl::StatusOr<std::string> PinGit(absl::string_view url, absl::string_view ref,
                                   const GitOptions& options) {
  ASSIGN_OR_RETURN(const GitUrl checked, CheckGitUrl(url, options.local));
  if (ref.empty()) ref = "HEAD";
  if (IsHex(ref, 40)) return absl::AsciiStrToLower(ref);
  RETURN_IF_ERROR(CheckGitRef(ref));
  const std::vector<std::string> candidates = Candidates(ref);
  ASSIGN_OR_RETURN(const RefIds refs, FindRefs(checked, candidates, options));
  for (const std::string& candidate : candidates) {
    const auto found = refs.find(candidate);
    if (found == refs.end()) continue;
    if (IsHex(found->second, 40)) return found->second;
    return absl::FailedPreconditionError("the repository's object ids are not SHA-1");
  }
  return absl::NotFoundError(absl::StrCat("no ref ", JsonString(ref), " in ", JsonString(url)));
}

}  // namespace kernelmill::fetcher
