#include "common/source_files/content_hash.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"

namespace kernelmill::source_files {
namespace {

// Hashes a field with its length before it, so that two different lists of fields never give the
// same bytes.
void Feed(Sha256Stream& stream, absl::string_view field) {
  stream.Update(absl::StrCat(field.size(), ":"));
  stream.Update(field);
}

}  // namespace

// The first field names the format. A change of the format must change it, since lock files hold
// these hashes.
std::string ContentHash(const v1::SourceTree& tree) {
  Sha256Stream stream;
  Feed(stream, "kernelmill tree 1");
  for (const v1::FileEntry& file : tree.files()) {
    Feed(stream, file.path());
    Feed(stream, absl::StrCat(file.fate(), " ", file.reason(), " ", file.size_bytes()));
    Feed(stream, file.sha256());
  }
  Feed(stream, "licenses");
  for (const v1::SourceFile& license : tree.license_files()) {
    Feed(stream, license.path());
    Feed(stream, Sha256Hex(license.content()));
  }
  if (!tree.requires_triton().empty()) {
    Feed(stream, "requires");
    Feed(stream, tree.requires_triton());
    Feed(stream, tree.requires_triton_path());
  }
  return stream.FinishHex();
}

}  // namespace kernelmill::source_files
