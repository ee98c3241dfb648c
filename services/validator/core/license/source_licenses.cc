// The licences of one source's kernels. A file's licence and the origins that its comments state
// are facts about the file, and are found once for all its kernels. Which of the origins is about a
// kernel depends on its lines (IsAbout).
#include "services/validator/core/license/source_licenses.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/source_files/source_files.h"
#include "common/source_files/whole_files.h"
#include "common/spdx/expression.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/tree/license_file.h"
#include "services/validator/core/license/words/attribution.h"
#include "services/validator/core/license/words/comment_blocks.h"
#include "services/validator/core/license/words/origins.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxBytes = 2 << 20;  // all texts together
constexpr size_t kMaxKnown = 4096;
constexpr int kNoticeLines = 2;

bool IsNoticeOrLicense(absl::string_view path) {
  const source_files::Kind kind = source_files::GetKind(path);
  return kind == source_files::Kind::kLicense || kind == source_files::Kind::kLicenseText ||
         kind == source_files::Kind::kNotice;
}

}  // namespace

bool OthersNotices::Cover(const v1::Adaptation& adaptation, const v1::License& license) {
  const bool holds = absl::c_any_of(license.copyrights(), [&](absl::string_view line) {
    return NamesOrigin(line, adaptation.origin());
  });
  const bool says = absl::c_any_of(license.found(), [&](const v1::LicenseEvidence& found) {
    if (found.expression().empty() || found.path() != adaptation.path()) return false;
    const int after = found.rule() == "notice" ? kNoticeLines : 0;
    return found.first_line() <= adaptation.line() + after &&
           adaptation.line() <= found.last_line();
  });
  return holds || says || TreeNames(adaptation.origin());
}

bool OthersNotices::TreeNames(const std::string& origin) {
  if (!read_) {
    read_ = true;
    for (const v1::SourceFile& file : tree_.license_files()) {
      if (words_.size() > kMaxBytes) break;
      if (!IsNoticeOrLicense(file.path())) continue;
      const absl::string_view text = absl::string_view(file.content()).substr(0, kMaxLicenseBytes);
      absl::StrAppend(&words_, spdx::NormalizeWords(file.path()), spdx::NormalizeWords(text));
    }
    words_.resize(std::min(words_.size(), kMaxBytes));
  }
  const auto known = known_.find(origin);
  if (known != known_.end()) return known->second;
  if (known_.size() == kMaxKnown) return false;
  return known_[origin] = ContainsAny(words_, FindNames(origin));
}

namespace {

using spdx::LicenseTerm;
using spdx::SpdxExpression;

constexpr const char* kDefaults[] = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC"};

// Returns an allowed term as expressions spell it. A term that is not an expression never matches.
std::string Canonical(absl::string_view term) {
  const absl::StatusOr<SpdxExpression> parsed = SpdxExpression::Parse(term);
  return parsed.ok() ? parsed->ToString() : std::string(term);
}

}  // namespace

LicensePolicy::LicensePolicy(const v1::LicensePolicy& policy)
    : rejects_adapted_(policy.adapted() == v1::ADAPTED_POLICY_REJECT) {
  for (const std::string& id : policy.allow()) {
    allowed_.insert(Canonical(id));
    allows_any_ = allows_any_ || id == spdx::kAnyLicense;
  }
  if (policy.allow().empty()) allowed_.insert(std::begin(kDefaults), std::end(kDefaults));
}

