#include "services/validator/core/license/tree/aggregate.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/spdx/text/words.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kMaxParts = 64;
constexpr size_t kMaxPaths = 256;
constexpr size_t kMaxTitle = 300;
constexpr size_t kMaxTitleLines = 8;
constexpr size_t kMinRule = 4;  // characters of a line that is nothing but a rule
constexpr absl::string_view kRuleMarks = "-=*#_~+ \t\r";

// Words, as spdx::SentenceWords leaves them, of sentences that lead to others' licences.
constexpr const char* kSentences[] = {
    "also contains code from",
    "also includes code from",
    "contains code derived from",
    "incorporates code from",
    "code is derived from",
    "code are derived from",
    "adapted from other open source",
    "adapted from other projects",
    "derived from other projects",
    "derived from others projects",
    "bundles some third party",
    "bundles third party",
    "bundles several",
    "bundle several",
    "includes third party",
    "contains third party",
    "includes the following third party",
    "contains the following third party",
    "the following third party",
    "third party components",
    "third party software is",
    "third party code is",
    "contains subcomponents with separate copyright notices",
    "includes a number of subcomponents",
    "includes a number of components with separate copyright notices",
    "licenses used in those files",
    "licenses of bundled",
    "licenses for bundled",
};

// How a heading begins that names whose licence follows.
constexpr const char* kHeadings[] = {
    "license for",           "licenses for",
    "license notice for",    "license of the third",
    "third party license",   "third party notice",
    "third party software",  "third party code",
    "third party libraries", "3rd party",
    "notices for",           "bundled",
    "licenses of third",     "open source software",
    "subcomponents",
};

struct Line {
  absl::string_view text;
  size_t at = 0;  // in the whole text
};

std::vector<Line> LinesOf(absl::string_view text) {
  std::vector<Line> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    lines.push_back({line, static_cast<size_t>(line.data() - text.data())});
  }
  return lines;
}

absl::string_view WithoutMarks(absl::string_view line) {
  const size_t begin = line.find_first_not_of(kRuleMarks);
  if (begin == absl::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kRuleMarks) + 1 - begin);
}

bool IsBlank(absl::string_view line) { return absl::StripAsciiWhitespace(line).empty(); }

// "--------------------"
bool IsRule(absl::string_view line) {
  return WithoutMarks(line).empty() && absl::StripAsciiWhitespace(line).size() >= kMinRule;
}

// "---- LICENSE FOR X ----", but not "- a bullet".
bool HasRules(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const size_t marks = std::min(line.find_first_not_of(kRuleMarks), line.size());
  return marks >= kMinRule || absl::StartsWith(line, "--") || absl::StartsWith(line, "##");
}

bool BeginsHeading(absl::string_view line) {
  const std::string words = spdx::NormalizeWords(line.substr(0, kMaxTitle));
  return absl::c_any_of(kHeadings, [&](absl::string_view heading) {
    return absl::StartsWith(absl::string_view(words).substr(1), heading);
  });
}

class Splitter {
 public:
  Splitter(absl::string_view text, absl::string_view rest)
      : text_(text), lines_(LinesOf(text)), rest_(rest), rest_lines_(LinesOf(rest)) {}

  std::optional<Aggregate> Split() {
    FindHeading();
    FindSentence();
    if (line_ >= lines_.size()) return std::nullopt;
    const absl::string_view main = text_.substr(0, lines_[line_].at);
    if (WithoutMarks(absl::StripAsciiWhitespace(main)).empty()) return std::nullopt;
    Aggregate aggregate;
    aggregate.main_bytes = main.size();
    aggregate.line = static_cast<int>(line_) + 1;
    aggregate.sign = sign_;
    ReadParts(&aggregate.parts);
    return aggregate;
  }

 private:
  // Whether a rule stands beside line `at`, or it has one of its own.
  bool IsSetOff(size_t at) const {
    return HasRules(lines_[at].text) || (at > 0 && IsRule(lines_[at - 1].text)) ||
           (at + 1 < lines_.size() && IsRule(lines_[at + 1].text));
  }

  void FindHeading() {
    for (size_t i = 0; i < rest_lines_.size() && i < lines_.size(); ++i) {
      const absl::string_view words = WithoutMarks(rest_lines_[i].text);
      if (words.empty() || !BeginsHeading(words) || !IsSetOff(i)) continue;
      line_ = i;
      sign_ = std::string(words.substr(0, kMaxTitle));
      return;
    }
  }

