#include "services/fetcher/adapters/git/git_transfer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/git/git_command.h"
#include "services/fetcher/adapters/git/object_database.h"

namespace kernelmill::fetcher {
namespace {

// Returns the object that the server says it does not have; empty if the message is about something
// else.
std::string RefusedObject(absl::string_view message) {
  constexpr absl::string_view kWords = "not our ref ";
  const size_t at = message.find(kWords);
  if (at == absl::string_view::npos) return "";
  const absl::string_view id = message.substr(at + kWords.size(), 40);
  return IsHex(id, 40) ? std::string(id) : "";
}

// Reads the number of objects in a pack, which begins with "PACK", its version and that number, 4
// bytes each, big-endian.
absl::StatusOr<int64_t> ObjectsInPack(const std::filesystem::path& path) {
  std::array<unsigned char, 12> header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(header.data()), header.size())) {
    return absl::DataLossError("a pack without a header");
  }
  return (int64_t{header[8]} << 24) | (header[9] << 16) | (header[10] << 8) | header[11];
}

// Returns whether git refuses to ask an old server for a commit that no ref names.
bool IsUnadvertised(const absl::Status& failure) {
  return absl::StrContains(failure.message(), "unadvertised object");
}

// Returns whether git says after the transfer that an object is missing that it asked for. The
// others are in the repository.
bool IsIncomplete(const absl::Status& failure) {
  return absl::StrContains(failure.message(), "did not send all necessary objects");
}

// No refs are stored, no tags are followed, and nothing is repacked: the repository lives as long
// as one fetch.
std::vector<std::string> FetchArguments(const std::string& option,
                                        const std::string& filter = "blob:none") {
  return {"--quiet",
          "--filter=" + filter,
          "--no-tags",
          "--no-write-fetch-head",
          "--no-auto-maintenance",
          "--recurse-submodules=no",
          option,
          "--",
          "origin"};
}

}  // namespace

absl::StatusOr<std::unique_ptr<GitTransfer>> GitTransfer::Create(GitUrl url,
                                                                 const GitOptions& options) {
  ASSIGN_OR_RETURN(TempDir folder, TempDir::Create(options.temp_dir));
  RETURN_IF_ERROR(MakeRepository(folder.path()));
  ASSIGN_OR_RETURN(GitCommand git, GitCommand::Create(url, options, folder.path()));
  return std::unique_ptr<GitTransfer>(
      new GitTransfer(std::move(folder), std::move(url), std::move(git), options));
}

GitTransfer::GitTransfer(TempDir folder, GitUrl url, GitCommand git, const GitOptions& options)
    : folder_(std::move(folder)),
      url_(std::move(url)),
      git_(std::move(git)),
      smart_http_(options.smart_http),
      missing_objects_(options.missing_objects),
      pack_bytes_(options.pack_bytes),
      cached_bytes_(options.cached_bytes) {
  if (smart_http_ != nullptr && smart_http_->Serves(url_)) {
    remote_.emplace(smart_http_, url_, MakeSmartHttpOptions(options));
  }
}

// Replaces the error if the pack reached the limit on file sizes. git's grandchild writes the pack,
// and git does not say that the limit ended it; the file that it left does.
absl::Status GitTransfer::Explain(const absl::Status& failure) const {
  std::error_code error;
  std::filesystem::directory_iterator files(ObjectsFolder() + "/pack", error);
  if (failure.ok() || error) return failure;
  for (const std::filesystem::directory_entry& file : files) {
    if (static_cast<int64_t>(file.file_size(error)) >= pack_bytes_ && !error) {
      return absl::FailedPreconditionError(
          absl::StrCat("the transfer is larger than ", pack_bytes_, " bytes"));
    }
  }
  return failure;
}

// The cached objects are kept apart, in another repository that this one borrows from
// (info/alternates), so that Measure counts only what was fetched. A ref makes git offer the old
// commit to the server, and marking it shallow keeps both sides from looking for its parents. A
// server that no longer has the commit, after a force push, sends everything.
absl::Status GitTransfer::AddCached(const CachedFetch& cached) {
  RETURN_IF_ERROR(MakeFolders(folder_.path(), {"/cached", "/cached/pack", "/objects/info"}));
  const std::string name = CachedFolder() + "/pack/pack-cached";
  RETURN_IF_ERROR(WriteFile(name + ".pack", cached.pack));
  // the pack does not have all objects that its trees name
  RETURN_IF_ERROR(WriteFile(name + ".promisor", ""));
  RETURN_IF_ERROR(git_.RunHere({"index-pack", {name + ".pack"}}).status());
  ASSIGN_OR_RETURN(const ObjectDatabase objects, ObjectDatabase::Open(CachedFolder()));
  RETURN_IF_ERROR(objects.ReadCommit(cached.commit).status());
  RETURN_IF_ERROR(WriteFile(ObjectsFolder() + "/info/alternates", CachedFolder() + "\n"));
  RETURN_IF_ERROR(WriteFile(folder_.path() + "/shallow", cached.commit + "\n"));
  RETURN_IF_ERROR(WriteFile(folder_.path() + "/refs/cached", cached.commit + "\n"));
  cached_commit_ = cached.commit;
  return absl::OkStatus();
}

