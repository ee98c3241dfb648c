#include "dataset/export/notices_file.h"

#include <string>

#include "common/base/status.h"
#include "common/base/text.h"
#include "common/source_files/source_files.h"
#include "dataset/export/fill_rows.h"
#include "dataset/export/place.h"
#include "kernelmill/v1/rows.pb.h"

// Decides which licence and NOTICE texts of a source go along with its kept kernels: those that a
// kernel's licence evidence names, and licence files that are about a folder in which, or below
// which, a file was kept. The texts are written as the source ends, since only then it is known
// what was kept.
namespace kernelmill::dataset {

void NoticesFile::StartSource(const SourceEntry& source, const v1::SourceTree& tree) {
  source_ = source;
  provenance_.StartSource({source.repository, source.url, source.commit, source.commit_time,
                           source.category, source.holdout, source.hash_computed});
  *license_files_.mutable_license_files() = tree.license_files();
}

// Adds all folders above the file, from the innermost on, until one is known: then all above it
// are.
void NoticesFile::AddNamedBy(const v1::Verdict& verdict, absl::string_view path, bool whole_file) {
  const v1::License& license = verdict.license();
  if (whole_file) {
    provenance_.AddWholeFile(license);
  } else {
    provenance_.AddKernel(license, verdict.source_tokens().cl100k_base());
  }
  for (const v1::LicenseEvidence& found : license.found()) named_.insert(found.path());
  named_.insert(license.notices().begin(), license.notices().end());
  while (!path.empty()) {
    const size_t slash = path.rfind('/');
    path = slash == absl::string_view::npos ? "" : path.substr(0, slash);
    if (!folders_.emplace(path).second) break;  // those above it are there as well
  }
}

bool NoticesFile::GoesAlong(const std::string& path) const {
  if (named_.contains(ToUtf8(path))) return true;
  return source_files::GetKind(path) == source_files::Kind::kLicense &&
         folders_.contains(std::string(source_files::FolderItIsAbout(path)));
}

absl::Status NoticesFile::EndSource() {
  for (const v1::SourceFile& file : license_files_.license_files()) {
    if (!GoesAlong(file.path())) continue;
    provenance_.AddText(file, WebLink(source_.url, source_.commit, file.path(), 0, 0));
    v1::NoticeRow row;
    FillNoticeRow(source_, file, &row);
    RETURN_IF_ERROR(tables_.Append(&row));
  }
  license_files_.Clear();
  named_.clear();
  folders_.clear();
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
