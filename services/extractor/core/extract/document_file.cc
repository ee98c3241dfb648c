#include "services/extractor/core/extract/document_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/code/line_index.h"
#include "common/documents/document.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/text_lines.h"
#include "common/sensitive/sensitive.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/cuda_kernels.h"
#include "services/extractor/core/cuda/declarations.h"
#include "services/extractor/core/cuda/lexer.h"
#include "services/extractor/core/extract/extract_file.h"

namespace kernelmill::extractor {

// A program is made of blocks, with an empty line for each line of the document outside of them, so
// that a line of the program has the number of the document's line. Records are made as those of a
// file with this text, and then get their bytes from the document. Blocks of Python lose the
// indentation that all their lines share, since a fence in a list is indented; those of CUDA keep
// every byte in its place, because the link stage looks for kernels at their offsets.

using documents::BlockLanguage;
using documents::CodeBlock;
using python::BudgetedParser;
using python::CountIndentation;
using python::ParsedText;

namespace {

absl::string_view WithoutLineEnd(absl::string_view line) {
  return line.substr(0, line.find_last_not_of("\r\n") + 1);
}

// Returns whether a line is IPython's and not Python's: a magic, a command of the shell, a
// question.
bool IsMagic(absl::string_view line) {
  const absl::string_view content = absl::StripAsciiWhitespace(line);
  if (content.empty()) return false;
  if (content[0] == '%' || content[0] == '!' || content[0] == '?') return true;
  // name?, name??, x = !ls, x = %magic
  const size_t name = content.find_first_not_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_., ");
  if (name == absl::string_view::npos || name == 0) return false;
  if (content[name] == '?') return content.find_first_not_of('?', name) == absl::string_view::npos;
  const absl::string_view value = absl::StripLeadingAsciiWhitespace(content.substr(name + 1));
  return content[name] == '=' && (absl::StartsWith(value, "!") || absl::StartsWith(value, "%"));
}

// Returns whether a text without a language begins statements of Python.
bool LooksLikePython(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view content = absl::StripLeadingAsciiWhitespace(line);
    if (absl::StartsWith(content, "import ") || absl::StartsWith(content, "def ") ||
        absl::StartsWith(content, "@") ||
        (absl::StartsWith(content, "from ") && absl::StrContains(content, " import "))) {
      return true;
    }
  }
  return false;
}

bool HasTripleQuotes(absl::string_view text) {
  return absl::StrContains(text, "\"\"\"") || absl::StrContains(text, "'''");
}

// Returns the names that a text of CUDA declares; nothing if its brackets do not fit.
std::optional<std::set<std::string>> DeclaredNames(absl::string_view text) {
  const cuda::Code code = cuda::Lex(text);
  const cuda::Brackets brackets = cuda::MatchBrackets(code);
  if (!brackets.errors.empty()) return std::nullopt;
  std::set<std::string> names;
  for (const cuda::Declaration& declaration : cuda::FindDeclarations(code, brackets).all) {
    names.insert(declaration.names.begin(), declaration.names.end());
  }
  for (const cuda::Macro& macro : code.macros) names.emplace(macro.name);
  return names;
}

// Returns whether prose holds a secret or an address. Such prose is no context: a job's policy on
// them is about kernels' texts.
bool HoldsSensitive(absl::string_view prose) {
  v1::Kernel whole;
  whole.set_form(v1::KERNEL_FORM_FILE);
  whole.set_path("prose.md");
  whole.set_source(std::string(prose));
  return !sensitive::FindSensitive(whole).empty();
}

// Reads the blocks of one document; see ExtractDocument. Refers to its arguments.
class DocumentExtractor {
 public:
  DocumentExtractor(const v1::SourceFile& source, const PythonParser& parser,
                    const ExtractOptions& options, v1::ExtractedFile& entry, v1::KernelShard& shard)
      : path_(source.path()),
        document_(documents::ReadDocument(source.path(), source.content())),
        text_(document_.text),
        lines_(document_.text),
        parser_(parser, options.json_parse_bytes +
                            options.json_parse_bytes_per_byte * source.content().size()),
        options_(options),
        entry_(entry),
        shard_(shard) {
    if (!document_.error.empty()) {
      entry_.set_parse_errors(true);
      const LineIndex file_lines(source.content());
      const size_t last = std::max<size_t>(source.content().size(), 1) - 1;
      entry_.set_first_error_line(file_lines.LineAt(std::min(document_.error_at, last)));
      Skip(entry_.first_error_line(), document_.error);
    }
  }

