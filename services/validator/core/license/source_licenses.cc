#include "services/validator/core/license/source_licenses.h"

#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "services/validator/core/license/words/attribution.h"

namespace kernelmill::validator {
namespace {

constexpr int kMaxAdaptations = 16;  // of one kernel

absl::string_view LastTwo(absl::string_view path) {
  const absl::string_view folder = ParentFolder(path);
  if (folder.empty()) return path;
  return path.substr(static_cast<size_t>(BaseName(folder).data() - path.data()));
}

void AddHolder(const std::string& line, v1::License* license) {
  std::vector<std::string> lines(license->copyrights().begin(), license->copyrights().end());
  AddCopyrightLine(line, &lines);
  license->mutable_copyrights()->Assign(lines.begin(), lines.end());
}

void AddOrigin(const OriginStatement& origin, const v1::Kernel& kernel, int lines_before,
               v1::License* license) {
  if (license->adapted_from_size() == kMaxAdaptations) return;
  if (!origin.copyright.empty()) AddHolder(origin.copyright, license);
  v1::Adaptation& adaptation = *license->add_adapted_from();
  adaptation.set_origin(origin.origin);
  adaptation.set_path(ToUtf8(kernel.path()));
  adaptation.set_line(origin.line + lines_before);
}

}  // namespace

bool TreeFiles::Has(absl::string_view path) const {
  if (!filled_) {
    filled_ = true;
    for (const v1::FileEntry& file : tree_.files()) {
      ends_.insert(BaseName(file.path()));
      ends_.insert(LastTwo(file.path()));
    }
  }
  return ends_.contains(LastTwo(path));
}

SourceLicenses::SourceLicenses(const v1::SourceTree& tree, absl::string_view stated)
    : tree_(tree), own_(tree), finder_(tree, stated), notices_(tree) {}

v1::License SourceLicenses::Of(const v1::Kernel& kernel, const std::string& content) {
  const FileFacts& file = FactsOf(kernel, content);
  v1::License license = file.license;
  if (kernel.has_json_pointer()) {
    // The file's comments are none; the string's are, on lines that are counted as the kernel's.
    for (const OriginStatement& origin :
         FindOrigins(kernel.path(), kernel.source(), tree_.repository(), own_)) {
      AddOrigin(origin, kernel, kernel.first_line() - 1, &license);
    }
    return license;
  }
  for (const OriginStatement& origin : file.origins) {
    if (!IsAbout(origin, kernel.first_line(), kernel.last_line())) continue;
    AddOrigin(origin, kernel, 0, &license);
  }
  return license;
}

const SourceLicenses::FileFacts& SourceLicenses::FactsOf(const v1::Kernel& kernel,
                                                         const std::string& content) {
  // Of a JSON file as a whole the comments are its own.
  const std::string key = absl::StrCat(kernel.has_json_pointer() ? "string:" : "", kernel.path());
  const auto known = facts_.find(key);
  if (known != facts_.end()) return known->second;
  FileFacts facts;
  if (!kernel.has_json_pointer()) {
    facts.origins = FindOrigins(kernel.path(), content, tree_.repository(), own_);
  }
  std::vector<std::string> of_the_file;
  for (const OriginStatement& origin : facts.origins) {
    if (origin.whole_file) of_the_file.push_back(origin.origin);
  }
  facts.license = finder_.Find(kernel.path(), content, of_the_file);
  return facts_.emplace(key, std::move(facts)).first->second;
}

bool SourceLicenses::NamesHolders(const v1::Adaptation& adaptation) const {
  const auto file = facts_.find(adaptation.path());
  if (file == facts_.end()) return false;
  return absl::c_any_of(file->second.origins, [&](const OriginStatement& statement) {
    return statement.line == adaptation.line() && !statement.copyright.empty();
  });
}

std::string SourceLicenses::OriginWithoutNotice(const v1::License& license) {
  for (const v1::Adaptation& adaptation : license.adapted_from()) {
    if (!NamesHolders(adaptation) && !notices_.Cover(adaptation, license))
      return adaptation.origin();
  }
  return "";
}

}  // namespace kernelmill::validator
