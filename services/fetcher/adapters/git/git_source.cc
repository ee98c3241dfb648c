// Fetching a pack, the basic idea: a source needs the files of one commit, not the repository's
// history and not its pictures. So the first transfer is a shallow fetch with --filter=blob:none,
// which brings the commit and its trees. The trees tell which paths the globs select. The second
// transfer asks for exactly those blobs by id. Nothing is checked out: libgit2 reads the objects
// from the pack.
//
// A later fetch of the same URL starts from the pack that the last one left in the cache. The old
// commit is offered to the server, which then leaves out the trees and blobs that both commits
// share.
#include "services/fetcher/adapters/git/git_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <set>
#include <system_error>
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
#include "common/base/log.h"
#include "common/base/retry_after.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/adapters/git/git_transfer.h"
#include "services/fetcher/adapters/git/object_database.h"
#include "services/fetcher/adapters/smart_http/smart_http.h"
#include "services/fetcher/core/history/past_objects.h"
#include "services/fetcher/core/selection/file_policy.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {
namespace {

// A commit in a temporary repository.
class GitSnapshot : public Snapshot, public PastObjects {
 public:
  GitSnapshot(std::unique_ptr<GitTransfer> transfer, ObjectDatabase objects)
      : transfer_(std::move(transfer)), objects_(std::move(objects)) {}

  // Lists the commit, which must be there with its trees, and fetches the blobs to read. `cached`
  // as for ObjectDatabase::WalkTree.
  absl::Status Load(const std::string& commit, const ObjectDatabase* cached, const GlobSet& globs,
                    const TreeLimits& limits);

  const Listing& listing() const override { return listing_; }

  absl::Status Bring(const std::vector<Entry>& entries) override {
    std::set<std::string> ids;
    for (const Entry& entry : entries) ids.insert(entry.id);
    return Fetch(ids);
  }

  absl::StatusOr<int64_t> Size(const Entry& entry) override {
    if (missing_.count(entry.id) > 0) return absl::NotFoundError(entry.id);
    return objects_.BlobSize(entry.id);
  }
  absl::StatusOr<std::string> Read(const Entry& entry) override {
    return objects_.ReadBlob(entry.id);
  }

  PastObjects* past() override { return this; }

  // A server that could send nothing less has sent the history already.
  absl::Status BringCommits(const std::string& commit, int depth) override {
    ASSIGN_OR_RETURN(const bool here, HasCommits(commit, depth));
    if (here) return absl::OkStatus();
    RETURN_IF_ERROR(transfer_->FetchHistory(commit, depth));
    return Measure();
  }
  absl::Status BringTrees(const std::vector<std::string>& ids) override {
    return FetchInBatches(ids, GitTransfer::kTreesAlone);
  }
  absl::Status BringBlobs(const std::vector<std::string>& ids) override {
    return FetchInBatches(ids, "");
  }
  absl::StatusOr<PastCommit> ReadCommit(const std::string& id) override {
    return objects_.ReadPastCommit(id);
  }
  absl::StatusOr<std::vector<PastEntry>> ReadTree(const std::string& id) override {
    return objects_.ReadTree(id);
  }
  absl::StatusOr<int64_t> BlobSize(const std::string& id) override { return objects_.BlobSize(id); }
  absl::StatusOr<std::string> ReadBlob(const std::string& id) override {
    return objects_.ReadBlob(id);
  }

  // Returns a pack for the next fetch: the commit, its trees, the blobs that are read, and blobs of
  // earlier fetches, for other globs, that the tree still has.
  absl::StatusOr<std::string> Pack() const;

 private:
  std::set<std::string> Wanted() const;
  // Fetches the objects of `ids` that are not here yet.
  absl::Status Fetch(const std::set<std::string>& ids);
  // Says whether all first parents are here, as far as `depth` or the root.
  absl::StatusOr<bool> HasCommits(const std::string& commit, int depth) const;
  absl::Status FetchInBatches(const std::vector<std::string>& ids, const std::string& filter);
  // Reads what is here now, and counts it.
  absl::Status Measure();