  absl::Status Run() {
    const bool may_hold = std::any_of(
        document_.blocks.begin(), document_.blocks.end(), [this](const CodeBlock& block) {
          return block.language != BlockLanguage::kOther && MayHoldCode(GetText(block));
        });
    if (!may_hold) return absl::OkStatus();
    RETURN_IF_ERROR(ReadPython());
    RETURN_IF_ERROR(ReadCuda());
    if (entry_.kernels() > 0 || candidates_ > 0) ListCells();
    return absl::OkStatus();
  }

 private:
  using Blocks = std::vector<const CodeBlock*>;

  absl::string_view GetText(const CodeBlock& block) const {
    return text_.substr(block.begin, block.end - block.begin);
  }
  int FirstLine(const CodeBlock& block) const { return lines_.LineAt(block.begin); }
  int LastLine(const CodeBlock& block) const { return lines_.LineAt(block.end - 1); }

  // Returns the number that tells the block's program from others in the link stage. Kernel and
  // Definition have it as string_begin, where 0 would be a whole file.
  static int64_t GetProgram(const CodeBlock& block) {
    return static_cast<int64_t>(block.begin) + 1;
  }

  bool IsPython(const CodeBlock& block) const {
    if (block.language != BlockLanguage::kUnnamed) return block.language == BlockLanguage::kPython;
    // Python may have CUDA in its strings.
    const bool may_be_cuda = MayHoldCuda(GetText(block)) && !HasTripleQuotes(GetText(block));
    return LooksLikePython(GetText(block)) && !may_be_cuda;
  }
  bool IsCuda(const CodeBlock& block) const {
    if (misnamed_.contains(&block)) return true;
    if (block.language == BlockLanguage::kUnnamed) {
      // Messages of tools name __global__ as well, and would swallow the blocks below.
      const bool has_body = absl::StrContains(GetText(block), "{");
      return has_body && MayHoldCuda(GetText(block)) && !IsPython(block);
    }
    return block.language == BlockLanguage::kCuda;
  }

  // Returns whether a text that is said to be Python, and does not parse, is CUDA.
  static bool IsCudaByItsText(absl::string_view text) {
    return MayHoldCuda(text) && !LooksLikePython(text) && !HasTripleQuotes(text) &&
           DeclaredNames(text).has_value();
  }

  // Appends the block's lines without their shared indentation. With `magics`, IPython's lines are
  // statements that do nothing.
  void AppendPython(const CodeBlock& block, bool magics, std::string* program) const {
    const int first = FirstLine(block);
    const int last = LastLine(block);
    size_t shared = std::string::npos;
    for (int line = first; line <= last; ++line) {
      const absl::string_view text = LineText(line);
      if (!absl::StripAsciiWhitespace(text).empty())
        shared = std::min(shared, CountIndentation(text));
    }
    bool continues = false;  // a magic goes on after a backslash
    for (int line = first; line <= last; ++line) {
      absl::string_view text = LineText(line);
      text.remove_prefix(std::min(shared, text.size()));
      if (continues || (magics && IsMagic(text))) {
        absl::StrAppend(program, text.substr(0, CountIndentation(text)), "0\n");
        continues = absl::EndsWith(text, "\\");
      } else {
        absl::StrAppend(program, text, "\n");
      }
    }
  }

  absl::string_view LineText(int line) const {
    return WithoutLineEnd(text_.substr(lines_.Begin(line), lines_.End(line) - lines_.Begin(line)));
  }

  struct PythonBlock {
    const CodeBlock* block;
    bool magics;
  };

  // Makes a program of blocks in the order of the text.
  std::string MakePython(const std::vector<PythonBlock>& blocks) const {
    std::string program;
    int line = 1;
    for (const PythonBlock& block : blocks) {
      if (FirstLine(*block.block) < line) continue;
      program.append(static_cast<size_t>(FirstLine(*block.block) - line), '\n');
      AppendPython(*block.block, block.magics, &program);
      line = LastLine(*block.block) + 1;
    }
    return program;
  }

