#include "services/fetcher/adapters/git/git_transfer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"

namespace kernelmill::fetcher {
namespace {

// A promisor remote may leave objects out, and git does not miss them. The URL is given on each
// command line rather than written here: no quoting to get wrong.
constexpr char kConfig[] =
    "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
    "[extensions]\n\tpartialClone = origin\n"
    "[remote \"origin\"]\n\tpromisor = true\n\tpartialCloneFilter = blob:none\n";

absl::Status MakeRepository(const std::string& folder) {
  std::error_code error;
  for (const char* sub : {"/objects", "/refs"}) {
    std::filesystem::create_directory(folder + sub, error);
    if (error) return ErrnoStatus(error.value(), folder + sub);
  }
  RETURN_IF_ERROR(WriteFile(folder + "/HEAD", "ref: refs/heads/none\n"));
  return WriteFile(folder + "/config", kConfig);
}

// The object that the server says it does not have; empty if it complains of something else.
std::string RefusedObject(absl::string_view message) {
  constexpr absl::string_view kWords = "not our ref ";
  const size_t at = message.find(kWords);
  if (at == absl::string_view::npos) return "";
  const absl::string_view id = message.substr(at + kWords.size(), 40);
  const bool hex = std::all_of(id.begin(), id.end(), absl::ascii_isxdigit);
  return id.size() == 40 && hex ? std::string(id) : "";
}

// A pack begins with "PACK", its version and the number of its objects, 4 bytes each, big-endian.
absl::StatusOr<int64_t> ObjectsInPack(const std::filesystem::path& path) {
  std::array<unsigned char, 12> header{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(header.data()), header.size())) {
    return absl::DataLossError("a pack without a header");
  }
  return (int64_t{header[8]} << 24) | (header[9] << 16) | (header[10] << 8) | header[11];
}

std::vector<std::string> FetchArguments(const char* option) {
  return {"--quiet",
          "--filter=blob:none",
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
  ASSIGN_OR_RETURN(GitCommand git, GitCommand::Create(std::move(url), options, folder.path()));
  return std::unique_ptr<GitTransfer>(new GitTransfer(std::move(folder), std::move(git), options));
}

GitTransfer::GitTransfer(TempDir folder, GitCommand git, const GitOptions& options)
    : folder_(std::move(folder)),
      git_(std::move(git)),
      missing_objects_(options.missing_objects),
      pack_bytes_(options.pack_bytes) {}

// The program that writes the pack is git's grandchild, and git does not tell that the limit on
// file sizes ended it. What it left behind does.
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

absl::Status GitTransfer::FetchCommit(absl::string_view commit) {
  std::vector<std::string> arguments = FetchArguments("--depth=1");
  arguments.emplace_back(commit);
  return Explain(git_.Run("fetch", arguments).status());
}

// A server names one object that it lacks and sends nothing; so it is asked again for the others.
absl::StatusOr<std::vector<std::string>> GitTransfer::FetchObjects(std::vector<std::string> ids) {
  std::vector<std::string> missing;
  for (int tries = 0; !ids.empty() && tries <= missing_objects_; ++tries) {
    const absl::Status fetched =
        git_.Run("fetch", FetchArguments("--stdin"), absl::StrJoin(ids, "\n") + "\n").status();
    if (fetched.ok()) return missing;
    const std::string refused = RefusedObject(fetched.message());
    const auto at = std::find(ids.begin(), ids.end(), refused);
    if (at == ids.end()) return Explain(fetched);
    missing.push_back(refused);
    ids.erase(at);
  }
  missing.insert(missing.end(), ids.begin(), ids.end());
  return missing;
}

absl::StatusOr<GitTransfer::Stats> GitTransfer::Measure() const {
  Stats stats;
  std::error_code error;
  std::filesystem::directory_iterator packs(ObjectsFolder() + "/pack", error);
  if (error) return stats;  // nothing has come yet
  for (const std::filesystem::directory_entry& entry : packs) {
    if (entry.path().extension() != ".pack") continue;
    ASSIGN_OR_RETURN(const int64_t objects, ObjectsInPack(entry.path()));
    stats.objects += objects;
    stats.bytes += static_cast<int64_t>(entry.file_size(error));
  }
  return stats;
}

}  // namespace kernelmill::fetcher
