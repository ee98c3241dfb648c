#include "common/documents/notebook.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/code/line_index.h"
#include "common/documents/fences.h"
#include "common/documents/prose_context.h"
#include "common/json/json_strings.h"

// A notebook is JSON. Its strings are read one after another with their pointers, and only those
// that a cell consists of are decoded: outputs, with megabytes of images, are passed over. A cell's
// type may come before or behind its text, so that cells are collected first and divided into
// blocks in a second step.
namespace kernelmill::documents {
namespace {

constexpr absl::string_view kByteOrderMark = "\xef\xbb\xbf";

// A cell as it is collected.
struct RawCell {
  Cell place;
  std::string text;
  std::string type;      // "code", "markdown", ...
  std::string language;  // of format 3, which had one for each cell
};

// The parts of a pointer into a cell: /cells/NUMBER/KEY, or /worksheets/0/cells/NUMBER/KEY.
struct CellKey {
  std::string cell;  // the pointer to the cell
  int number = 0;
  std::string key;
};

std::optional<CellKey> ReadPointer(absl::string_view pointer) {
  const std::vector<absl::string_view> parts = absl::StrSplit(pointer, '/');
  const size_t cells = parts.size() > 1 && parts[1] == "worksheets" ? 3 : 1;
  // A text may be one string or an element of a list.
  const bool fits =
      (parts.size() == cells + 3 || parts.size() == cells + 4) && parts[cells] == "cells";
  CellKey key;
  if (!fits || !absl::SimpleAtoi(parts[cells + 1], &key.number)) return std::nullopt;
  key.key = std::string(parts[cells + 2]);
  const bool is_element = parts.size() == cells + 4;
  key.cell = std::string(pointer.substr(
      0, pointer.size() - key.key.size() - 1 - (is_element ? parts.back().size() + 1 : 0)));
  return key;
}

// Returns the language of a file that a cell is written to. Its path may be quoted.
BlockLanguage GetFileLanguage(absl::string_view path) {
  path = path.substr(0, path.find_last_not_of("\"'") + 1);
  const size_t dot = path.rfind('.');
  if (dot == absl::string_view::npos) return BlockLanguage::kOther;
  return ReadLanguage(path.substr(dot + 1));
}

std::vector<absl::string_view> SplitWords(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty());
}

// Returns whether a magic, in lower case, compiles the cell's text as CUDA.
bool CompilesCuda(absl::string_view magic) {
  return absl::StrContains(magic, "cuda") ||
         IsOneOf(magic,
                 {"nvcc", "nvcc_plugin", "hipcc", "load_inline", "gpp", "g++", "gcc", "cling"});
}

// Returns whether a line is a line magic that takes the rest of the cell as CUDA: "%load_inline".
bool IsLineMagicOfCuda(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, "%")) return false;
  const std::vector<absl::string_view> words = SplitWords(line);
  if (words.empty()) return false;
  const std::string magic = absl::AsciiStrToLower(words[0]);
  return CompilesCuda(magic) || magic == "cu";
}

// Returns the language of a cell by its cell magic, such as "%%cu" or "%%writefile x.cu".
BlockLanguage GetMagicLanguage(absl::string_view line) {
  const std::vector<absl::string_view> words = SplitWords(line.substr(2));
  if (words.empty()) return BlockLanguage::kOther;
  const std::string magic = absl::AsciiStrToLower(words[0]);
  if (IsOneOf(magic, {"time", "timeit", "capture", "prun", "memit", "mprun", "px", "debug"})) {
    return BlockLanguage::kPython;
  }
  if (IsOneOf(magic, {"writefile", "file", "save", "overwrite"})) {
    return GetFileLanguage(words.back());
  }
  if (CompilesCuda(magic)) return BlockLanguage::kCuda;
  const BlockLanguage named = ReadLanguage(magic);
  // Magics of a project's own are judged by what the cell holds.
  const bool is_other =
      IsOneOf(magic, {"bash", "sh", "script", "html", "javascript", "js", "latex", "markdown",
                      "svg", "perl", "ruby", "r", "sql", "julia", "cmd", "cython"});
  return named == BlockLanguage::kOther && !is_other ? BlockLanguage::kUnnamed : named;
}

// Collects the cells of a notebook.
class CellCollector {
 public:
  explicit CellCollector(absl::string_view content) : content_(content) {}

  void Run(Document* document) {
    const size_t begin = absl::StartsWith(content_, kByteOrderMark) ? kByteOrderMark.size() : 0;
    json::StringReader reader(content_.substr(begin));
    while (reader.Next()) {
      const std::optional<std::string> pointer = reader.Pointer();
      if (pointer.has_value()) Add(*pointer, reader.raw());
    }
    document->error = std::string(reader.error());
    document->error_at = begin + reader.position();
  }

  std::vector<RawCell>& cells() { return cells_; }
  // Returns the notebook's language, in lower case; empty if it does not say.
  const std::string& language() const { return language_; }