  // Returns whether the block is Python by itself, perhaps without IPython's lines.
  absl::StatusOr<bool> IsWhole(PythonBlock& block) const {
    for (const bool magics : {false, true}) {
      block.magics = magics;
      std::string program;
      AppendPython(*block.block, magics, &program);
      const auto parsed = ParsedText::Parse(program, parser_);
      if (parsed.ok() && !(*parsed)->has_errors()) return true;
      if (!parsed.ok() && !absl::IsResourceExhausted(parsed.status())) return parsed.status();
    }
    return false;
  }

  absl::Status ReadPython() {
    std::vector<PythonBlock> whole;
    std::vector<std::pair<PythonBlock, size_t>> broken;  // and how many whole ones are above it
    for (const CodeBlock& block : document_.blocks) {
      if (!IsPython(block)) continue;
      PythonBlock read = {&block, false};
      ASSIGN_OR_RETURN(const bool is_whole, IsWhole(read));
      if (is_whole) {
        whole.push_back(read);
      } else if (IsCudaByItsText(GetText(block))) {
        misnamed_.insert(&block);
      } else if (MayHoldCode(GetText(block))) {
        broken.emplace_back(read, whole.size());
      }
    }
    if (!whole.empty()) {
      Blocks blocks;
      for (const PythonBlock& block : whole) blocks.push_back(block.block);
      RETURN_IF_ERROR(ReadProgram(MakePython(whole), blocks, GetProgram(*blocks[0])));
    }
    for (const auto& [block, above] : broken) {
      std::vector<PythonBlock> blocks(whole.begin(),
                                      whole.begin() + static_cast<std::ptrdiff_t>(above));
      blocks.push_back(block);
      RETURN_IF_ERROR(ReadProgram(MakePython(blocks), {block.block}, GetProgram(*block.block)));
    }
    return absl::OkStatus();
  }

  // Adds the kernels of a Python program that are in one of the blocks. A program beyond a bound is
  // listed.
  absl::Status ReadProgram(const std::string& program, const Blocks& blocks, int64_t number) {
    v1::SourceFile code;
    code.set_path(path_);
    code.set_content(program);
    v1::ExtractedFile entry;
    v1::KernelShard found;
    const absl::Status status =
        ExtractCode(code, CodeLanguage::kPython, {parser_, options_, true}, entry, found);
    if (!status.ok()) return SkipProgram(status, *blocks[0]);
    Adopt(std::move(found), entry, blocks, number);
    return absl::OkStatus();
  }

  absl::Status SkipProgram(const absl::Status& status, const CodeBlock& block) {
    if (!absl::IsResourceExhausted(status)) return status;
    Skip(FirstLine(block), status.message());
    return absl::OkStatus();
  }

  // Takes over what a program has in the blocks.
  void Adopt(v1::KernelShard found, const v1::ExtractedFile& entry, const Blocks& blocks,
             int64_t number) {
    bool adopted = false;
    for (v1::Kernel& kernel : *found.mutable_kernels()) {
      if (!Place(blocks, number, kernel)) continue;
      *shard_.add_kernels() = std::move(kernel);
      entry_.set_kernels(entry_.kernels() + 1);
      adopted = true;
    }
    for (v1::Candidate& candidate : *found.mutable_candidates()) {
      if (!Place(blocks, number, *candidate.mutable_kernel())) continue;
      *shard_.add_candidates() = std::move(candidate);
      ++candidates_;
      adopted = true;
    }
    for (const v1::SkippedString& skipped : entry.skipped_strings()) {
      if (BlockAt(blocks, skipped.line()) != nullptr) Skip(skipped.line(), skipped.reason());
    }
    if (!adopted) return;
    if (entry.parse_errors()) entry_.set_parse_errors(true);
    for (v1::Definition& definition : *found.mutable_definitions()) {
      definition.set_string_begin(number);
      *shard_.add_definitions() = std::move(definition);
    }
  }