// An expression that cannot be parsed is never allowed.
bool LicensePolicy::Allows(absl::string_view expression) const {
  if (allows_any_) return true;
  const absl::StatusOr<SpdxExpression> parsed = SpdxExpression::Parse(expression);
  if (!parsed.ok()) return false;
  return parsed->Holds([this](const LicenseTerm& term) {
    // Words after WITH that are not a known exception may take something away.
    if (!term.exception.empty() && !spdx::IsKnownException(term.exception)) {
      return allowed_.contains(absl::StrCat(term.id, " WITH ", term.exception));
    }
    if (allowed_.contains(term.id)) return true;
    absl::string_view base = term.id;
    // "GPL-2.0-or-later" may be used as GPL-2.0-only.
    if (absl::ConsumeSuffix(&base, "-or-later") && allowed_.contains(absl::StrCat(base, "-only"))) {
      return true;
    }
    return !term.exception.empty() &&
           allowed_.contains(absl::StrCat(term.id, " WITH ", term.exception));
  });
}

namespace {

constexpr int kMaxAdaptations = 16;  // for one kernel

// Returns the last two components of a path.
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

// Adds an origin to a licence, and the copyright line in its statement.
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

// The set is made when it is first needed: most sources state no origins.
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

SourceLicenses::SourceLicenses(const v1::SourceTree& tree, const StatedLicenses& stated)
    : tree_(tree), own_(tree), finder_(tree, stated), notices_(tree) {}

v1::License SourceLicenses::Of(const v1::Kernel& kernel, const std::string& content) {
  const FileFacts& file = FindFacts(kernel, content);
  v1::License license = file.license;
  if (source_files::IsEmbedded(kernel)) {
    // The file has no comments. Those of the string are on lines that are counted from the kernel's
    // first line.
    for (const OriginStatement& origin :
         FindOrigins(dsl::GetSyntax(kernel.dsl()), kernel.source(), tree_.repository(), own_)) {
      AddOrigin(origin, kernel, kernel.first_line() - 1, &license);
    }
    return license;
  }
  AddOriginsOfString(kernel, content, &license);
  for (const OriginStatement& origin : file.origins) {
    if (!IsAbout(origin, kernel.first_line(), kernel.last_line())) continue;
    AddOrigin(origin, kernel, 0, &license);
  }
  return license;
}

// Reads the comments of CUDA in a string of a Python file, which are no comments there. The string
// is read from its begin to the kernel's end.
void SourceLicenses::AddOriginsOfString(const v1::Kernel& kernel, absl::string_view content,
                                        v1::License* license) const {
  const auto begin = static_cast<size_t>(kernel.string_begin());
  const auto end = static_cast<size_t>(kernel.first_byte()) + kernel.source().size();
  if (begin == 0 || !kernel.has_cuda() || begin > end || end > content.size()) return;
  const auto lines_before =
      static_cast<int>(std::count(content.begin(), content.begin() + kernel.string_begin(), '\n'));
  for (const OriginStatement& origin : FindOrigins(
           code::Language::kC, content.substr(begin, end - begin), tree_.repository(), own_)) {
    const bool about =
        IsAbout(origin, kernel.first_line() - lines_before, kernel.last_line() - lines_before);
    if (about) AddOrigin(origin, kernel, lines_before, license);
  }
}

const SourceLicenses::FileFacts& SourceLicenses::FindFacts(const v1::Kernel& kernel,
                                                           const std::string& content) {
  // For a JSON file the facts are kept under another key, since it has no comments of its own.
  const std::string key =
      absl::StrCat(source_files::IsEmbedded(kernel) ? "string:" : "", kernel.path());
  const auto known = facts_.find(key);
  if (known != facts_.end()) return known->second;
  FileFacts facts;
  if (!source_files::IsEmbedded(kernel)) {
    facts.origins = FindOrigins(CommentsOfFile(kernel.path()), content, tree_.repository(), own_);
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

// Returns the first origin that neither the file nor the tree gives a notice of; empty if all have
// one.
std::string SourceLicenses::OriginWithoutNotice(const v1::License& license) {
  for (const v1::Adaptation& adaptation : license.adapted_from()) {
    if (!NamesHolders(adaptation) && !notices_.Cover(adaptation, license))
      return adaptation.origin();
  }
  return "";
}

}  // namespace kernelmill::validator
