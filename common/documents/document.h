#ifndef KERNELMILL_COMMON_DOCUMENTS_DOCUMENT_H_
#define KERNELMILL_COMMON_DOCUMENTS_DOCUMENT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/documents/fences.h"

namespace kernelmill::documents {

// Documents are files of prose with code in it: Jupyter notebooks, Markdown (also Quarto and R
// Markdown), reStructuredText and HTML. The extractor reads their code, and a dataset's check
// compares kernels with their text; both ask here.

// Returns whether the path has an extension of a document.
bool IsDocumentPath(absl::string_view path);

// Returns whether the path has the extension of a notebook.
bool IsNotebookPath(absl::string_view path);

// A cell of a notebook: code, Markdown or raw.
struct Cell {
  int number = 0;         // from 0, in the notebook
  std::string pointer;    // RFC 6901: the string, or the list of strings, with the cell's text
  size_t begin = 0;       // offset in the file of the first string's content
  size_t text_begin = 0;  // [text_begin, text_end) of Document.text is the cell's text
  size_t text_end = 0;
};

// A piece of code: whole lines of Document.text.
struct CodeBlock {
  BlockLanguage language = BlockLanguage::kUnnamed;
  // "cell"; "fence" and "indented" of Markdown; "directive", "literal" and "doctest" of
  // reStructuredText; "pre" of HTML
  absl::string_view kind;
  size_t begin = 0;
  size_t end = 0;
  int cell = -1;          // index in Document.cells; -1 outside a notebook
  std::string heading;    // the nearest one above; else empty
  std::string paragraph;  // right above the block; else empty
};

// A document's text and the code in it.
//
// clang-format off
//   notebook            the texts of its cells, in order; each begins on a line of its own
//   HTML                the text of each <pre>, entities decoded; all other lines are empty
//   others              the file; the marks of quotes ("> ") and prompts (">>> ") are blanks
// clang-format on
//
// Lines have the numbers that they have in the file, except in notebooks. Bytes have their offsets
// as well, except in notebooks and HTML. Outputs of notebooks are not read.
struct Document {
  std::string text;
  std::vector<Cell> cells;        // of a notebook
  std::vector<CodeBlock> blocks;  // in the order of the text
  // Why the rest was not read, and the offset in the file: as json::StringReader says it of a
  // notebook, or "too_many_strings". Empty if all was read.
  std::string error;
  size_t error_at = 0;

  // More blocks are left out. Each has a copy of its heading, so that this bounds memory.
  static constexpr size_t kMaxBlocks = 65536;
  void AddBlock(CodeBlock block);
};

// Reads a document of any bytes. Linear in time. Each block has a bounded copy of its heading and
// its paragraph.
Document ReadDocument(absl::string_view path, absl::string_view content);

// Returns the text of one cell.
absl::string_view GetCellText(const Document& document, const Cell& cell);

}  // namespace kernelmill::documents

#endif  // KERNELMILL_COMMON_DOCUMENTS_DOCUMENT_H_
