// A reader of the little Markdown that ReportPage writes. A row of a table is a line that begins
// with
// "| "; the line of dashes below the head of a table is left out.

#include "client/evaluate/terminal_page.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/console/format.h"

namespace kernelmill::client {
namespace {

using Row = std::vector<std::string>;

constexpr absl::string_view kGap = "  ";
constexpr absl::string_view kMarked = "**yes**";  // a difference that excludes zero
constexpr size_t kNarrowest = 8;                  // a column is not cut below

// Takes back what dataset::MarkdownCell did, except what is safe for terminals.
std::string Unescape(absl::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain.push_back(text[i]);
  }
  return absl::StrReplaceAll(
      plain, {{"&#58;", ":"}, {"&#46;", "."}, {"&#64;", "@"}, {"&lt;", "<"}, {"&amp;", "&"}});
}

// Splits "| a | b |" at bars that are not escaped.
Row SplitRow(absl::string_view line) {
  Row cells;
  std::string cell;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '|') {
      const absl::string_view text = absl::StripAsciiWhitespace(cell);
      cells.push_back(text == kMarked ? "yes" : Unescape(text));
      cell.clear();
      continue;
    }
    cell.push_back(line[i]);
    if (line[i] == '\\' && i + 1 < line.size()) cell.push_back(line[++i]);
  }
  return cells;
}

// Counts characters of UTF-8, as CutTo does.
size_t CountColumns(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Makes the widest column narrower until a row fits, or all columns are narrow.
void Fit(size_t width, std::vector<size_t>* columns) {
  while (true) {
    size_t sum = kGap.size() * (columns->size() - 1);
    for (const size_t column : *columns) sum += column;
    const auto widest = std::max_element(columns->begin(), columns->end());
    if (sum <= width || *widest <= kNarrowest) return;
    *widest -= std::min(sum - width, *widest - kNarrowest);
  }
}

// Cuts a text that is too long, and says so by dots.
std::string FitCell(const std::string& cell, size_t width) {
  if (CountColumns(cell) <= width) return cell;
  return CutTo(cell, static_cast<int>(width) - 3) + "...";
}

std::string TableText(const std::vector<Row>& rows, size_t width) {
  std::vector<size_t> columns;
  for (const Row& row : rows) {
    columns.resize(std::max(columns.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) columns[i] = std::max(columns[i], CountColumns(row[i]));
  }
  if (columns.empty()) return "";
  Fit(width, &columns);
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string cell = FitCell(row[i], columns[i]);
      absl::StrAppend(&line, i == 0 ? "" : kGap, cell,
                      std::string(columns[i] - CountColumns(cell), ' '));
    }
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return text;
}

// Breaks a paragraph between words. A longer word has a line of its own.
std::string ParagraphText(absl::string_view line, size_t width) {
  std::string text, part;
  for (const absl::string_view word : absl::StrSplit(line, ' ')) {
    if (!part.empty() && CountColumns(part) + 1 + CountColumns(word) > width) {
      absl::StrAppend(&text, part, "\n");
      part.clear();
    }
    absl::StrAppend(&part, part.empty() ? "" : " ", word);
  }
  return absl::StrCat(text, part, "\n");
}

}  // namespace

std::string TerminalPage(absl::string_view page, int width) {
  const auto columns = static_cast<size_t>(std::max(width, 20));
  std::string text;
  std::vector<Row> table;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(page, "\n"), '\n')) {
    if (absl::StartsWith(line, "|---")) continue;
    if (absl::StartsWith(line, "|")) {
      table.push_back(SplitRow(line));
      continue;
    }
    absl::StrAppend(&text, TableText(table, columns));
    table.clear();
    while (absl::ConsumePrefix(&line, "#")) {
    }
    absl::StrAppend(&text,
                    ParagraphText(Unescape(absl::StripLeadingAsciiWhitespace(line)), columns));
  }
  return text + TableText(table, columns);
}

}  // namespace kernelmill::client
