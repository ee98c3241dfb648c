#include "common/documents/markup.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/utf8.h"
#include "common/code/line_index.h"
#include "common/documents/prose_context.h"

namespace kernelmill::documents {
namespace {

constexpr absl::string_view kBlanks = " \t";

// A line of reStructuredText.
struct Line {
  size_t begin;
  size_t end;
  size_t column;              // bytes of indentation
  absl::string_view content;  // without white space around it
};

Line LineFrom(absl::string_view text, size_t begin) {
  const size_t end = AfterLine(text, begin);
  const absl::string_view line = text.substr(begin, end - begin);
  const absl::string_view content = absl::StripAsciiWhitespace(line);
  const size_t column = std::min(line.find_first_not_of(kBlanks), line.size());
  return {begin, end, column, content};
}

// Returns the offset after the lines from `at` on that are empty or indented further than `column`.
size_t AfterIndented(absl::string_view text, size_t at, size_t column) {
  size_t end = at;
  while (at < text.size()) {
    const Line line = LineFrom(text, at);
    if (!line.content.empty() && line.column <= column) break;
    at = line.end;
    if (!line.content.empty()) end = at;
  }
  return end;
}

// Returns the language of a directive with code; kOther for any other line.
BlockLanguage DirectiveLanguage(absl::string_view content) {
  if (!absl::ConsumePrefix(&content, ".. ")) return BlockLanguage::kOther;
  const size_t colons = content.find("::");
  if (colons == absl::string_view::npos) return BlockLanguage::kOther;
  const absl::string_view name = absl::StripAsciiWhitespace(content.substr(0, colons));
  if (name == "testcode" || name == "doctest" || name == "jupyter-execute") {
    return BlockLanguage::kPython;
  }
  if (name == "parsed-literal") return BlockLanguage::kUnnamed;
  if (!IsOneOf(name, {"code-block", "code", "sourcecode", "code-tab", "ipython"})) {
    return BlockLanguage::kOther;
  }
  return ReadLanguage(content.substr(colons + 2));
}

// Returns the offset after a directive's options and the empty lines below them.
size_t AfterDirectiveOptions(absl::string_view text, size_t begin, size_t end) {
  while (begin < end) {
    const Line line = LineFrom(text, begin);
    if (!line.content.empty() && line.content[0] != ':') break;
    begin = line.end;
  }
  return begin;
}

// Returns the offset after a doctest, which an empty line ends.
size_t AfterDoctest(absl::string_view text, size_t at) {
  while (at < text.size()) {
    const Line line = LineFrom(text, at);
    if (line.content.empty()) break;
    at = line.end;
  }
  return at;
}

// Returns the block that a line announces or begins; one without lines for any other line.
IndentedBlock BlockFrom(absl::string_view text, const Line& line) {
  const BlockLanguage language = DirectiveLanguage(line.content);
  if (language != BlockLanguage::kOther) {
    const size_t end = AfterIndented(text, line.end, line.column);
    const size_t begin = AfterDirectiveOptions(text, line.end, end);
    return {{line.begin, begin, end, end, language}, "directive"};
  }
  if (absl::StartsWith(line.content, ">>> ")) {
    const size_t end = AfterDoctest(text, line.begin);
    return {{line.begin, line.begin, end, end, BlockLanguage::kPython}, "doctest"};
  }
  if (absl::EndsWith(line.content, "::") && !absl::StartsWith(line.content, ".. ")) {
    const size_t end = AfterIndented(text, line.end, line.column);
    return {{line.begin, line.end, end, end, BlockLanguage::kUnnamed}, "literal"};
  }
  return {{line.begin, line.end, line.end, line.end, BlockLanguage::kOther}, ""};
}

// A tag of HTML: its name in lower case, and all that it has in its brackets.
struct Tag {
  size_t end;        // after the bracket
  std::string name;  // "/pre" of a closing one; empty if this is no tag
  absl::string_view attributes;
};

// Reads the tag that begins at `at`, where text[at] is '<'. A bracket that is not closed soon is
// text.
Tag TagAt(absl::string_view html, size_t at) {
  constexpr size_t kLongest = 4096;
  if (absl::StartsWith(html.substr(at), "<!--")) {
    const size_t end = html.find("-->", at);
    return {end == absl::string_view::npos ? html.size() : end + 3, "!--", ""};
  }
  const bool closes = html.substr(at + 1, 1) == "/";
  const size_t name = at + (closes ? 2 : 1);
  size_t name_end = name;
  while (name_end < html.size() && absl::ascii_isalnum(html[name_end])) ++name_end;
  const size_t end = html.substr(0, at + kLongest).find('>', at);
  const bool is_tag = end != absl::string_view::npos && end >= name_end && name_end > name &&
                      absl::ascii_isalpha(html[name]);
  if (!is_tag) return {at + 1, "", ""};
  return {end + 1, absl::AsciiStrToLower(html.substr(at + 1, name_end - at - 1)),
          html.substr(name_end, end - name_end)};
}

// Returns whether a tag may be in a <pre>. Code that was not escaped has others: #include <cuda.h>.
bool IsTagOfPre(absl::string_view name) {
  constexpr absl::string_view kNames[] = {
      "a",  "b", "br",  "button", "code", "del",  "div",    "em", "font", "i", "ins", "kbd", "mark",
      "ol", "p", "pre", "s",      "samp", "span", "strong", "td", "tt",   "u", "var", "li",  "!--"};
  absl::ConsumePrefix(&name, "/");
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Returns the value of the attribute `class`.
absl::string_view GetClasses(absl::string_view attributes) {
  const size_t at = attributes.find("class=");
  if (at == absl::string_view::npos) return "";
  absl::string_view value = attributes.substr(at + 6);
  if (value.empty()) return "";
  const char quote = value[0];
  if (quote != '"' && quote != '\'') return value.substr(0, value.find_first_of(" \t\r\n"));
  value.remove_prefix(1);
  return value.substr(0, value.find(quote));
}

// Finds the language that one of the classes names, with or without a prefix.
BlockLanguage FindLanguage(absl::string_view classes) {
  BlockLanguage language = BlockLanguage::kUnnamed;
  for (absl::string_view word : absl::StrSplit(classes, ' ', absl::SkipEmpty())) {
    const bool named =
        absl::ConsumePrefix(&word, "language-") || absl::ConsumePrefix(&word, "lang-") ||
        absl::ConsumePrefix(&word, "highlight-source-") ||
        absl::ConsumePrefix(&word, "highlight-") || absl::ConsumePrefix(&word, "hl-");
    const BlockLanguage said = ReadLanguage(word);
    if (said == BlockLanguage::kPython || said == BlockLanguage::kCuda) return said;
    const bool open = word == "default" || word == "none" || word == "text" || word == "plaintext";
    if (named && !open) language = BlockLanguage::kOther;
  }
  return language;
}

// Appends a code point as UTF-8. A line end becomes a blank, so that lines stay.
void AppendCodePoint(uint32_t code, std::string* text) {
  if (code == '\n' || code == '\r' || code == 0 || code > 0x10ffff ||
      (code >= 0xd800 && code < 0xe000)) {
    text->push_back(' ');
  } else {
    AppendUtf8(code, text);
  }
}

// Appends the character that the entity at `at` stands for. Returns the offset after it; an unknown
// one is copied as text.
size_t AppendEntity(absl::string_view html, size_t at, std::string* text) {
  constexpr size_t kLongest = 12;
  constexpr std::pair<absl::string_view, char> kNames[] = {
      {"lt", '<'},    {"gt", '>'},   {"amp", '&'},    {"quot", '"'},
      {"apos", '\''}, {"nbsp", ' '}, {"lbrace", '{'}, {"rbrace", '}'},
      {"ast", '*'},   {"num", '#'},  {"lowbar", '_'}, {"grave", '`'}};
  const size_t end = html.substr(0, at + kLongest).find(';', at);
  if (end != absl::string_view::npos) {
    absl::string_view name = html.substr(at + 1, end - at - 1);
    for (const auto& [known, character] : kNames) {
      if (name == known) {
        text->push_back(character);
        return end + 1;
      }
    }
    uint32_t code = 0;
    const bool numeric = absl::ConsumePrefix(&name, "#");
    const bool hex =
        numeric && (absl::ConsumePrefix(&name, "x") || absl::ConsumePrefix(&name, "X"));
    if (numeric && (hex ? absl::SimpleHexAtoi(name, &code) : absl::SimpleAtoi(name, &code))) {
      AppendCodePoint(code == 0xa0 ? ' ' : code, text);
      return end + 1;
    }
  }
  text->push_back('&');
  return at + 1;
}

bool IsHeadingTag(absl::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
}

// A reader of one HTML file, tag by tag. `shown_` collects the text of the element that is open: a
// heading, a paragraph or a <pre>.
class HtmlReader {
 public:
  explicit HtmlReader(absl::string_view html) : html_(html) {}

  HtmlCode Read() {
    for (size_t at = 0; at < html_.size();) {
      const char c = html_[at];
      if (c == '<') {
        const Tag tag = TagAt(html_, at);
        if (tag.name.empty() || (open_ == Open::kPre && !IsTagOfPre(tag.name))) {
          AddText('<');
        } else {
          ReadTag(tag);
          // Line ends within tags count too.
          for (size_t i = at; i < tag.end; ++i) AddLineEnd(html_[i]);
          at = tag.end - 1;
        }
        ++at;
      } else if (c == '&') {
        std::string character;
        at = AppendEntity(html_, at, &character);
        for (const char part : character) AddText(part);
      } else {
        if (c == '\n' || c == '\r') {
          AddLineEnd(c);
          if (open_ != Open::kPre) shown_.push_back(' ');
        } else {
          AddText(c);
        }
        ++at;
      }
    }
    EndPre();
    return std::move(code_);
  }

 private:
  enum class Open : uint8_t { kNothing, kHeading, kParagraph, kPre };

  void AddText(char c) {
    if (open_ == Open::kPre) {
      if (keeps_) code_.text.push_back(c);
    } else if (open_ != Open::kNothing && shown_.size() < ProseContext::kMaxParagraph) {
      shown_.push_back(c);
    }
  }

  void AddLineEnd(char c) {
    if (c != '\n' && c != '\r') return;
    code_.text.push_back(c);
    line_is_used_ = false;
  }

  void ReadTag(const Tag& tag) {
    if (open_ == Open::kPre) {
      if (tag.name == "/pre") {
        EndPre();
      } else if (tag.name == "code") {
        Name(GetClasses(tag.attributes));
      }
      return;
    }
    if (tag.name == "pre") return BeginPre(tag);
    // Classes of elements right around a block name its language.
    around_ = tag.name == "div" || tag.name == "figure" || tag.name == "td"
                  ? std::string(GetClasses(tag.attributes)) + " " + around_.substr(0, kMaxAround)
                  : "";
    if (IsHeadingTag(tag.name) || tag.name == "p") {
      open_ = tag.name == "p" ? Open::kParagraph : Open::kHeading;
      shown_.clear();
    } else if (open_ == Open::kHeading && tag.name[0] == '/' && IsHeadingTag(tag.name.substr(1))) {
      heading_ = Collapse(shown_, ProseContext::kMaxHeading);
      paragraph_.clear();
      open_ = Open::kNothing;
    } else if (open_ == Open::kParagraph && tag.name == "/p") {
      paragraph_ = Collapse(shown_, ProseContext::kMaxParagraph);
      open_ = Open::kNothing;
    }
  }

  void BeginPre(const Tag& tag) {
    // HTML does not ask for a </p>.
    if (open_ == Open::kParagraph) paragraph_ = Collapse(shown_, ProseContext::kMaxParagraph);
    open_ = Open::kPre;
    keeps_ = !line_is_used_;
    line_is_used_ = true;
    code_.blocks.push_back(
        {code_.text.size(), code_.text.size(), BlockLanguage::kUnnamed, heading_, paragraph_});
    Name(around_);
    Name(GetClasses(tag.attributes));
  }

  // The innermost element that names a language decides.
  void Name(absl::string_view classes) {
    const BlockLanguage said = FindLanguage(classes);
    if (said != BlockLanguage::kUnnamed) code_.blocks.back().language = said;
  }

  // The rest of the line on which the block ends is no code. A block of line numbers is left out:
  // the code may be in another <pre> that begins on their last line.
  void EndPre() {
    if (open_ != Open::kPre) return;
    open_ = Open::kNothing;
    shown_.clear();
    around_.clear();
    PreBlock& block = code_.blocks.back();
    if (!keeps_) {
      code_.blocks.pop_back();
    } else if (HoldsNumbersAlone(block)) {
      Blank(block.begin, code_.text.size(), code_.text);
      line_is_used_ = false;
      paragraph_ = block.paragraph;
      code_.blocks.pop_back();
      keeps_ = false;
      return;
    } else {
      block.end = code_.text.size();
    }
    paragraph_.clear();
    line_is_used_ = true;
    keeps_ = false;
  }

  bool HoldsNumbersAlone(const PreBlock& block) const {
    const absl::string_view text = absl::string_view(code_.text).substr(block.begin);
    return text.find_first_not_of("0123456789 \t\r\n") == absl::string_view::npos;
  }

  static constexpr size_t kMaxAround = 256;

  const absl::string_view html_;
  HtmlCode code_;
  Open open_ = Open::kNothing;
  bool keeps_ = false;         // the open <pre> goes into the text
  bool line_is_used_ = false;  // a block has text on this line, or may have
  std::string shown_;
  std::string heading_;
  std::string paragraph_;
  std::string around_;
};

}  // namespace

std::vector<IndentedBlock> FindIndentedBlocks(absl::string_view text) {
  std::vector<IndentedBlock> blocks;
  for (size_t at = 0; at < text.size();) {
    const IndentedBlock block = BlockFrom(text, LineFrom(text, at));
    if (block.place.begin < block.place.end) blocks.push_back(block);
    at = std::max(block.place.fence_end, AfterLine(text, at));
  }
  return blocks;
}

HtmlCode ReadHtml(absl::string_view html) { return HtmlReader(html).Read(); }

}  // namespace kernelmill::documents
