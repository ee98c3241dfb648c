// The head of a file may state its licence in four ways: an SPDX tag, a licence text, a notice in
// words, and a bare name in a line or in __license__. All of them are collected; finder.cc decides
// which count. With tags, names and variables are not read, since they usually repeat the tag less
// exactly.
#include "services/validator/core/license/words/header.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/text/terms.h"
#include "services/validator/core/license/text/text.h"
#include "services/validator/core/license/words/attribution.h"
#include "services/validator/core/license/words/comment_blocks.h"

namespace kernelmill::validator {
namespace {

using code::Language;
using code::Token;

// Only the head is read: statements further down are about parts of the file (origins.cc).
constexpr size_t kHeadBytes = 64 << 10;
constexpr int kCommentLines = 100;
constexpr size_t kMaxTags = 64;
constexpr double kNameScore = 0.95;
constexpr char kTag[] = "spdx-license-identifier:";

// Returns the first kCommentLines lines, at most kHeadBytes.
absl::string_view Head(absl::string_view content) {
  content = content.substr(0, kHeadBytes);
  size_t at = 0;
  for (int line = 0; line < kCommentLines; ++line) {
    const size_t end = content.find('\n', at);
    if (end == absl::string_view::npos) return content;
    at = end + 1;
  }
  return content.substr(0, at);
}

// Reads the comments of a head in order, and Python's docstring, which is the string before all
// code.
class HeadReader {
 public:
  HeadReader(absl::string_view path, absl::string_view head) : at_(head.data()) {
    absl::ConsumePrefix(&head, "\xef\xbb\xbf");
    const bool c_like = HasCComments(path);
    bool before_code = true;
    for (const Token& token : code::Lex(head, c_like ? Language::kC : Language::kPython)) {
      if (token.kind == Token::kComment) {
        if (!IsInterpreterLine(head, token.text)) Add(token.text, /*prose=*/!before_code);
        continue;
      }
      if (before_code && !c_like && token.kind == Token::kString) {
        lines_.push_back({"", line_});  // ends a paragraph
        Add(code::PythonStringContent(token.text), /*prose=*/true);
        lines_.push_back({"", line_});
      }
      before_code = false;
    }
  }

  const std::vector<CommentLine>& lines() const { return lines_; }

 private:
  // Returns whether the comment is the first line of a script: "#!/usr/bin/env python3".
  static bool IsInterpreterLine(absl::string_view head, absl::string_view comment) {
    return comment.data() == head.data() && absl::StartsWith(comment, "#!");
  }

  // Adds `text`, a part of the head behind those added before.
  void Add(absl::string_view text, bool prose) {
    line_ += static_cast<int>(std::count(at_, text.data(), '\n'));
    at_ = text.data();
    int number = line_;
    // Code between two comments ends a paragraph.
    if (!lines_.empty() && lines_.back().number + 1 < line_) lines_.push_back({"", line_});
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      lines_.push_back({StripCommentMarks(line), number++, prose});
    }
  }

