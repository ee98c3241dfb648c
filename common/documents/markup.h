#ifndef KERNELMILL_COMMON_DOCUMENTS_MARKUP_H_
#define KERNELMILL_COMMON_DOCUMENTS_MARKUP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/documents/fences.h"

namespace kernelmill::documents {

// An indented block of reStructuredText.
struct IndentedBlock {
  FencedBlock place;       // `fence` is the line that announces it
  absl::string_view kind;  // "directive", "literal" or "doctest"
};

// Finds the blocks of code in reStructuredText, in order: code-block, code, sourcecode, code-tab,
// ipython, parsed-literal, testcode, doctest and jupyter-execute directives, paragraphs that end
// with "::", and doctests. A literalinclude has no text of its own.
std::vector<IndentedBlock> FindIndentedBlocks(absl::string_view text);

// A <pre> of HTML.
struct PreBlock {
  size_t begin;  // [begin, end) are its lines in HtmlCode.text
  size_t end;
  BlockLanguage language;
  std::string heading;    // the text of the last <h1> to <h6> above it
  std::string paragraph;  // the text of the <p> between that, or the block before, and it
};

// HTML with the text of each <pre> in its place: without tags, entities decoded. All other lines
// are empty, so that lines have the same numbers as in the file.
struct HtmlCode {
  std::string text;
  std::vector<PreBlock> blocks;
};

// Reads HTML, well-formed or not, in linear time. The language of a block is that which a class of
// <pre>, of <code> in it or of the <div>s right around it names: language-python, lang-cuda,
// highlight-python, "sourceCode python". A block that begins on a line where another ends is left
// out. So is one that holds the numbers of lines alone.
HtmlCode ReadHtml(absl::string_view html);

}  // namespace kernelmill::documents

#endif  // KERNELMILL_COMMON_DOCUMENTS_MARKUP_H_