  void FindSentence() {
    std::vector<int> word_lines;
    const std::vector<std::string> words = spdx::SentenceWords(rest_, &word_lines);
    size_t sentence = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == ".") {
        sentence = i + 1;
        continue;
      }
      if (static_cast<size_t>(word_lines[sentence]) > line_) return;
      const auto stands_here = [&](absl::string_view phrase) { return StandsAt(words, i, phrase); };
      const auto found = absl::c_find_if(kSentences, stands_here);
      if (found == std::end(kSentences)) continue;
      line_ = static_cast<size_t>(word_lines[sentence]) - 1;
      sign_ = *found;
      return;
    }
  }

  static bool StandsAt(const std::vector<std::string>& words, size_t at, absl::string_view phrase) {
    for (const absl::string_view word : absl::StrSplit(phrase, ' ')) {
      if (at >= words.size() || words[at++] != word) return false;
    }
    return true;
  }

  // A part begins with a heading: "LICENSE FOR X", or a line with a rule under it.
  bool IsPartHeading(size_t at) const {
    const absl::string_view words = WithoutMarks(lines_[at].text);
    if (words.empty()) return false;
    if (BeginsHeading(words) && IsSetOff(at)) return true;
    return at + 1 < lines_.size() && IsRule(lines_[at + 1].text) &&
           (at == 0 || IsBlank(lines_[at - 1].text) || IsRule(lines_[at - 1].text)) &&
           words.size() < 80;
  }

  void ReadParts(std::vector<AggregatePart>* parts) const {
    size_t begin = line_;
    while (begin < lines_.size() && !IsPartHeading(begin)) ++begin;
    // What stands before the first heading has no title.
    if (begin > line_) {
      AggregatePart part;
      ReadText(line_, begin, &part);
      parts->push_back(std::move(part));
    }
    while (begin < lines_.size() && parts->size() < kMaxParts) {
      size_t end = begin + 1;
      while (end < lines_.size() && !IsPartHeading(end)) ++end;
      parts->push_back(ReadPart(begin, end));
      begin = end;
    }
  }

  // The heading goes on up to a blank line: "LICENSE FOR / Facebook, Inc. and its affiliates, /
  // ...".
  AggregatePart ReadPart(size_t begin, size_t end) const {
    AggregatePart part;
    size_t at = begin;
    for (; at < end && at < begin + kMaxTitleLines && !IsBlank(lines_[at].text); ++at) {
      const absl::string_view words = WithoutMarks(lines_[at].text);
      if (words.empty() && at > begin) break;
      absl::StrAppend(&part.title, part.title.empty() ? "" : " ", words.substr(0, kMaxTitle));
    }
    part.title.resize(std::min(part.title.size(), kMaxTitle));
    ReadText(at, end, &part);
    return part;
  }

  void ReadText(size_t begin, size_t end, AggregatePart* part) const {
    const auto offset = [&](size_t line) {
      return line < lines_.size() ? lines_[line].at : text_.size();
    };
    part->text = text_.substr(offset(begin), offset(end) - offset(begin));
    for (size_t i = begin; i < end && part->paths.size() < kMaxPaths; ++i) {
      AddPath(lines_[i].text, part);
    }
  }

  // "3rdparty/spdlog", "csrc/a.cuh (from X)": one word with a slash, which is no address.
  static void AddPath(absl::string_view line, AggregatePart* part) {
    line = absl::StripAsciiWhitespace(line);
    const size_t begin = line.find_first_not_of("-*` ");
    if (begin == absl::string_view::npos) return;
    line.remove_prefix(begin);
    const size_t end = std::min(line.find_first_of(" \t`"), line.size());
    const absl::string_view rest = absl::StripAsciiWhitespace(line.substr(end));
    const bool alone = rest.empty() || rest[0] == '(' || rest[0] == '`';
    absl::string_view path = line.substr(0, end);
    while (absl::EndsWith(path, "/") || absl::EndsWith(path, "*")) path.remove_suffix(1);
    if (!alone || !absl::StrContains(path, '/') || absl::StrContains(path, "://")) return;
    part->paths.emplace_back(path);
  }

  const absl::string_view text_;
  const std::vector<Line> lines_;
  const absl::string_view rest_;
  const std::vector<Line> rest_lines_;
  size_t line_ = static_cast<size_t>(-1);  // of the first sign
  std::string sign_;
};

}  // namespace

std::optional<Aggregate> SplitAggregate(absl::string_view text, absl::string_view rest) {
  return Splitter(text, rest).Split();
}

}  // namespace kernelmill::validator