// Does what git's own fetch does: pipes the pack into index-pack.
absl::Status GitTransfer::BringOverHttp(const ObjectRequest& request) {
  const GitCall call = {"index-pack", {"--stdin", "--fix-thin", "--promisor"}};
  ASSIGN_OR_RETURN(const std::unique_ptr<RunningChild> index, git_.StartHere(call));
  bool taken = true;
  absl::Status fetched = remote_->Fetch(request, [&](absl::string_view bytes) {
    taken = index->Write(bytes);
    return taken ? absl::OkStatus() : absl::DataLossError("the pack has data after its end");
  });
  if (!fetched.ok() && taken) return fetched;
  const ChildResult result = index->Finish();
  return result.ok() ? fetched : ClassifyGitFailure(result);
}

// Fetches by one POST if the server allows it, otherwise by git. UNIMPLEMENTED from the POST means
// "ask git"; if git then succeeds, the host is left to it.
absl::Status GitTransfer::Bring(const ObjectRequest& request, const GitCall& call) {
  if (!remote_.has_value()) return git_.Run(call).status();
  absl::Status brought = BringOverHttp(request);
  if (!absl::IsUnimplemented(brought)) return brought;
  RETURN_IF_ERROR(git_.Run(call).status());
  smart_http_->LeaveToGit(url_);
  remote_.reset();
  return absl::OkStatus();
}

absl::Status GitTransfer::FetchCommit(absl::string_view commit) {
  GitCall call = {"fetch", FetchArguments("--depth=1")};
  call.arguments.emplace_back(commit);
  call.negotiate = true;
  const absl::Status fetched = Explain(Bring({{std::string(commit)}, true, cached_commit_}, call));
  return IsUnadvertised(fetched) ? FetchBranches(commit) : fetched;
}

absl::Status GitTransfer::FetchHistory(absl::string_view commit, int depth) {
  GitCall call = {"fetch", FetchArguments(absl::StrCat("--depth=", depth), kTreesAlone)};
  call.arguments.emplace_back(commit);
  ObjectRequest request = {{std::string(commit)}};
  request.depth = depth;
  request.filter = kTreesAlone;
  return Explain(Bring(request, call));
}

// Before version 2 of the protocol, most servers send only what a branch or a tag names, and what
// that needs: then the whole history is fetched, with its blobs, since these cannot be asked for
// later. A commit that is not in it is on no branch.
absl::Status GitTransfer::FetchBranches(absl::string_view commit) {
  GitCall call = {"fetch",
                  {"--quiet", "--no-filter", "--no-tags", "--no-write-fetch-head",
                   "--no-auto-maintenance", "--recurse-submodules=no", "--", "origin",
                   "+refs/heads/*:refs/pin/heads/*", "+refs/tags/*:refs/pin/tags/*"}};
  RETURN_IF_ERROR(Explain(git_.Run(call).status()));
  ASSIGN_OR_RETURN(const ObjectDatabase objects, ObjectDatabase::Open(ObjectsFolder()));
  if (objects.Has(std::string(commit))) return absl::OkStatus();
  return absl::NotFoundError(
      "is on no branch or tag, and the server sends nothing else (it has an old protocol)");
}

// A server that lacks an object names only that one and sends nothing, so it is asked again for the
// others.
//
// Nothing is negotiated here, since the server would leave out blobs of the commits that it is told
// of.
//
// A blob over the limit on file sizes is fetched all the same, up to pack_bytes, and skipped once
// its size is known: --filter=blob:limit does not apply to objects that are asked for by id, and
// few servers offer the protocol's object-info, which git 2.39 does not use.
absl::StatusOr<std::vector<std::string>> GitTransfer::FetchObjects(std::vector<std::string> ids,
                                                                   const std::string& filter) {
  std::vector<std::string> missing;
  for (int tries = 0; !ids.empty() && tries <= missing_objects_; ++tries) {
    ObjectRequest request = {ids};
    request.filter = filter;
    const absl::Status fetched =
        Bring(request, {"fetch", FetchArguments("--stdin", filter.empty() ? "blob:none" : filter),
                        absl::StrJoin(ids, "\n") + "\n"});
    if (fetched.ok() || (filter == kTreesAlone && IsIncomplete(fetched))) return missing;
    const std::string refused = RefusedObject(fetched.message());
    const auto at = std::find(ids.begin(), ids.end(), refused);
    if (at == ids.end()) return Explain(fetched);
    missing.push_back(refused);
    ids.erase(at);
  }
  missing.insert(missing.end(), ids.begin(), ids.end());
  return missing;
}

// Deltas are reused as they came, never searched for: --window=0.
absl::StatusOr<std::string> GitTransfer::Pack(const std::vector<std::string>& ids) const {
  GitCall call = {"pack-objects", {"--stdout", "--quiet", "--window=0", "--delta-base-offset"}};
  call.input = absl::StrJoin(ids, "\n") + "\n";
  call.max_output = cached_bytes_;
  return git_.RunHere(call);
}

// Counts the packs in the repository's own folder, without those of the cache.
absl::StatusOr<GitTransfer::Stats> GitTransfer::Measure() const {
  Stats stats;
  std::error_code error;
  std::filesystem::directory_iterator packs(ObjectsFolder() + "/pack", error);
  if (error) return stats;  // nothing was fetched yet
  for (const std::filesystem::directory_entry& entry : packs) {
    if (entry.path().extension() != ".pack") continue;
    ASSIGN_OR_RETURN(const int64_t objects, ObjectsInPack(entry.path()));
    stats.objects += objects;
    stats.bytes += static_cast<int64_t>(entry.file_size(error));
  }
  return stats;
}

}  // namespace kernelmill::fetcher