  const std::unique_ptr<GitTransfer> transfer_;  // owns the files that objects_ reads
  ObjectDatabase objects_;
  Listing listing_;
  ObjectDatabase::Walk walk_;
  std::set<std::string> missing_;
};

// Returns the ids of the blobs to read.
std::set<std::string> GitSnapshot::Wanted() const {
  std::set<std::string> wanted;
  for (const std::vector<Entry>* entries :
       {&listing_.files, &listing_.licenses, &listing_.requirements}) {
    for (const Entry& entry : *entries) {
      const bool read = entry.kind == EntryKind::kFile && !IsUnsafePath(entry.path);
      if (read) wanted.insert(entry.id);
    }
  }
  return wanted;
}

absl::Status GitSnapshot::Load(const std::string& commit, const ObjectDatabase* cached,
                               const GlobSet& globs, const TreeLimits& limits) {
  ASSIGN_OR_RETURN(const ObjectDatabase::Commit root, objects_.ReadCommit(commit));
  listing_.commit = commit;
  listing_.commit_time = root.time;
  TreeSelection selection(&globs, limits);
  ASSIGN_OR_RETURN(walk_, objects_.WalkTree(root.tree, cached, selection));
  selection.Finish(listing_);
  listing_.unfiltered = !walk_.new_blob.empty() && objects_.Has(walk_.new_blob);
  return Fetch(Wanted());
}

// Fetches what is not in a pack yet. Objects that the server lacks are noted in missing_; each
// costs its file, not the source.
absl::Status GitSnapshot::Fetch(const std::set<std::string>& ids) {
  std::vector<std::string> lacking;
  for (const std::string& id : ids) {
    if (!objects_.Has(id)) lacking.push_back(id);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> missing, transfer_->FetchObjects(lacking));
  missing_.insert(missing.begin(), missing.end());
  return Measure();
}

absl::StatusOr<bool> GitSnapshot::HasCommits(const std::string& commit, int depth) const {
  std::string at = commit;
  for (int i = 0; i < depth; ++i) {
    if (!objects_.Has(at)) return false;
    ASSIGN_OR_RETURN(const PastCommit read, objects_.ReadPastCommit(at));
    if (read.parents.empty()) break;
    at = read.parents[0];
  }
  return true;
}

// In the order of `ids`, so that versions of one file are in one batch, as deltas of each other.
absl::Status GitSnapshot::FetchInBatches(const std::vector<std::string>& ids,
                                         const std::string& filter) {
  constexpr size_t kBatch = 8192;
  std::vector<std::string> lacking;
  for (const std::string& id : ids) {
    if (!objects_.Has(id) && missing_.count(id) == 0) lacking.push_back(id);
  }
  for (size_t at = 0; at < lacking.size(); at += kBatch) {
    std::vector<std::string> batch(
        lacking.begin() + static_cast<int64_t>(at),
        lacking.begin() + static_cast<int64_t>(std::min(lacking.size(), at + kBatch)));
    // git leaves out a tree that it meets first within another one of the request, where the filter
    // takes it out. So what did not come is asked for again, as long as something comes.
    for (size_t asked = 0; !batch.empty() && batch.size() != asked;) {
      asked = batch.size();
      ASSIGN_OR_RETURN(const std::vector<std::string> missing,
                       transfer_->FetchObjects(batch, filter));
      missing_.insert(missing.begin(), missing.end());
      RETURN_IF_ERROR(objects_.Refresh());
      batch.erase(std::remove_if(batch.begin(), batch.end(),
                                 [this](const std::string& id) {
                                   return objects_.Has(id) || missing_.count(id) > 0;
                                 }),
                  batch.end());
    }
  }
  return lacking.empty() ? absl::OkStatus() : Measure();
}

absl::Status GitSnapshot::Measure() {
  RETURN_IF_ERROR(objects_.Refresh());
  ASSIGN_OR_RETURN(const GitTransfer::Stats stats, transfer_->Measure());
  listing_.bytes_received = stats.bytes;
  listing_.objects_received = stats.objects;
  return absl::OkStatus();
}

absl::StatusOr<std::string> GitSnapshot::Pack() const {
  std::set<std::string> ids = Wanted();
  for (const std::string& id : missing_) ids.erase(id);
  ids.insert(walk_.known.begin(), walk_.known.end());
  ids.insert(walk_.trees.begin(), walk_.trees.end());
  ids.insert(listing_.commit);
  return transfer_->Pack({ids.begin(), ids.end()});
}

// Makes the snapshot in a temporary repository. If the cached pack has the commit itself, nothing
// is fetched except blobs.
absl::StatusOr<std::unique_ptr<GitSnapshot>> Open(const GitUrl& url, const std::string& commit,
                                                  const std::optional<CachedFetch>& cached,
                                                  const GlobSet& globs, const GitOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<GitTransfer> transfer, GitTransfer::Create(url, options));
  std::optional<ObjectDatabase> known;
  if (cached.has_value()) {
    RETURN_IF_ERROR(transfer->AddCached(*cached));
    ASSIGN_OR_RETURN(known, ObjectDatabase::Open(transfer->CachedFolder()));
  }
  if (!known.has_value() || !known->Has(commit)) {
    RETURN_IF_ERROR(
        Annotate(transfer->FetchCommit(commit), absl::StrCat("commit ", ToUtf8(commit))));
  }
  ASSIGN_OR_RETURN(ObjectDatabase objects, ObjectDatabase::Open(transfer->ObjectsFolder()));
  auto snapshot = std::make_unique<GitSnapshot>(std::move(transfer), std::move(objects));
  RETURN_IF_ERROR(
      snapshot->Load(commit, known.has_value() ? &*known : nullptr, globs, options.tree));
  return snapshot;
}

