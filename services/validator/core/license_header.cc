#include "services/validator/core/license_header.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/validator/core/lexer.h"
#include "services/validator/core/license_text.h"
#include "common/spdx/words.h"

namespace kernelmill::validator {
namespace {

constexpr size_t kHeadBytes = 64 << 10;
constexpr int kHeadLines = 100;
constexpr size_t kMaxTags = 64;
constexpr char kTag[] = "spdx-license-identifier:";

absl::string_view Head(absl::string_view content) {
  content = content.substr(0, kHeadBytes);
  size_t at = 0;
  for (int line = 0; line < kHeadLines; ++line) {
    const size_t end = content.find('\n', at);
    if (end == absl::string_view::npos) return content;
    at = end + 1;
  }
  return content.substr(0, at);
}

bool IsCLike(absl::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == absl::string_view::npos) return false;
  const std::string extension = absl::AsciiStrToLower(path.substr(dot + 1));
  for (const absl::string_view known :
       {"c", "cc", "cl", "cpp", "cu", "cuh", "cxx", "h", "hh", "hip", "hpp", "inc", "js", "rs"}) {
    if (extension == known) return true;
  }
  return false;
}

// Comments, one after the other, and Python's docstring: the string that stands before all code.
std::string CommentText(absl::string_view path, absl::string_view head) {
  absl::ConsumePrefix(&head, "\xef\xbb\xbf");
  const bool c_like = IsCLike(path);
  std::string text;
  bool before_code = true;
  for (const Token& token : c_like ? LexC(head) : LexPython(head)) {
    if (token.kind == Token::kComment) {
      absl::StrAppend(&text, token.text, "\n");
    } else if (before_code && !c_like && token.kind == Token::kString) {
      absl::StrAppend(&text, StringContent(token.text), "\n\n");
      before_code = false;
    } else {
      before_code = false;
    }
  }
  return text;
}

// Takes the marks that open, close or continue a comment off both ends.
absl::string_view StripMarks(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  for (const absl::string_view mark : {"*/", "-->", "#}", "\"\"\"", "'''"}) {
    if (absl::ConsumeSuffix(&line, mark)) line = absl::StripAsciiWhitespace(line);
  }
  while (!line.empty() && absl::StrContains("#/*<!-;%{", line[0])) line.remove_prefix(1);
  return absl::StripAsciiWhitespace(line);
}

// A tag after other words, as in "kernel of X (SPDX-License-Identifier: MIT, (c) Y)": as much of it
// as looks like an expression.
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

// The value of the tag on this line; a tag in quotes is an example, not a tag. `whole`: it is all
// that follows.
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

// A tag that stands within a sentence speaks of portions of the file.
void ReadTags(const std::vector<absl::string_view>& lines, HeaderFindings* findings) {
  bool valid = true;
  size_t count = 0;
  for (const absl::string_view line : lines) {
    absl::string_view value;
    bool whole = false;
    if (!FindTag(line, &value, &whole)) continue;
    absl::StatusOr<SpdxExpression> expression = SpdxExpression::Parse(value);
    if (!expression.ok() || ++count > kMaxTags) {
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

// "License: MIT" and titles such as "BSD 3-Clause License" on a line of their own.
void ReadLine(absl::string_view line, Notice* notice) {
  if (line.empty() || line.size() > 200) return;
  const std::string lower = absl::AsciiStrToLower(line);
  absl::string_view rest = line;
  for (const absl::string_view label : {"@license", "license:", "licence:"}) {
    if (absl::StartsWith(lower, label)) {
      rest = absl::StripAsciiWhitespace(line.substr(label.size()));
    }
  }
  // "License: MIT from triton-lang/kernels" says no more than its beginning.
  if (rest.size() < line.size()) {
    const size_t from = absl::AsciiStrToLower(rest).find(" from ");
    if (from != std::string::npos) rest = rest.substr(0, from);
  }
  const Notice named = ReadLicenseName(rest);
  Append(named.own, &notice->own);
}

}  // namespace

HeaderFindings ReadHeader(absl::string_view path, absl::string_view content) {
  HeaderFindings findings;
  const std::string text = CommentText(path, Head(content));
  std::vector<absl::string_view> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) lines.push_back(StripMarks(line));
  ReadTags(lines, &findings);
  if (findings.has_tags) return findings;

  std::string stripped;
  for (const absl::string_view line : lines) {
    absl::StrAppend(&stripped, line, "\n");
    ReadLine(line, &findings.notice);
  }
  Notice notice = ReadNotice(SentenceWords(stripped));
  Append(notice.own, &findings.notice.own);
  Append(notice.portions, &findings.notice.portions);
  findings.notice.families = std::move(notice.families);
  findings.notice.choice = notice.choice;
  TextMatches texts = MatchLicenseTexts(NormalizeWords(stripped));
  findings.texts = std::move(texts.licenses);
  findings.altered = texts.altered;
  return findings;
}

}  // namespace kernelmill::validator
