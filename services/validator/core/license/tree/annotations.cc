// REUSE keeps licences of files that cannot have comments in a REUSE.toml (or the older
// .reuse/dep5) in any folder. Both are read without a library: files come from strangers, the
// needed part of TOML is small, and a file with an error in it still says what its valid lines say.
#include "services/validator/core/license/tree/annotations.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/path.h"
#include "common/base/text.h"
#include "common/source_files/source_files.h"
#include "services/validator/core/license/words/attribution.h"

namespace kernelmill::validator {
namespace {

using spdx::SpdxExpression;

constexpr size_t kMaxAnnotationBytes = 1 << 20;
constexpr size_t kMaxAnnotations = 1024;
constexpr size_t kMaxGlobBytes = 16 << 10;
constexpr size_t kMaxAnnotatedPathBytes = 4096;

constexpr absl::string_view kLicenseKey = "SPDX-License-Identifier";
constexpr absl::string_view kCopyrightKey = "SPDX-FileCopyrightText";

// Reads the part of TOML that REUSE.toml uses. Anything else is skipped line by line.
// The grammar that is read:
//   file   := (header | pair | other)*, each on its lines
//   header := "[[annotations]]" | any other table, which ends an annotation
//   pair   := key "=" (string | "[" string ("," string)* "]")
class TomlReader {
 public:
  explicit TomlReader(absl::string_view text) : text_(text) {}

  std::vector<Annotation> Read() {
    while (at_ < text_.size() && annotations_.size() <= kMaxAnnotations) {
      SkipBlanks(/*lines=*/true);
      if (at_ >= text_.size()) break;
      if (text_[at_] == '[') {
        ReadHeader();
      } else {
        ReadPair();
      }
      SkipLine();
    }
    annotations_.resize(std::min(annotations_.size(), kMaxAnnotations));
    return std::move(annotations_);
  }

 private:
  void SkipBlanks(bool lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n')) {
        Advance();
      } else {
        return;
      }
    }
  }

  void Advance() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  void SkipLine() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  void ReadHeader() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const absl::string_view line = text_.substr(at_, end - at_);
    const absl::string_view header = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    inside_ = header == "[[annotations]]";
    if (!inside_) return;
    annotations_.emplace_back();
    annotations_.back().line = line_;
  }

  void ReadPair() {
    std::string key;
    if (text_[at_] == '"' || text_[at_] == '\'') {
      if (!ReadString(&key)) return;
    } else {
      const size_t begin = at_;
      while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || text_[at_] == '-' ||
                                    text_[at_] == '_' || text_[at_] == '.')) {
        ++at_;
      }
      key = std::string(text_.substr(begin, at_ - begin));
    }
    SkipBlanks(/*lines=*/false);
    if (at_ >= text_.size() || text_[at_] != '=') return;
    ++at_;
    SkipBlanks(/*lines=*/false);
    std::vector<std::string> values = ReadValues();
    if (inside_) Keep(key, std::move(values));
  }

  // Keeps the values of a key of an annotation. The bound on globs is for the whole file.
  void Keep(absl::string_view key, std::vector<std::string> values) {
    Annotation& annotation = annotations_.back();
    if (key == "path") {
      for (std::string& glob : values) {
        glob_bytes_ += glob.size();
        if (glob_bytes_ <= kMaxGlobBytes) annotation.globs.push_back(std::move(glob));
      }
    } else if (key == "precedence" && values.size() == 1) {
      if (values[0] == "override") annotation.precedence = Precedence::kOverride;
      if (values[0] == "aggregate") annotation.precedence = Precedence::kAggregate;
    } else if (key == kLicenseKey) {
      annotation.licenses = std::move(values);
    } else if (key == kCopyrightKey) {
      annotation.copyrights = std::move(values);
    }
  }

  // Reads a string, or an array of strings; empty for other values.
  std::vector<std::string> ReadValues() {
    std::vector<std::string> values;
    std::string value;
    if (at_ >= text_.size()) return values;
    if (text_[at_] != '[') {
      if (ReadString(&value)) values.push_back(std::move(value));
      return values;
    }
    ++at_;
    while (true) {
      SkipBlanks(/*lines=*/true);
      if (at_ >= text_.size() || text_[at_] == ']' || !ReadString(&value)) return values;
      values.push_back(value);
      SkipBlanks(/*lines=*/true);
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
  }

  // Reads a string in either kind of quotes, single or triple.
  bool ReadString(std::string* value) {
    value->clear();
    if (at_ >= text_.size()) return false;
    const char quote = text_[at_];
    if (quote != '"' && quote != '\'') return false;
    const std::string triple(3, quote);
    const bool is_long = absl::StartsWith(text_.substr(at_), triple);
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      if (is_long ? absl::StartsWith(text_.substr(at_), triple) : text_[at_] == quote) {
        at_ += is_long ? 3 : 1;
        return true;
      }
      if (!is_long && text_[at_] == '\n') return false;
      // A glob or a name needs no other escapes.
      if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        value->push_back(text_[at_] == 'n' ? '\n' : text_[at_] == 't' ? '\t' : text_[at_]);
      } else {
        value->push_back(text_[at_]);
      }
      Advance();
    }
    return false;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  bool inside_ = false;  // inside an annotation
  size_t glob_bytes_ = 0;
  std::vector<Annotation> annotations_;
};