  const char* at_;
  int line_ = 1;  // the line of at_
  std::vector<CommentLine> lines_;
};

// Returns the beginning of a tag's value that looks like an expression. A tag may be within a
// sentence: "kernel of X (SPDX-License-Identifier: MIT, (c) Y)".
absl::string_view ExpressionPrefix(absl::string_view value) {
  size_t end = 0;
  int open = 0;
  while (end < value.size()) {
    const char c = value[end];
    if (!absl::ascii_isalnum(c) && !absl::StrContains("+-.: ()", c)) break;
    if (c == '(') ++open;
    if (c == ')' && --open < 0) break;
    ++end;
  }
  return absl::StripAsciiWhitespace(value.substr(0, end));
}

// Finds the tag on this line. A tag in quotes is an example. `whole`: the value is everything that
// follows.
bool FindTag(absl::string_view line, absl::string_view* value, bool* whole) {
  const std::string lower = absl::AsciiStrToLower(line);
  const size_t at = lower.find(kTag);
  if (at == std::string::npos) return false;
  if (at > 0 && absl::StrContains("\"'`", line[at - 1])) return false;
  const absl::string_view rest = absl::StripAsciiWhitespace(line.substr(at + sizeof(kTag) - 1));
  *value = at == 0 ? rest : ExpressionPrefix(rest);
  *whole = value->size() == rest.size();
  return true;
}

// Parses an expression, or an unambiguous name of a licence, which some files have instead.
absl::StatusOr<SpdxExpression> ParseTag(absl::string_view value) {
  absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(value);
  const auto known = [](const spdx::LicenseTerm& term) {
    return spdx::IsKnownLicenseId(term.id) || absl::StartsWith(term.id, "LicenseRef-") ||
           absl::StartsWith(term.id, "DocumentRef-");
  };
  if (expression.ok() && absl::c_all_of(expression->Terms(), known)) return expression;
  Notice named = ReadLicenseName(value);
  if (named.own.size() == 1 && named.families.empty()) return std::move(named.own.front());
  return expression;
}

// Reads the tags. A tag within a sentence is about portions of the file.
void ReadTags(const std::vector<CommentLine>& lines, HeaderFindings* findings) {
  bool valid = true;
  size_t count = 0;
  for (const CommentLine& line : lines) {
    absl::string_view value;
    bool whole = false;
    if (!FindTag(line.text, &value, &whole)) continue;
    absl::StatusOr<SpdxExpression> expression = ParseTag(value);
    const bool understood = expression.ok() && ++count <= kMaxTags;
    if (count <= kMaxTags) {
      findings->evidence.push_back(MakeEvidence("tag", understood ? expression->ToString() : "",
                                                value, understood ? 1 : 0,
                                                {line.number, line.number}));
    }
    if (!understood) {
      valid = false;
    } else if (whole) {
      findings->tags.push_back(*std::move(expression));
    } else {
      findings->notice.portions.push_back(*std::move(expression));
    }
  }
  findings->has_tags = !valid || !findings->tags.empty();
  if (!valid) findings->tags.clear();
}

void Append(const std::vector<SpdxExpression>& from, std::vector<SpdxExpression>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

// Cuts off a remark: "Apache 2.0, see LICENSE for more", "MIT from triton-lang/kernels".
absl::string_view BeforeRemark(absl::string_view value) {
  const std::string lower = absl::AsciiStrToLower(value);
  return value.substr(0, std::min(lower.find(" from "), lower.find(", see ")));
}

// Returns the value behind a label such as "License:"; nothing without one.
std::optional<absl::string_view> LabelledLicense(absl::string_view line) {
  const std::string lower = absl::AsciiStrToLower(line);
  for (const absl::string_view label : {"@license", "license", "licence", ":license"}) {
    if (!absl::StartsWith(lower, label)) continue;
    absl::string_view value = absl::StripLeadingAsciiWhitespace(line.substr(label.size()));
    const bool colon = absl::ConsumePrefix(&value, ":");
    if (!colon && label[0] != '@') continue;
    return BeforeRemark(absl::StripAsciiWhitespace(value));
  }
  return std::nullopt;
}

// Reads a line such as "License: MIT" or a title such as "BSD 3-Clause License". The name of a
// family counts only behind a label.
void ReadLine(const CommentLine& line, HeaderFindings* findings) {
  if (line.text.empty() || line.text.size() > 200) return;
  const std::optional<absl::string_view> value = LabelledLicense(line.text);
  absl::string_view name = value.value_or(line.text);
  absl::ConsumeSuffix(&name, " licensed");  // "MIT licensed"
  Notice named = ReadLicenseName(name);
  if (value.has_value()) {
    for (std::string& family : named.families)
      findings->notice.families.push_back(std::move(family));
  }
  if (named.own.empty()) return;
  findings->evidence.push_back(MakeEvidence("name", SpdxExpression::All(named.own).ToString(),
                                            line.text, kNameScore, {line.number, line.number}));
  Append(named.own, &findings->notice.own);
}

// Reads Python's `__license__ = "Apache-2.0"`: an SPDX expression or a name.
void ReadVariable(absl::string_view head, HeaderFindings* findings) {
  constexpr absl::string_view kVariable = "__license__";
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(head, '\n')) {
    ++number;
    absl::string_view value = line;
    if (!absl::ConsumePrefix(&value, kVariable)) continue;
    value = absl::StripAsciiWhitespace(value);
    if (!absl::ConsumePrefix(&value, "=")) continue;
    value = absl::StripAsciiWhitespace(value);
    if (value.size() < 2 || !absl::StrContains("'\"", value[0])) continue;
    const size_t end = value.find(value[0], 1);
    if (end == absl::string_view::npos) continue;
    const absl::string_view text = absl::StripAsciiWhitespace(value.substr(1, end - 1));
    // "see LICENSE" says nothing more than that file.
    absl::StatusOr<SpdxExpression> expression = ParseTag(text);
    if (!expression.ok() && FindResidue(text, {}).empty()) continue;
    if (!expression.ok()) {
      findings->terms.emplace_back(text);
      findings->evidence.push_back(
          MakeEvidence("name", "", absl::StripAsciiWhitespace(line), 0, {number, number}));
      continue;
    }
    findings->evidence.push_back(MakeEvidence("name", expression->ToString(),
                                              absl::StripAsciiWhitespace(line), kNameScore,
                                              {number, number}));
    findings->notice.own.push_back(*std::move(expression));
  }
}

// Returns the comments with an empty line in place of each line that is only a tag.
std::string WithoutTags(absl::string_view comments) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(comments, '\n')) {
    absl::string_view value;
    bool whole = false;
    const bool tag = FindTag(line, &value, &whole) && whole;
    absl::StrAppend(&text, tag ? absl::string_view() : line, "\n");
  }
  return text;
}

