// Licence finding, the basic idea: every reader (ReadHeader for a file's head, LicenseFiles for
// LICENSE files, Annotations, PackageMetadata) turns what it understands into an SPDX expression
// with its evidence, and reports separately that it saw something which it does not understand.
// This file only decides which of them count. Statements that hold at the same time are joined with
// AND (class Joined); the confidence of a join is the lowest of its parts.
//
// The rule for doubt is always the same: a statement that was seen but not understood gives
// NOASSERTION. So the result may be missing a licence, but never claims one that the source did not
// give.
#include "services/validator/core/license/finder.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/source_files/source_files.h"
#include "common/spdx/expression.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/terms.h"
#include "services/validator/core/license/text/text.h"
#include "services/validator/core/license/words/attribution.h"
#include "services/validator/core/license/words/origins.h"

namespace kernelmill::validator {
namespace {

using spdx::LicenseTerm;

constexpr double kHeaderText = 1.0;
constexpr double kHeaderNotice = 0.95;
constexpr double kStated = 0.5;
constexpr double kStatedPath = 0.8;
constexpr double kSameHolder = 0.8;
constexpr double kAnnotation = 1.0;
constexpr double kPart = 0.8;  // a part of an aggregate
// at most, for a licence from above a folder that may be other people's code
constexpr double kMaybeVendored = 0.5;

v1::License MakeLicense(absl::string_view expression, absl::string_view evidence,
                        double confidence) {
  v1::License license;
  license.set_expression(std::string(expression));
  license.set_evidence(std::string(evidence));
  license.set_confidence(confidence);
  return license;
}

v1::License Unknown(absl::string_view evidence) { return MakeLicense(kNoAssertion, evidence, 0); }

void AddFound(const Evidence& evidence, v1::License* license) {
  for (const v1::LicenseEvidence& one : evidence) *license->add_found() = one;
}

// Adds copyright lines, each once.
void AddHolders(const std::vector<std::string>& from, v1::License* license) {
  std::vector<std::string> lines(license->copyrights().begin(), license->copyrights().end());
  AddCopyrights(from, &lines);
  license->mutable_copyrights()->Assign(lines.begin(), lines.end());
}

// NOASSERTION if the licence file was not understood.
v1::License FromFinding(const LicenseFinding& finding) {
  const std::string evidence = absl::StrCat("file:", ToUtf8(finding.path));
  v1::License license = finding.license.has_value()
                            ? MakeLicense(finding.license->ToString(), evidence, finding.confidence)
                            : Unknown(evidence);
  AddFound(finding.evidence, &license);
  AddHolders(finding.copyrights, &license);
  return license;
}

// Returns the licence that the job file states. It was checked when the job was submitted.
std::optional<v1::License> FromJob(absl::string_view stated) {
  const absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(stated);
  if (!expression.ok()) return std::nullopt;
  v1::License license = MakeLicense(expression->ToString(), "job", kStated);
  *license.add_found() = MakeEvidence("job", expression->ToString(), stated, kStated);
  return license;
}

void Append(const std::vector<SpdxExpression>& from, std::vector<SpdxExpression>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

// Returns whether a family's name may mean every licence of the expression.
bool IsOfFamily(const SpdxExpression& expression, absl::string_view family) {
  return absl::c_all_of(expression.Terms(),
                        [&](const LicenseTerm& term) { return absl::StartsWith(term.id, family); });
}

// Returns an identifier up to its first digit: "GPL-" for "GPL-3.0-only". Two notices of one
// licence may differ in the version.
absl::string_view Stem(absl::string_view id) {
  return id.substr(0, id.find_first_of("0123456789"));
}

// Returns whether `terms` have every licence of `expression`, in any version.
bool Covers(const std::vector<LicenseTerm>& terms, const SpdxExpression& expression) {
  return absl::c_all_of(expression.Terms(), [&](const LicenseTerm& term) {
    return absl::c_any_of(
        terms, [&](const LicenseTerm& known) { return Stem(known.id) == Stem(term.id); });
  });
}

// Returns whether the expression is a GNU licence of any version, which a mention without a version
// gives, and `terms` have that licence: "a kernel under the GPL".
bool IsCoveredAnyVersion(const std::vector<LicenseTerm>& terms, const SpdxExpression& expression) {
  const std::string any = expression.ToString();
  const bool mentioned =
      any == "GPL-1.0-or-later" || any == "LGPL-2.0-or-later" || any == "AGPL-1.0-or-later";
  return mentioned && Covers(terms, expression);
}

// Returns whether one of the expressions has a licence of the family.
bool HasFamily(const std::vector<SpdxExpression>& expressions, absl::string_view family) {
  return absl::c_any_of(expressions, [&](const SpdxExpression& expression) {
    return absl::c_any_of(expression.Terms(), [&](const LicenseTerm& term) {
      return absl::StartsWith(term.id, family);
    });
  });
}

// Collects licences that hold together, with their evidence.
class Joined {
 public:
  void Add(SpdxExpression expression, absl::string_view evidence, double confidence) {
    parts_.push_back(std::move(expression));
    if (!absl::c_linear_search(evidence_, evidence)) evidence_.emplace_back(evidence);
    confidence_ = std::min(confidence_, confidence);
  }

  // Returns false, and adds nothing, if the licence is NOASSERTION.
  bool Add(const v1::License& license) {
    absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(license.expression());
    if (!expression.ok()) return false;
    Add(*std::move(expression), license.evidence(), license.confidence());
    found_.insert(found_.end(), license.found().begin(), license.found().end());
    const auto& lines = license.copyrights();
    AddCopyrights(std::vector<std::string>(lines.begin(), lines.end()), &copyrights_);
    return true;
  }

  bool empty() const { return parts_.empty(); }

  // Returns the licence that all of them hold, or any. At least one must have been added.
  v1::License Make(bool any = false) && {
    const SpdxExpression expression =
        any ? SpdxExpression::Any(std::move(parts_)) : SpdxExpression::All(std::move(parts_));
    v1::License license =
        MakeLicense(expression.ToString(), absl::StrJoin(evidence_, "+"), confidence_);
    AddFound(found_, &license);
    AddHolders(copyrights_, &license);
    return license;
  }

 private:
  std::vector<SpdxExpression> parts_;
  std::vector<std::string> evidence_;
  double confidence_ = 1;
  Evidence found_;
  std::vector<std::string> copyrights_;
};

v1::License FromPart(const LicenseFinding& aggregate, const LicensePart& part) {
  v1::License license =
      MakeLicense(part.license->ToString(), absl::StrCat("file:", ToUtf8(aggregate.path)), kPart);
  AddFound(part.evidence, &license);
  AddHolders(part.copyrights, &license);
  return license;
}

// Returns an aggregate's licence for the file: the main part, and the parts that list the file or
// name one of its origins.
v1::License WithParts(const LicenseFinding& finding, absl::string_view path,
                      const std::vector<std::string>& origins) {
  Joined joined;
  v1::License main = FromFinding(finding);
  if (!joined.Add(main)) return main;
  bool added = false;
  for (const LicensePart& part : finding.parts) {
    const bool named = absl::c_any_of(
        origins, [&](absl::string_view origin) { return NamesOrigin(part.title, origin); });
    if (!named && !ListsPath(part, path)) continue;
    if (!part.license.has_value()) return Unknown(main.evidence());
    joined.Add(FromPart(finding, part));
    added = true;
  }
  return added ? std::move(joined).Make() : main;
}

v1::License FromAnnotation(const Annotated& annotated) {
  const std::string evidence = absl::StrCat("annotation:", ToUtf8(annotated.path));
  v1::License license = annotated.license.has_value()
                            ? MakeLicense(annotated.license->ToString(), evidence, kAnnotation)
                            : Unknown(evidence);
  AddFound(annotated.evidence, &license);
  AddHolders(annotated.copyrights, &license);
  return license;
}

// Returns both licences together; NOASSERTION if one of them is.
v1::License AddAggregate(const Annotated& annotated, v1::License license) {
  if (!annotated.says_license) {
    AddHolders(annotated.copyrights, &license);
    return license;
  }
  v1::License besides = FromAnnotation(annotated);
  // No place said anything, so there is no licence that could be missing.
  if (license.expression() == kNoAssertion && license.evidence().empty()) return besides;
  Joined joined;
  if (joined.Add(license) && joined.Add(besides)) return std::move(joined).Make();
  return Unknown(absl::StrCat(license.evidence(), "+", besides.evidence()));
}

}  // namespace

LicenseFinder::LicenseFinder(const v1::SourceTree& tree, const StatedLicenses& stated)
    : files_(tree), packages_(tree), annotations_(tree), stated_(FromJob(stated.source)) {
  for (const v1::PathLicense& entry : stated.paths) {
    absl::StatusOr<GlobSet> globs =
        GlobSet::Compile({entry.paths().begin(), entry.paths().end()}, {});
    std::optional<v1::License> license = FromJob(entry.license());
    if (!globs.ok() || !license.has_value()) continue;
    license->set_confidence(kStatedPath);
    path_licenses_.emplace_back(*std::move(globs), *std::move(license));
  }
  for (const v1::SourceFile& file : tree.license_files()) {
    const absl::string_view of = source_files::FileOfSideTags(file.path());
    if (!of.empty()) side_tags_[of] = &file;
  }
}

namespace {

// Returns whether the head states a licence, or says where it is.
bool StatesLicense(const HeaderFindings& header) {
  return header.has_tags || header.altered || !header.texts.empty() || !header.notice.own.empty() ||
         !header.notice.families.empty() || !header.notice.portions.empty() ||
         header.notice.root != RootFile::kNo;
}

// Returns whether the head names a licence of the file that is understood.
bool StatesOwnLicense(const HeaderFindings& header) {
  return !header.tags.empty() || !header.texts.empty() || !header.notice.own.empty();
}

// Returns whether the first lines of a file have an address of a repository.
bool NamesPlaceOfCode(absl::string_view content) {
  constexpr size_t kHead = 2000;
  const std::string head = absl::AsciiStrToLower(content.substr(0, kHead));
  for (const char* host : {"github.com/", "gitlab.com/", "bitbucket.org/", "huggingface.co/"}) {
    if (absl::StrContains(head, host)) return true;
  }
  return false;
}

// Returns the strictest of the words about training models.
absl::string_view StrictestTrainingUse(const v1::License& license) {
  absl::string_view strictest;
  for (const v1::LicenseEvidence& found : license.found()) {
    if (found.rule() != "training") continue;
    const absl::string_view use = GetTrainingUse(found.text());
    for (const absl::string_view word : {"forbidden", "limited", "permitted"}) {
      if (strictest == word) break;
      if (use == word) strictest = word;
    }
  }
  return strictest;
}

}  // namespace

// Decides in this order: an annotation that overrides the file; the file's own tags or head; what
// lies above it. An aggregate annotation is joined with the result. The evidence and the copyright
// lines of the file itself always stay in the record, whichever statement decides.
v1::License LicenseFinder::Find(absl::string_view path, absl::string_view content,
                                const std::vector<std::string>& origins) {
  const std::optional<source_files::VendoredFolder> vendored =
      source_files::FindVendoredFolder(path);
  const bool certain = vendored.has_value() && vendored->certain;
  Subject subject = {path, certain ? vendored->container : absl::string_view(), origins};
  const Annotations::Answer annotated = annotations_.Of(path);
  HeaderFindings header;
  v1::License decided;
  if (annotated.instead.has_value() && annotated.instead->says_license) {
    decided = FromAnnotation(*annotated.instead);
  } else {
    header = ReadTagsOrHeader(path, content);
    subject.copyrights = header.copyrights;
    subject.names_place = NamesPlaceOfCode(content);
    decided = Decide(subject, header);
    if (annotated.besides.has_value()) decided = AddAggregate(*annotated.besides, decided);
    decided = AddTerms(subject, StatesOwnLicense(header), std::move(decided));
  }
  // The file's own statements are listed before those found elsewhere.
  v1::License license = decided;
  license.clear_found();
  license.clear_copyrights();
  AddFound(header.evidence, &license);
  license.mutable_found()->MergeFrom(decided.found());
  AddHolders(header.copyrights, &license);
  AddHolders({decided.copyrights().begin(), decided.copyrights().end()}, &license);
  for (std::string& notice : files_.Notices(path)) license.add_notices(std::move(notice));
  if (vendored.has_value()) license.set_vendored(ToUtf8(vendored->path));
  license.set_training_use(std::string(StrictestTrainingUse(license)));
  return license;
}

// Reads the ".license" file instead of the head, as REUSE has it. Without tags it says nothing.
HeaderFindings LicenseFinder::ReadTagsOrHeader(absl::string_view path,
                                               absl::string_view content) const {
  const auto side = side_tags_.find(path);
  if (side != side_tags_.end()) {
    HeaderFindings tags = ReadTagFile(side->second->content());
    SetPath(side->second->path(), &tags.evidence);
    if (tags.has_tags) return tags;
  }
  HeaderFindings header = ReadHeader(path, content);
  SetPath(path, &header.evidence);
  return header;
}

namespace {

// Returns the licence and another, which is an expression, together.
v1::License With(const v1::License& license, absl::string_view other, absl::string_view evidence) {
  Joined joined;
  absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(other);
  if (!expression.ok() || !joined.Add(license)) return license;
  joined.Add(*std::move(expression), evidence, license.confidence());
  return std::move(joined).Make();
}

}  // namespace

// Terms in the head that were not understood add to the licence that it states. If it
// states none, nothing is known: the licence of the root is not taken for it. A licence file that
// it names holds too, and must be there.
v1::License LicenseFinder::Decide(const Subject& subject, const HeaderFindings& header) {
  const bool unknown = header.names_unknown && !StatesOwnLicense(header);
  if (!header.terms.empty() && (unknown || !StatesLicense(header))) return Unknown("header");
  v1::License license = FromStatements(subject, header);
  for (const HeaderFindings::LicenseFileName& file : header.license_files) {
    const LicenseFinding* finding = files_.Named(subject.path, file.name);
    if (finding == nullptr && file.licence_named) continue;
    Joined joined;
    if (finding == nullptr || !joined.Add(license) || !joined.Add(FromFinding(*finding)))
      return Unknown("header");
    license = std::move(joined).Make();
  }
  return header.terms.empty() ? license : With(license, kAdditionalTerms, "header");
}

// Adds the terms that files beside the licence have.
v1::License LicenseFinder::AddTerms(const Subject& subject, bool states_own, v1::License license) {
  const Evidence terms = files_.FindTerms(subject.path, subject.top, states_own);
  if (terms.empty()) return license;
  std::set<std::string> added;
  for (const v1::LicenseEvidence& one : terms) {
    if (!added.insert(one.expression()).second) continue;
    license = With(license, one.expression(), absl::StrCat("file:", one.path()));
  }
  AddFound(terms, &license);
  for (const v1::LicenseEvidence& one : terms) {
    if (GetTrainingUse(one.text()).empty()) continue;
    v1::LicenseEvidence& training = *license.add_found();
    training = one;
    training.set_rule("training");
    training.clear_expression();
  }
  return license;
}

// Tags decide if there are any. A tag that is not understood gives NOASSERTION, even if other
// statements are clear.
v1::License LicenseFinder::FromStatements(const Subject& subject, const HeaderFindings& header) {
  if (!header.has_tags) {
    std::optional<v1::License> license = FromHeader(subject, header);
    return license.has_value() ? *std::move(license) : FromElsewhere(subject);
  }
  if (header.tags.empty()) return Unknown("spdx-tag");
  const SpdxExpression tags = SpdxExpression::All(header.tags);
  Joined joined;
  joined.Add(tags, "spdx-tag", 1.0);
  // Texts, other notices and other people's code in the head hold besides the tags. A notice that
  // names the licence of a tag only repeats it.
  for (const SpdxExpression& text : header.texts) joined.Add(text, "spdx-tag", 1.0);
  const std::vector<LicenseTerm> terms = tags.Terms();
  for (const SpdxExpression& own : header.notice.own) {
    const bool repeats = header.notice.choice || Covers(terms, own);
    if (!repeats) joined.Add(own, "header", kHeaderNotice);
  }
  for (const std::string& family : header.notice.families) {
    if (header.notice.choice || HasFamily({tags}, family)) continue;
    const std::optional<v1::License> settled =
        FromFamily(subject, family, header.notice.root != RootFile::kNo);
    if (!settled.has_value()) return Unknown("header");
    joined.Add(*settled);
  }
  for (const SpdxExpression& portion : header.notice.portions) {
    if (!IsCoveredAnyVersion(terms, portion)) joined.Add(portion, "spdx-tag", 1.0);
  }
  return std::move(joined).Make();
}

// Returns the licence that the head states without tags; nothing if it states none. An altered
// licence text is NOASSERTION: the change may be a condition.
std::optional<v1::License> LicenseFinder::FromHeader(const Subject& subject,
                                                     const HeaderFindings& header) {
  if (header.altered) return Unknown("header");
  const Notice& notice = header.notice;
  std::vector<SpdxExpression> own = header.texts;
  Append(notice.own, &own);
  const bool choice = notice.choice && header.texts.empty();
  const double sure = header.texts.empty() ? kHeaderNotice : kHeaderText;
  Joined stated;
  for (const SpdxExpression& license : own) stated.Add(license, "header", sure);
  // A notice that only names a family holds besides the other notices.
  for (const std::string& family : notice.families) {
    if (HasFamily(own, family)) continue;
    const std::optional<v1::License> settled =
        FromFamily(subject, family, notice.root != RootFile::kNo);
    if (settled.has_value()) {
      stated.Add(*settled);
    } else if (!choice || own.empty()) {
      return Unknown("header");
    }
  }
  const bool points = notice.root == RootFile::kPointedTo && stated.empty();
  if (notice.root == RootFile::kGrants || points) {
    std::optional<v1::License> root = FromRoot(subject);
    if (root.has_value() && !stated.Add(*root)) return root;
    if (!root.has_value() && !points && !stated.empty()) return Unknown("header");
  }
  if (notice.portions.empty()) {
    if (stated.empty()) return std::nullopt;
    return std::move(stated).Make(choice);
  }
  // Other people's code adds to the licence of the rest.
  Joined all;
  v1::License base = stated.empty() ? FromElsewhere(subject) : std::move(stated).Make(choice);
  if (!own.empty()) {
    all.Add(base);
    for (const SpdxExpression& portion : notice.portions) all.Add(portion, "header", sure);
    return std::move(all).Make();
  }
  const absl::StatusOr<SpdxExpression> outer = SpdxExpression::Parse(base.expression());
  if (!outer.ok()) return Unknown("header");
  std::vector<SpdxExpression> parts = {*outer};
  Append(notice.portions, &parts);
  base.set_expression(SpdxExpression::All(std::move(parts)).ToString());
  base.set_evidence(absl::StrCat("header+", base.evidence()));
  base.set_confidence(std::min(base.confidence(), kHeaderNotice));
  return base;
}

// Returns the first licence above the file that belongs to the family; else the only licence of the
// family among the parts of aggregates.
std::optional<v1::License> LicenseFinder::FromFamily(const Subject& subject,
                                                     absl::string_view family, bool root_first) {
  std::vector<const LicenseFinding*> findings =
      files_.Above(subject.path, root_first ? GetTop(subject) : subject.top);
  if (root_first) std::reverse(findings.begin(), findings.end());
  for (const LicenseFinding* finding : findings) {
    if (finding->license.has_value() && IsOfFamily(*finding->license, family)) {
      return FromFinding(*finding);
    }
  }
  std::optional<v1::License> only;
  for (const LicenseFinding* finding : findings) {
    for (const LicensePart& part : finding->parts) {
      if (!part.license.has_value() || !IsOfFamily(*part.license, family)) continue;
      v1::License license = FromPart(*finding, part);
      if (only.has_value() && only->expression() != license.expression()) return std::nullopt;
      if (!only.has_value()) only = std::move(license);
    }
  }
  return only;
}

// Returns the licence of the outermost licence files. A source may be only one folder of a
// repository, so they need not be at the repository's root.
std::optional<v1::License> LicenseFinder::FromRoot(const Subject& subject) {
  const std::vector<const LicenseFinding*> findings = files_.Above(subject.path, GetTop(subject));
  if (findings.empty()) return std::nullopt;
  return WithParts(*findings.back(), subject.path, subject.origins);
}

namespace {

// Returns the words of a copyright line that name its holder.
std::set<std::string> HolderWords(absl::string_view line) {
  static constexpr absl::string_view kOthers[] = {
      "copyright",  "c",   "all", "rights", "reserved",    "the",          "and",
      "inc",        "llc", "ltd", "corp",   "corporation", "contributors", "authors",
      "affiliates", "its", "by",  "to",     "present",     "portions"};
  std::set<std::string> words;
  for (std::string& word : spdx::SentenceWords(line)) {
    const bool number = absl::c_any_of(word, absl::ascii_isdigit);
    if (!number && word != "." && !absl::c_linear_search(kOthers, word))
      words.insert(std::move(word));
  }
  return words;
}

}  // namespace

// Returns whether code in a folder for other people's code is the source's own: its head names the
// holder of the source's licence; or neither the head nor the source's licence names anybody else,
// nor the head a place that the code may be from.
bool LicenseFinder::IsOwnCode(const Subject& subject) {
  const std::vector<const LicenseFinding*> findings = files_.Above(subject.path);
  if (findings.empty() || !findings.back()->license.has_value()) return false;
  std::set<std::set<std::string>> holders;
  for (const std::string& line : findings.back()->copyrights) holders.insert(HolderWords(line));
  holders.erase(std::set<std::string>());
  if (holders.empty()) return false;
  if (subject.copyrights.empty()) {
    return holders.size() == 1 && findings.back()->parts.empty() && subject.origins.empty() &&
           !subject.names_place;
  }
  return absl::c_all_of(subject.copyrights, [&](const std::string& line) {
    return holders.contains(HolderWords(line));
  });
}

// Returns the folder above which no root is looked for. A head that points to the root means the
// source's own if its holder is the one of the source's licence.
absl::string_view LicenseFinder::GetTop(const Subject& subject) {
  return !subject.copyrights.empty() && IsOwnCode(subject) ? absl::string_view() : subject.top;
}

// Returns the licence from outside the file: an annotation that fills gaps, the nearest LICENSE
// file above, package metadata, or last what the job file states. The search stops at the top of a
// folder that certainly holds other people's code, because the licence above it is not theirs.
v1::License LicenseFinder::FromElsewhere(const Subject& subject) {
  for (const auto& [globs, license] : path_licenses_) {
    if (globs.Matches(subject.path)) return license;
  }
  const Annotations::Answer annotated = annotations_.Of(subject.path);
  if (annotated.otherwise.has_value() && annotated.otherwise->says_license) {
    return FromAnnotation(*annotated.otherwise);
  }
  const std::vector<const LicenseFinding*> findings = files_.Above(subject.path, subject.top);
  std::optional<v1::License> license;
  if (!findings.empty()) {
    license = WithParts(*findings.front(), subject.path, subject.origins);
  } else {
    license = packages_.Nearest(subject.path, subject.top);
  }
  const std::optional<source_files::VendoredFolder> vendored =
      source_files::FindVendoredFolder(subject.path);
  if (!license.has_value()) {
    const bool others = vendored.has_value() && vendored->certain;
    if (others && IsOwnCode(subject)) {
      v1::License own =
          WithParts(*files_.Above(subject.path).back(), subject.path, subject.origins);
      const double sure = subject.copyrights.empty() ? kMaybeVendored : kSameHolder;
      own.set_confidence(std::min(own.confidence(), sure));
      return own;
    }
    if (others) return Unknown(absl::StrCat("vendored:", ToUtf8(vendored->path)));
    return stated_.value_or(Unknown(""));
  }
  const bool inside = !findings.empty() && vendored.has_value() &&
                      absl::StartsWith(ParentFolder(findings.front()->path), vendored->container);
  if (vendored.has_value() && !vendored->certain && !inside) {
    license->set_confidence(std::min(license->confidence(), kMaybeVendored));
  }
  return license.value();
}

}  // namespace kernelmill::validator
