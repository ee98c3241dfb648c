#include "services/fetcher/adapters/git/git_repository.h"

#include <filesystem>
#include <system_error>

#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::fetcher {
namespace {

// A promisor remote may leave objects out, and git does not miss them. The URL is given on each
// command line rather than written here: no quoting to get wrong.
constexpr char kConfig[] =
    "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
    "[extensions]\n\tpartialClone = origin\n"
    "[remote \"origin\"]\n\tpromisor = true\n\tpartialCloneFilter = blob:none\n";

}  // namespace

absl::Status MakeFolders(const std::string& parent, std::initializer_list<const char*> folders) {
  std::error_code error;
  for (const char* folder : folders) {
    std::filesystem::create_directory(parent + folder, error);
    if (error) return ErrnoStatus(error.value(), parent + folder);
  }
  return absl::OkStatus();
}

absl::Status MakeRepository(const std::string& folder) {
  RETURN_IF_ERROR(MakeFolders(folder, {"/objects", "/objects/pack", "/refs"}));
  RETURN_IF_ERROR(WriteFile(folder + "/HEAD", "ref: refs/heads/none\n"));
  return WriteFile(folder + "/config", kConfig);
}

}  // namespace kernelmill::fetcher
