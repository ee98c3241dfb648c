#include "common/documents/document.h"

#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/documents/markup.h"
#include "common/documents/notebook.h"
#include "common/documents/prose_context.h"

namespace kernelmill::documents {
namespace {

enum class Format : uint8_t { kNone, kMarkdown, kRst, kHtml, kNotebook };

Format GetFormat(absl::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == absl::string_view::npos) return Format::kNone;
  const std::string extension = absl::AsciiStrToLower(path.substr(dot + 1));
  if (extension == "md" || extension == "markdown" || extension == "mdx" || extension == "qmd" ||
      extension == "rmd") {
    return Format::kMarkdown;
  }
  if (extension == "rst") return Format::kRst;
  if (extension == "html" || extension == "htm") return Format::kHtml;
  return extension == "ipynb" ? Format::kNotebook : Format::kNone;
}

Document ReadMarkdown(absl::string_view content) {
  Document document;
  document.text = std::string(content);
  ProseContext context;
  size_t at = 0;
  const auto add = [&](const FencedBlock& block, absl::string_view kind) {
    context.Read(absl::string_view(document.text).substr(at, block.fence - at));
    if (block.begin < block.end) {
      document.AddBlock({block.language, kind, block.begin, block.end, -1, context.heading(),
                         context.paragraph()});
    }
    context.EndBlock();
    at = block.fence_end;
  };
  const auto add_indented = [&](size_t end) {
    for (const FencedBlock& block : FindIndentedCode(document.text, at, end)) {
      add(block, "indented");
    }
  };
  for (const FencedBlock& block : FindBlocksAndUnquote(document.text)) {
    add_indented(block.fence);
    add(block, "fence");
  }
  add_indented(document.text.size());
  return document;
}

// The line that announces a literal block is prose as well.
Document ReadRst(absl::string_view content) {
  Document document;
  document.text = std::string(content);
  ProseContext context;
  size_t at = 0;
  for (const IndentedBlock& block : FindIndentedBlocks(content)) {
    const size_t prose_end = block.kind == "literal" ? block.place.begin : block.place.fence;
    context.Read(content.substr(at, prose_end - at));
    document.AddBlock({block.place.language, block.kind, block.place.begin, block.place.end, -1,
                       context.heading(), context.paragraph()});
    context.EndBlock();
    at = block.place.fence_end;
  }
  return document;
}

Document ReadHtmlDocument(absl::string_view content) {
  HtmlCode code = ReadHtml(content);
  Document document;
  document.text = std::move(code.text);
  for (PreBlock& block : code.blocks) {
    if (block.begin == block.end) continue;
    document.AddBlock({block.language, "pre", block.begin, block.end, -1, std::move(block.heading),
                       std::move(block.paragraph)});
  }
  return document;
}

Document ReadFormat(Format format, absl::string_view content) {
  switch (format) {
    case Format::kMarkdown:
      return ReadMarkdown(content);
    case Format::kRst:
      return ReadRst(content);
    case Format::kHtml:
      return ReadHtmlDocument(content);
    case Format::kNotebook:
      return ReadNotebook(content);
    case Format::kNone:
      break;
  }
  return {};
}

}  // namespace

// The first blocks are kept: a document for people has no more.
void Document::AddBlock(CodeBlock block) {
  if (blocks.size() < kMaxBlocks) {
    blocks.push_back(std::move(block));
  } else if (error.empty()) {
    error = "too_many_strings";
    error_at = 0;
  }
}

bool IsDocumentPath(absl::string_view path) { return GetFormat(path) != Format::kNone; }

bool IsNotebookPath(absl::string_view path) { return GetFormat(path) == Format::kNotebook; }

Document ReadDocument(absl::string_view path, absl::string_view content) {
  Document document = ReadFormat(GetFormat(path), content);
  for (const CodeBlock& block : document.blocks) {
    if (block.language == BlockLanguage::kOther) continue;
    RemovePrompts(block.begin, block.end, document.text);
  }
  return document;
}

absl::string_view GetCellText(const Document& document, const Cell& cell) {
  return absl::string_view(document.text).substr(cell.text_begin, cell.text_end - cell.text_begin);
}

}  // namespace kernelmill::documents
