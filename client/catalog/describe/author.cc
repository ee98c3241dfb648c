#include "client/catalog/describe/author.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/text/safe_text.h"

namespace kernelmill::client {
namespace {

constexpr size_t kMaxHolders = 8;

// What __author__ is set to in a text, where that is a string.
std::string AuthorString(absl::string_view text) {
  if (!absl::StrContains(text, "__author__")) return "";
  const std::vector<code::Token> tokens = code::Lex(text, code::Language::kPython);
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].text == "__author__" && tokens[i + 1].text == "=" &&
        tokens[i + 2].kind == code::Token::kString) {
      return std::string(code::PythonStringContent(tokens[i + 2].text));
    }
  }
  return "";
}

// Takes a word of any case from the front.
bool ConsumeWord(absl::string_view word, absl::string_view* text) {
  if (!absl::StartsWithIgnoreCase(*text, word)) return false;
  text->remove_prefix(word.size());
  return true;
}

bool ConsumeYear(absl::string_view* text) {
  size_t digits = 0;
  while (digits < text->size() && absl::ascii_isdigit(static_cast<unsigned char>((*text)[digits])))
    ++digits;
  if (digits != 4 && digits != 2) return false;
  text->remove_prefix(digits);
  return true;
}

std::string Owner(const std::string& url) {
  if (WebUrl(url).empty()) return "";
  const std::vector<absl::string_view> parts = absl::StrSplit(url, '/');
  return parts.size() >= 5 ? std::string(parts[3]) : "";  // https: // HOST / OWNER / NAME
}

}  // namespace

std::string CopyrightHolder(absl::string_view line) {
  // What begins a line of a comment, and says no name.
  for (bool moved = true; moved;) {
    line = absl::StripLeadingAsciiWhitespace(line);
    moved = absl::ConsumePrefix(&line, "#") || absl::ConsumePrefix(&line, "*") ||
            absl::ConsumePrefix(&line, "/") || absl::ConsumePrefix(&line, ":") ||
            absl::ConsumePrefix(&line, ",") || absl::ConsumePrefix(&line, "-") ||
            absl::ConsumePrefix(&line, "\xe2\x80\x93") || absl::ConsumePrefix(&line, "\xc2\xa9") ||
            ConsumeWord("spdx-filecopyrighttext", &line) || ConsumeWord("copyright", &line) ||
            ConsumeWord("(c)", &line) || ConsumeWord("present,", &line) ||
            ConsumeWord("present ", &line) || ConsumeWord("by ", &line) || ConsumeYear(&line);
  }
  for (const absl::string_view end : {"all rights reserved", "licensed under", "email:", "<"}) {
    const auto at = std::search(
        line.begin(), line.end(), end.begin(), end.end(),
        [](char a, char b) { return absl::ascii_tolower(static_cast<unsigned char>(a)) == b; });
    line = line.substr(0, static_cast<size_t>(at - line.begin()));
  }
  while (!line.empty() && absl::StrContains(" .,;(*/", line.back())) line.remove_suffix(1);
  return std::string(line);
}

Author AuthorOf(const CatalogKernel& kernel) {
  for (const std::string* text : {&kernel.source, &kernel.module}) {
    const std::string author = AuthorString(*text);
    if (!author.empty()) return {author, "__author__"};
  }
  // A file's holder is often one of those that the licence names.
  std::vector<std::string> holders;
  for (const std::string& line : kernel.license.copyrights) {
    for (const std::string& holder :
         std::vector<std::string>(absl::StrSplit(CopyrightHolder(line), ", "))) {
      const bool known = std::find(holders.begin(), holders.end(), holder) != holders.end();
      if (!holder.empty() && !known && holders.size() < kMaxHolders) holders.push_back(holder);
    }
  }
  if (!holders.empty()) return {absl::StrJoin(holders, ", "), "copyright"};
  const std::string owner = Owner(kernel.repository_url);
  return owner.empty() ? Author() : Author{owner, "owner"};
}

}  // namespace kernelmill::client