// Opens the snapshot, and tries again without the cached fetch if that failed with it, since a
// useless cache is no reason to fail. There is no second try after a timeout or if the server asked
// to be left alone.
absl::StatusOr<std::unique_ptr<GitSnapshot>> OpenWithCached(
    const GitUrl& url, const std::string& commit, const std::optional<CachedFetch>& cached,
    const GlobSet& globs, const GitOptions& options) {
  absl::StatusOr<std::unique_ptr<GitSnapshot>> snapshot = Open(url, commit, cached, globs, options);
  const absl::Status& failure = snapshot.status();
  if (failure.ok() || !cached.has_value() || absl::IsDeadlineExceeded(failure) ||
      GetRetryAfter(failure).has_value()) {
    return snapshot;
  }
  LogInfo("fetching again without the cached fetch", {{"error", failure.ToString()}});
  return Open(url, commit, std::nullopt, globs, options);
}

}  // namespace

// The cache gets a new pack only if something was fetched. A failure to make it costs only the next
// fetch's time.
absl::StatusOr<std::unique_ptr<Snapshot>> FetchGit(absl::string_view url, const std::string& commit,
                                                   const GlobSet& globs, const GitOptions& options,
                                                   FetchCache* cache) {
  ASSIGN_OR_RETURN(const GitUrl checked, CheckGitUrl(url, options.local));
  const std::optional<CachedFetch> cached = cache == nullptr ? std::nullopt : cache->Load(url);
  ASSIGN_OR_RETURN(std::unique_ptr<GitSnapshot> snapshot,
                   OpenWithCached(checked, commit, cached, globs, options));
  if (cache != nullptr && snapshot->listing().objects_received > 0) {
    absl::StatusOr<std::string> pack = snapshot->Pack();
    if (pack.ok()) {
      cache->Save(url, {commit, *std::move(pack)});
    } else {
      LogInfo("could not make a pack for the cache",
              {{"url", ToUtf8(url)}, {"error", pack.status().ToString()}});
    }
  }
  return std::unique_ptr<Snapshot>(std::move(snapshot));
}