void AddWords(absl::string_view text, std::vector<std::string>* words) {
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipWhitespace())) {
    words->emplace_back(word);
  }
}

// Joins an annotation to those of the same path.
void AddTo(const Annotation& annotation, absl::string_view path, Annotated* all) {
  if (all->path.empty()) all->path = std::string(path);
  for (const std::string& line : annotation.copyrights) AddCopyrightLine(line, &all->copyrights);
  if (annotation.licenses.empty()) return;
  const bool understood_before = !all->says_license || all->license.has_value();
  all->says_license = true;
  std::vector<SpdxExpression> parts;
  if (all->license.has_value()) parts.push_back(*all->license);
  bool understood = understood_before;
  for (const std::string& text : annotation.licenses) {
    absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(text);
    all->evidence.push_back(
        MakeEvidence("annotation", expression.ok() ? expression->ToString() : "", text,
                     expression.ok() ? 1 : 0, {annotation.line, annotation.line}));
    understood = understood && expression.ok();
    if (expression.ok()) parts.push_back(*std::move(expression));
  }
  SetPath(path, &all->evidence);
  all->license.reset();
  if (understood) all->license = SpdxExpression::All(std::move(parts));
}

// If several annotations of a file name the path, the last one counts, as REUSE demands.
const Annotation* LastThatNames(const std::vector<Annotation>& annotations,
                                absl::string_view path) {
  for (auto it = annotations.rbegin(); it != annotations.rend(); ++it) {
    for (const std::string& glob : it->globs) {
      if (GlobMatches(glob, path, it->star_spans_folders)) return &*it;
    }
  }
  return nullptr;
}

// Returns the folders from the root to the file's.
std::vector<absl::string_view> FoldersAbove(absl::string_view path) {
  std::vector<absl::string_view> folders = {""};
  for (size_t at = path.find('/'); at != absl::string_view::npos; at = path.find('/', at + 1)) {
    folders.push_back(path.substr(0, at));
  }
  return folders;
}

}  // namespace

std::vector<Annotation> ReadReuseToml(absl::string_view text) {
  return TomlReader(text.substr(0, kMaxAnnotationBytes)).Read();
}

// dep5 is the format of Debian's copyright files: paragraphs of "Field: value" lines. A line that
// begins with a blank continues the field before it, and a blank line ends a paragraph.
std::vector<Annotation> ReadDep5(absl::string_view text) {
  std::vector<Annotation> annotations;
  Annotation current;
  std::string field;
  size_t glob_bytes = 0;
  int line_number = 0;
  const auto finish = [&] {
    if (!current.globs.empty() && annotations.size() < kMaxAnnotations) {
      annotations.push_back(std::move(current));
    }
    current = Annotation();
    field.clear();
  };
  for (absl::string_view line : absl::StrSplit(text.substr(0, kMaxAnnotationBytes), '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) {
      finish();
      continue;
    }
    if (line[0] == '#') continue;
    absl::string_view value = line;
    const bool continues = line[0] == ' ' || line[0] == '\t';
    if (!continues) {
      const size_t colon = std::min(line.find(':'), line.size());
      field = absl::AsciiStrToLower(line.substr(0, colon));
      value = colon < line.size() ? line.substr(colon + 1) : absl::string_view();
    }
    value = absl::StripAsciiWhitespace(value);
    if (field == "files") {
      if (!continues) current.line = line_number;
      glob_bytes += value.size();
      if (glob_bytes <= kMaxGlobBytes) AddWords(value, &current.globs);
    } else if (field == "copyright" && !value.empty()) {
      current.copyrights.emplace_back(value);
    } else if (field == "license" && !continues) {
      current.licenses.emplace_back(value);
    }
    current.precedence = Precedence::kAggregate;
    current.star_spans_folders = true;
  }
  finish();
  return annotations;
}