 private:
  void Add(absl::string_view pointer, absl::string_view raw) {
    if (pointer == "/metadata/language_info/name" ||
        (pointer == "/metadata/kernelspec/language" && language_.empty())) {
      language_ = absl::AsciiStrToLower(json::Unescape(raw));
      return;
    }
    const std::optional<CellKey> key = ReadPointer(pointer);
    if (!key.has_value()) return;
    if (cells_.empty() || pointer_ != key->cell) {
      pointer_ = key->cell;
      cells_.emplace_back();
      cells_.back().place.number = key->number;
    }
    RawCell& cell = cells_.back();
    if (key->key == "cell_type") {
      cell.type = json::Unescape(raw);
    } else if (key->key == "language") {
      cell.language = absl::AsciiStrToLower(json::Unescape(raw));
    } else if (key->key == "source" || key->key == "input") {
      if (cell.place.pointer.empty()) {
        cell.place.pointer = absl::StrCat(key->cell, "/", key->key);
        cell.place.begin = static_cast<size_t>(raw.data() - content_.data());
      }
      cell.text += json::Unescape(raw);
    }
  }

  const absl::string_view content_;
  std::vector<RawCell> cells_;
  std::string pointer_;  // to the last cell
  std::string language_;
};

// Divides collected cells into blocks of a document.
class NotebookReader {
 public:
  NotebookReader(std::string language, Document* document)
      : language_(std::move(language)), document_(*document) {}

  void Add(RawCell cell) {
    if (cell.text.empty()) return;
    Cell& place = cell.place;
    place.text_begin = document_.text.size();
    document_.text += cell.text;
    place.text_end = document_.text.size();
    if (cell.text.back() != '\n') document_.text += '\n';
    document_.cells.push_back(place);
    if (cell.type == "markdown") {
      AddMarkdown(place);
    } else if (cell.type == "heading") {  // format 3
      context_.Read(absl::StrCat("# ", cell.text));
    } else if (cell.type == "code") {
      AddCode(place, cell.language.empty() ? language_ : cell.language);
    }
  }

 private:
  int LastCell() const { return static_cast<int>(document_.cells.size()) - 1; }

  void AddBlock(BlockLanguage language, absl::string_view kind, size_t begin, size_t end) {
    document_.AddBlock(
        {language, kind, begin, end, LastCell(), context_.heading(), context_.paragraph()});
  }

  // Reads the fences of a Markdown cell, and its prose for the blocks below.
  void AddMarkdown(const Cell& cell) {
    const std::string text =
        document_.text.substr(cell.text_begin, cell.text_end - cell.text_begin);
    size_t at = 0;
    for (const FencedBlock& block : FindFencedBlocks(text)) {
      context_.Read(absl::string_view(text).substr(at, block.fence - at));
      if (block.begin < block.end) {
        AddBlock(block.language, "fence", cell.text_begin + block.begin,
                 cell.text_begin + block.end);
      }
      context_.EndBlock();
      at = block.fence_end;
    }
    context_.Read(absl::string_view(text).substr(at));
  }

  // Returns the offset of the cell's first line that is neither empty nor a comment, as "#@title"
  // is.
  size_t FindCode(const Cell& cell) const {
    const absl::string_view text = absl::string_view(document_.text).substr(0, cell.text_end);
    size_t at = cell.text_begin;
    while (at < text.size()) {
      const size_t content = text.find_first_not_of(" \t\r\n", at);
      if (content == absl::string_view::npos) return text.size();
      if (text[content] != '#') return content;
      at = AfterLine(text, content);
    }
    return at;
  }

  void AddCode(const Cell& cell, absl::string_view language) {
    const absl::string_view text = document_.text;
    size_t begin = cell.text_begin;
    BlockLanguage said = language.empty() ? BlockLanguage::kPython : ReadLanguage(language);
    const size_t first = FindCode(cell);
    const size_t second = std::min(AfterLine(text, first), cell.text_end);
    const absl::string_view line = text.substr(first, second - first);
    if (absl::StartsWith(line, "%%")) {
      begin = second;
      said = GetMagicLanguage(line);
    } else if (IsLineMagicOfCuda(line) && !absl::StrContains(text.substr(second), "import ")) {
      begin = second;
      said = BlockLanguage::kCuda;
    }
    if (begin < cell.text_end) AddBlock(said, "cell", begin, cell.text_end);
    context_.EndBlock();
  }

  const std::string language_;
  Document& document_;
  ProseContext context_;
};

}  // namespace

Document ReadNotebook(absl::string_view content) {
  Document document;
  CellCollector collector(content);
  collector.Run(&document);
  NotebookReader reader(collector.language(), &document);
  for (RawCell& cell : collector.cells()) reader.Add(std::move(cell));
  return document;
}

}  // namespace kernelmill::documents