namespace {

// Returns the refs that a name may mean, the preferred one first. For a tag, the commit that the
// tag object is peeled to is asked for too.
std::vector<std::string> Candidates(absl::string_view ref) {
  if (ref == "HEAD") return {"HEAD"};
  if (absl::StartsWith(ref, "refs/")) return {absl::StrCat(ref, "^{}"), std::string(ref)};
  return {absl::StrCat("refs/heads/", ref), absl::StrCat("refs/tags/", ref, "^{}"),
          absl::StrCat("refs/tags/", ref)};
}

// Parses lines of "<id>\t<name>". ls-remote matches the ends of names, so there may be refs that
// were not asked for.
RefIds ParseRefs(absl::string_view output) {
  RefIds refs;
  for (const absl::string_view line : absl::StrSplit(output, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    refs.emplace(parts.second, parts.first);
  }
  return refs;
}

// Reads, from a trace of packets, the candidates among the refs that a server sent: lines that end
// in "< <id> <name>" and perhaps attributes, among them "peeled:<id>". In version 0 of the protocol
// the first name is followed by a NUL, which git writes as "\0", and the server's capabilities.
RefIds ParseTrace(std::istream& trace, const std::vector<std::string>& candidates) {
  constexpr absl::string_view kReceived = "< ";  // after the name of the program that received it
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

// Asks the server for the candidates only. ls-remote would make it send all refs, which may be a
// million, and pick from them. fetch names the refs that it wants, and the server sends no others.
// So this fetches the candidates and excludes all of them again, which leaves nothing to fetch, and
// reads the server's answer from git's trace: still one round trip. HEAD cannot be a pattern. A
// pattern that matches nothing is not an error.
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

// Asks with ls-remote, for refs that the trace does not show: names that are not ASCII, servers
// that speak only plain HTTP, and refs that do not exist.
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

// The longest time to ask for refs: an answer of seconds from an honest server.
constexpr absl::Duration kRefsTimeout = absl::Minutes(3);

// Tries one POST first. If the server does not answer as expected and git succeeds, the host is
// left to git from then on.
absl::StatusOr<RefIds> FindRefs(const GitUrl& url, const std::vector<std::string>& candidates,
                                const GitOptions& options) {
  if (options.smart_http == nullptr || !options.smart_http->Serves(url)) {
    return FindRefsByGit(url, candidates, options);
  }
  SmartHttpRemote remote(options.smart_http, url, MakeSmartHttpOptions(options));
  absl::StatusOr<RefIds> refs = remote.Refs({candidates.begin(), candidates.end()});
  if (!absl::IsUnimplemented(refs.status())) return refs;
  refs = FindRefsByGit(url, candidates, options);
  if (refs.ok()) options.smart_http->LeaveToGit(url);
  return refs;
}

// Returns whether the repository has no ref at all; false if that is unknown. Bounded, since a few
// refs are enough.
bool IsEmpty(const GitUrl& url, const GitOptions& options) {
  if (options.smart_http != nullptr && options.smart_http->Serves(url)) {
    SmartHttpRemote remote(options.smart_http, url, MakeSmartHttpOptions(options));
    return remote.IsEmpty().value_or(false);
  }
  const absl::StatusOr<TempDir> folder = TempDir::Create(options.temp_dir);
  if (!folder.ok() || !MakeRepository(folder->path()).ok()) return false;
  absl::StatusOr<GitCommand> git = GitCommand::Create(url, options, folder->path());
  if (!git.ok()) return false;
  GitCall call = {"ls-remote", {"--quiet", "--", "origin"}};
  call.max_output = 4096;
  const absl::StatusOr<std::string> refs = git->Run(call);
  return refs.ok() && refs->empty();
}

}  // namespace

// Returns the commit of a ref. A full commit id is its own answer, and costs no request. NOT_FOUND:
// the server has no such ref. FAILED_PRECONDITION: the repository uses SHA-256.
absl::StatusOr<std::string> PinGit(absl::string_view url, absl::string_view ref,
                                   const GitOptions& options) {
  ASSIGN_OR_RETURN(const GitUrl checked, CheckGitUrl(url, options.local));
  if (ref.empty()) ref = "HEAD";
  if (IsHex(ref, 40)) return absl::AsciiStrToLower(ref);
  // git says of a missing folder that it is no repository.
  const std::string folder(absl::StripPrefix(checked.url, "file://"));
  std::error_code error;
  if (checked.local() && !std::filesystem::exists(folder, error)) {
    return absl::NotFoundError(absl::StrCat(JsonString(folder), ": there is no such folder"));
  }
  RETURN_IF_ERROR(CheckGitRef(ref));
  const std::vector<std::string> candidates = Candidates(ref);
  GitOptions quick = options;
  quick.timeout = std::min(options.timeout, kRefsTimeout);
  ASSIGN_OR_RETURN(const RefIds refs, FindRefs(checked, candidates, quick));
  for (const std::string& candidate : candidates) {
    const auto found = refs.find(candidate);
    if (found == refs.end()) continue;
    if (IsHex(found->second, 40)) return found->second;
    return absl::FailedPreconditionError("the repository must have SHA-1 object ids");
  }
  if (IsEmpty(checked, quick)) {
    return absl::NotFoundError(
        absl::StrCat("the repository is empty: ", JsonString(url), " has no branch and no tag"));
  }
  return absl::NotFoundError(
      absl::StrCat("ref ", JsonString(ref), " does not exist in ", JsonString(url)));
}

}  // namespace kernelmill::fetcher
