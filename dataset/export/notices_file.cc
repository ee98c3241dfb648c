#include "dataset/export/notices_file.h"

#include <string>

#include "common/base/status.h"
#include "common/base/text.h"
#include "common/source_files/source_files.h"
#include "dataset/export/fill_rows.h"
#include "dataset/export/place.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

void NoticesFile::StartSource(const SourceEntry& source, const v1::SourceTree& tree) {
  source_ = source;
  provenance_.StartSource({source.repository, source.url, source.commit, source.commit_time,
                           source.category, source.holdout});
  *license_files_.mutable_license_files() = tree.license_files();
}

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