// Returns a sentence without the words of licences' names that limit something.
std::string WithoutName(absl::string_view sentence) {
  return absl::StrReplaceAll(sentence, {{"Creative Commons", ""},
                                        {"Attribution-NonCommercial", "Attribution"},
                                        {"Attribution-Noncommercial", "Attribution"},
                                        {"Attribution-Non-Commercial", "Attribution"},
                                        {"Attribution NonCommercial", "Attribution"}});
}

// Reads the sentences about what may be done with the work that nothing else understood, and the
// files that they refer to. `number` gives the line in the file, `prose` whether it is
// CommentLine::prose.
template <typename Number, typename Prose>
void ReadTerms(const std::string& comments, const Number& number, const Prose& prose,
               HeaderFindings* findings) {
  std::vector<std::string> ids;
  for (const std::vector<SpdxExpression>* known :
       {&findings->tags, &findings->texts, &findings->notice.own, &findings->notice.portions}) {
    for (const SpdxExpression& license : *known) {
      for (const spdx::LicenseTerm& term : license.Terms()) ids.push_back(term.id);
    }
  }
  for (const ResidueUnit& unit : FindTermsInComments(comments, ids, prose)) {
    // The name of a licence amid a description of the code is understood already, and so is a
    // sentence that only says in which file the licence is.
    const Notice named = ReadNotice(spdx::SentenceWords(unit.text));
    const bool understood = !named.own.empty() || !named.portions.empty() ||
                            !named.families.empty() || named.root != RootFile::kNo ||
                            NamesLicenseFile(unit.text);
    if (understood && !LimitsLicense(WithoutName(unit.text), prose(unit.line))) continue;
    const int line = number(unit.line);
    findings->terms.push_back(unit.text);
    findings->names_unknown = findings->names_unknown || (!understood && NamesLicense(unit.text));
    findings->evidence.push_back(MakeEvidence("residue", "", unit.text, 0, {line, line}));
    if (!GetTrainingUse(unit.text).empty())
      findings->evidence.push_back(MakeEvidence("training", "", unit.text, 1, {line, line}));
  }
  for (const ResidueUnit& unit : FindOtherLicenseFiles(comments, ids)) {
    const bool named = unit.harmless && !ReadNotice(spdx::SentenceWords(unit.text)).own.empty();
    for (const std::string& name : unit.paths) findings->license_files.push_back({name, named});
  }
}

// Reads sentences and licence texts. `text` is all lines joined.
void ReadProse(const std::vector<CommentLine>& lines, const std::string& text,
               HeaderFindings* findings) {
  const auto number = [&](int line) {
    return line > 0 ? lines[static_cast<size_t>(line) - 1].number : 0;
  };
  TextMatches texts = MatchLicenseTexts(text);
  findings->texts = std::move(texts.licenses);
  findings->altered = texts.altered;
  for (v1::LicenseEvidence& evidence : texts.evidence) {
    evidence.set_first_line(number(evidence.first_line()));
    evidence.set_last_line(number(evidence.last_line()));
    findings->evidence.push_back(std::move(evidence));
  }
  std::vector<int> word_lines;
  const std::vector<std::string> words = spdx::SentenceWords(texts.rest, &word_lines);
  Notice notice = ReadNotice(words);
  if (notice.end > notice.begin) {
    findings->evidence.push_back(NoticeEvidence(notice, words, number(word_lines[notice.begin]),
                                                number(word_lines[notice.end - 1])));
  }
  Append(notice.own, &findings->notice.own);
  Append(notice.portions, &findings->notice.portions);
  for (std::string& family : notice.families)
    findings->notice.families.push_back(std::move(family));
  findings->notice.choice = notice.choice;
  findings->notice.root = notice.root;
  const auto prose = [&](int line) {
    return line > 0 && lines[static_cast<size_t>(line) - 1].prose;
  };
  ReadTerms(WithoutTags(texts.rest), number, prose, findings);
}

// `python`: the head of a Python file, whose variables may say something too.
HeaderFindings ReadLines(const std::vector<CommentLine>& lines, absl::string_view python) {
  HeaderFindings findings;
  std::string text;
  for (const CommentLine& line : lines) absl::StrAppend(&text, line.text, "\n");
  findings.copyrights = CopyrightLines(text);
  ReadTags(lines, &findings);
  if (!findings.has_tags) {
    for (const CommentLine& line : lines) ReadLine(line, &findings);
    ReadVariable(python, &findings);
  }
  ReadProse(lines, text, &findings);
  return findings;
}

}  // namespace

HeaderFindings ReadHeader(absl::string_view path, absl::string_view content) {
  const absl::string_view head = Head(content);
  return ReadLines(HeadReader(path, head).lines(), HasCComments(path) ? absl::string_view() : head);
}

HeaderFindings ReadTagFile(absl::string_view content) {
  std::vector<CommentLine> lines;
  for (const absl::string_view line : absl::StrSplit(Head(content), '\n')) {
    lines.push_back({StripCommentMarks(line), static_cast<int>(lines.size()) + 1});
  }
  return ReadLines(lines, {});
}

}  // namespace kernelmill::validator