// Follows all steps of the glob at once, without backtracking: O(glob x path).
bool GlobMatches(absl::string_view glob, absl::string_view path, bool star_spans_folders) {
  if (path.size() > kMaxAnnotatedPathBytes) return false;
  // The literal text before the first wildcard must match as it is, which rules out most globs.
  const size_t literal = std::min(glob.find_first_of("*?\\"), glob.size());
  if (path.substr(0, literal) != glob.substr(0, literal)) return false;
  enum class Kind { kChar, kAny, kRun, kLongRun };
  struct Step {
    Kind kind;
    char c;
  };
  std::vector<Step> steps;
  for (size_t i = literal; i < glob.size(); ++i) {
    const bool two = glob.substr(i, 2) == "**";
    if (glob[i] == '\\' && i + 1 < glob.size()) {
      steps.push_back({Kind::kChar, glob[++i]});
    } else if (glob[i] == '*') {
      steps.push_back({two || star_spans_folders ? Kind::kLongRun : Kind::kRun, 0});
      if (two) ++i;
    } else if (glob[i] == '?' && star_spans_folders) {
      steps.push_back({Kind::kAny, 0});
    } else {
      steps.push_back({Kind::kChar, glob[i]});
    }
  }
  // The glob's steps that can have been reached after the bytes so far. All are followed at once,
  // so that no glob takes exponential time.
  std::vector<bool> at(steps.size() + 1);
  const auto pass_runs = [&] {
    for (size_t i = 0; i < steps.size(); ++i) {
      const bool run = steps[i].kind == Kind::kRun || steps[i].kind == Kind::kLongRun;
      if (at[i] && run) at[i + 1] = true;
    }
  };
  at[0] = true;
  pass_runs();
  for (const char c : path.substr(literal)) {
    std::vector<bool> next(steps.size() + 1);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (!at[i]) continue;
      const Kind kind = steps[i].kind;
      if (kind == Kind::kAny || (kind == Kind::kChar && steps[i].c == c)) next[i + 1] = true;
      if (kind == Kind::kLongRun || (kind == Kind::kRun && c != '/')) next[i] = true;
    }
    at = std::move(next);
    pass_runs();
  }
  return at.back();
}

Annotations::Annotations(const v1::SourceTree& tree) {
  for (const v1::SourceFile& file : tree.license_files()) {
    if (source_files::GetKind(file.path()) != source_files::Kind::kAnnotations) continue;
    const bool dep5 = BaseName(file.path()) == "dep5";
    std::vector<Annotation> read = dep5 ? ReadDep5(file.content()) : ReadReuseToml(file.content());
    files_.emplace(std::string(source_files::FolderItIsAbout(file.path())),
                   File{file.path(), std::move(read)});
  }
}

// Walks from the root to the file's folder. Inner annotations replace outer ones, aggregates add
// up, and an override ends the walk.
Annotations::Answer Annotations::Of(absl::string_view path) const {
  Answer answer;
  if (files_.empty() || path.size() > kMaxAnnotatedPathBytes) return answer;
  for (const absl::string_view folder : FoldersAbove(path)) {
    const auto [first, last] = files_.equal_range(std::string(folder));
    absl::string_view inner = path;
    if (!folder.empty()) inner.remove_prefix(folder.size() + 1);
    for (auto file = first; file != last; ++file) {
      const Annotation* annotation = LastThatNames(file->second.annotations, inner);
      if (annotation == nullptr) continue;
      std::optional<Annotated>* slot = &answer.otherwise;
      if (annotation->precedence == Precedence::kAggregate) slot = &answer.besides;
      if (annotation->precedence == Precedence::kOverride) slot = &answer.instead;
      if (annotation->precedence != Precedence::kAggregate || !slot->has_value()) slot->emplace();
      AddTo(*annotation, file->second.path, &**slot);
      if (annotation->precedence == Precedence::kOverride) return answer;
    }
  }
  return answer;
}

}  // namespace kernelmill::validator