  // Returns the block that has the line; else null.
  const CodeBlock* BlockAt(const Blocks& blocks, int line) const {
    if (line < 1 || line > lines_.count()) return nullptr;
    const size_t at = lines_.Begin(line);
    const auto after = std::upper_bound(
        blocks.begin(), blocks.end(), at,
        [](size_t offset, const CodeBlock* block) { return offset < block->begin; });
    if (after == blocks.begin()) return nullptr;
    const CodeBlock* block = *std::prev(after);
    return at < block->end ? block : nullptr;
  }

  // Returns the document's bytes of the lines. The last line is in the block. The line end that
  // separates cells belongs to neither.
  absl::string_view Bytes(int first, int last, const CodeBlock& block) const {
    const size_t begin = lines_.Begin(first);
    const size_t end = lines_.End(last);
    return text_.substr(begin, (block.cell < 0 ? end : std::min(end, block.end)) - begin);
  }

  // Gives a kernel of a program its place in the document. Returns false if it is in none of the
  // blocks, or in more than one.
  bool Place(const Blocks& blocks, int64_t number, v1::Kernel& kernel) {
    const CodeBlock* block = BlockAt(blocks, kernel.first_line());
    if (block == nullptr) return false;
    if (BlockAt(blocks, kernel.last_line()) != block) {
      Skip(kernel.first_line(), "across_fences");
      return false;
    }
    const absl::string_view source = Bytes(kernel.first_line(), kernel.last_line(), *block);
    kernel.set_body_offset(MoveBodyOffset(kernel, source.size()));
    kernel.set_column(static_cast<int32_t>(CountIndentation(source)));
    kernel.set_first_byte(static_cast<int64_t>(lines_.Begin(kernel.first_line())));
    kernel.set_source(std::string(source));
    kernel.set_sha256(Sha256Hex(source));
    kernel.set_string_begin(number);
    if (kernel.has_launcher()) PlaceLauncher(blocks, *kernel.mutable_launcher());
    AddContext(*block, kernel);
    return true;
  }

  // Returns the offset in the document's bytes of the line on which the body begins in the program.
  int32_t MoveBodyOffset(const v1::Kernel& kernel, size_t source_bytes) const {
    const auto offset = static_cast<size_t>(kernel.body_offset());
    const int line =
        kernel.first_line() +
        static_cast<int>(CountLines(absl::string_view(kernel.source()).substr(0, offset)));
    const bool is_within = line <= kernel.last_line();
    return static_cast<int32_t>(is_within ? lines_.Begin(line) - lines_.Begin(kernel.first_line())
                                          : source_bytes);
  }

  void PlaceLauncher(const Blocks& blocks, v1::Launcher& launcher) const {
    const CodeBlock* block = BlockAt(blocks, launcher.last_line());
    if (block == nullptr || launcher.text().empty()) return;
    launcher.set_text(std::string(Bytes(launcher.first_line(), launcher.last_line(), *block)));
  }

  void AddContext(const CodeBlock& block, v1::Kernel& kernel) const {
    v1::DocumentContext& context = *kernel.mutable_context();
    const bool in_string = kernel.has_cuda() && kernel.form() == v1::KERNEL_FORM_STRING;
    context.set_kind(block.cell >= 0 && in_string ? "string" : std::string(block.kind));
    if (!HoldsSensitive(block.heading)) context.set_heading(block.heading);
    if (!HoldsSensitive(block.paragraph)) context.set_paragraph(block.paragraph);
    if (block.cell < 0) return;
    const documents::Cell& cell = document_.cells[static_cast<size_t>(block.cell)];
    context.set_cell(cell.number);
    kernel.set_json_pointer(cell.pointer);
  }

  // Makes one program of the blocks of CUDA that fit together. A block that defines a name again,
  // or whose brackets do not fit, is read below those of the program that are above it.
  absl::Status ReadCuda() {
    Blocks together;
    Blocks alone;
    std::set<std::string> names;
    for (const CodeBlock& block : document_.blocks) {
      if (!IsCuda(block)) continue;
      const std::optional<std::set<std::string>> own = DeclaredNames(GetText(block));
      const bool fits = own.has_value() && block.cell < 0 &&
                        std::none_of(own->begin(), own->end(),
                                     [&](const std::string& name) { return names.contains(name); });
      if (fits) {
        names.insert(own->begin(), own->end());
        together.push_back(&block);
      } else if (MayHoldCuda(GetText(block))) {
        alone.push_back(&block);
      }
    }
    if (!together.empty()) RETURN_IF_ERROR(ReadCudaProgram(together, together, *together[0]));
    for (const CodeBlock* block : alone) {
      RETURN_IF_ERROR(ReadCudaProgram(ListContext(together, *block), {block}, *block));
    }
    return absl::OkStatus();
  }

