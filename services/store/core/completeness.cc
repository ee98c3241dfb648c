#include "services/store/core/completeness.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::store {

absl::StatusOr<std::vector<BlobId>> NamedBlobs(const cas::ActionResult& result) {
  std::vector<BlobId> named;
  const auto add = [&named](const cas::Digest& digest, const std::string& where) -> absl::Status {
    const absl::StatusOr<BlobId> id = ToBlobId(digest);
    if (!id.ok()) return Annotate(id.status(), where);
    named.push_back(*id);
    return absl::OkStatus();
  };
  for (const auto& file : result.output_files()) {
    RETURN_IF_ERROR(add(file.digest(), absl::StrCat("output file ", JsonString(file.path()))));
  }
  for (const auto& directory : result.output_directories()) {
    const std::string where = absl::StrCat("output directory ", JsonString(directory.path()));
    // A client names the tree, the root, or both.
    if (!directory.has_tree_digest() && !directory.has_root_directory_digest()) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": no digest"));
    }
    if (directory.has_tree_digest()) RETURN_IF_ERROR(add(directory.tree_digest(), where));
    if (directory.has_root_directory_digest()) {
      RETURN_IF_ERROR(add(directory.root_directory_digest(), where));
    }
  }
  if (result.has_stdout_digest()) RETURN_IF_ERROR(add(result.stdout_digest(), "stdout"));
  if (result.has_stderr_digest()) RETURN_IF_ERROR(add(result.stderr_digest(), "stderr"));
  return named;
}

}  // namespace kernelmill::store