  // Returns the blocks of the program above that declare no name which the block declares, and the
  // block.
  Blocks ListContext(const Blocks& together, const CodeBlock& block) const {
    Blocks chosen;
    const std::optional<std::set<std::string>> own = DeclaredNames(GetText(block));
    for (const CodeBlock* above : together) {
      if (!own.has_value() || block.cell >= 0 || above->begin > block.begin) break;
      const std::set<std::string> names = *DeclaredNames(GetText(*above));
      const bool again = std::any_of(names.begin(), names.end(),
                                     [&](const std::string& name) { return own->contains(name); });
      if (!again) chosen.push_back(above);
    }
    chosen.push_back(&block);
    return chosen;
  }

  // Reads a program of the blocks `all`, which have their bytes where the document has them, and
  // adds the kernels of the blocks `wanted`.
  absl::Status ReadCudaProgram(const Blocks& all, const Blocks& wanted, const CodeBlock& first) {
    std::string program(text_.substr(0, std::min(LineEndAfter(*all.back()), text_.size())));
    size_t at = 0;
    for (const CodeBlock* block : all) {
      documents::Blank(at, block->begin, program);
      at = block->end;
    }
    documents::Blank(at, program.size(), program);
    parser_.Spend(program.size());
    if (parser_.IsSpent()) return SkipProgram(absl::ResourceExhaustedError("work_budget"), first);
    v1::SourceFile code;
    code.set_path(path_);
    code.set_content(std::move(program));
    v1::ExtractedFile entry;
    v1::KernelShard found;
    const absl::Status status =
        ExtractCode(code, CodeLanguage::kCuda, {parser_, options_}, entry, found);
    if (!status.ok()) return SkipProgram(status, first);
    Adopt(std::move(found), entry, wanted, GetProgram(first));
    return absl::OkStatus();
  }

  // Returns the offset after the line end that separates a cell from the next.
  size_t LineEndAfter(const CodeBlock& block) const { return lines_.End(LastLine(block)); }

  void ListCells() {
    for (const documents::Cell& cell : document_.cells) {
      v1::NotebookCell& listed = *entry_.add_cells();
      listed.set_json_pointer(cell.pointer);
      listed.set_begin(static_cast<int64_t>(cell.begin));
      listed.set_first_line(lines_.LineAt(cell.text_begin));
      listed.set_first_byte(static_cast<int64_t>(cell.text_begin));
    }
  }

  // Lists code that is not extracted, up to a bound: a document may consist of broken blocks.
  void Skip(int line, absl::string_view reason) {
    constexpr int kMostSkipped = 1024;
    if (entry_.skipped_strings_size() >= kMostSkipped) return;
    v1::SkippedString& skipped = *entry_.add_skipped_strings();
    skipped.set_line(line);
    skipped.set_reason(std::string(reason));
  }

  const std::string& path_;
  const documents::Document document_;
  const absl::string_view text_;
  const LineIndex lines_;
  BudgetedParser parser_;
  const ExtractOptions& options_;
  v1::ExtractedFile& entry_;
  v1::KernelShard& shard_;
  int candidates_ = 0;
  std::set<const CodeBlock*> misnamed_;  // blocks of CUDA that say Python
};

}  // namespace

absl::Status ExtractDocument(const v1::SourceFile& source, const PythonParser& parser,
                             const ExtractOptions& options, v1::KernelShard& shard) {
  v1::ExtractedFile& entry = ListFile(source, shard);
  if (source.content().size() > options.max_json_bytes) {
    entry.set_failed("too_large");
    return absl::OkStatus();
  }
  return Annotate(DocumentExtractor(source, parser, options, entry, shard).Run(), source.path());
}

}  // namespace kernelmill::extractor
