#include "services/extractor/core/extract/json_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/documents/fences.h"
#include "common/json/json_documents.h"
#include "common/json/json_strings.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/text_lines.h"
#include "services/extractor/core/cuda/cuda_kernels.h"
#include "services/extractor/core/embedded/prose.h"
#include "services/extractor/core/extract/extract_file.h"

namespace kernelmill::extractor {

// clang-format off
// The ways to read a string, each tried if those before it do not apply:
//
//   Python as a whole            the string is one program
//   fenced blocks                chats: the blocks of a language together; each by itself if they
//                                are no program together
//   the text around the fences   if no block may hold a kernel
//   Python, prose blanked out    if that finds more kernels than the text as it is
//   CUDA                         if Python finds no kernel, and the text may hold CUDA
//
// A way that is tried and not taken has cost its bytes of the budget, but leaves no records.
// clang-format on

using documents::BlockLanguage;
using documents::FencedBlock;
using documents::FindFencedBlocks;
using python::BudgetedParser;
using python::ParsedText;

namespace {

// A longer string is no chat and is read as one program, with all text around it.
constexpr size_t kMostProse = 256u << 10;

bool MayHaveFences(absl::string_view text) {
  return Contains(text, "```") || Contains(text, "~~~");
}

// Returns whether the kernel's source is a span of the string. Broken code in a block may go on
// behind the fence, where prose was replaced by blanks.
bool IsSpan(const v1::Kernel& kernel, absl::string_view text) {
  return text.substr(static_cast<size_t>(kernel.first_byte()), kernel.source().size()) ==
         kernel.source();
}

// Reads the strings of one JSON file; see ExtractJsonFile. Refers to its arguments.
class JsonFileExtractor {
 public:
  JsonFileExtractor(const v1::SourceFile& source, const PythonParser& parser,
                    const ExtractOptions& options, v1::ExtractedFile& entry, v1::KernelShard& shard)
      : path_(source.path()),
        text_(source.content()),
        parser_(parser,
                options.json_parse_bytes + options.json_parse_bytes_per_byte * text_.size()),
        options_(options),
        lines_(source.content()),
        entry_(entry),
        shard_(shard) {}

  absl::Status Run() {
    json::Documents documents(path_, text_);
    json::Document document;
    while (!ended_ && documents.Next(&document)) RETURN_IF_ERROR(ReadDocument(document));
    return absl::OkStatus();
  }

 private:
  // The place of a string.
  struct Place {
    size_t begin;  // begin of its content in the file
    int line;
    std::string pointer;
    absl::string_view text;  // the unescaped string
  };

  // Reads the strings of one document. Those that cannot hold code are left at once and do not
  // count for the bound.
  absl::Status ReadDocument(const json::Document& document) {
    json::StringReader reader(document.text);
    while (!ended_ && reader.Next()) {
      const std::string text = json::Unescape(reader.raw());
      if (!MayHoldCode(text)) continue;
      const size_t begin = static_cast<size_t>(reader.raw().data() - text_.data());
      const int line = lines_.LineAt(begin);
      if (++strings_ > options_.max_json_strings) {
        End(line, "too_many_strings");
        break;
      }
      const std::optional<std::string> pointer = reader.Pointer();
      if (!pointer.has_value()) {
        Skip(line, "pointer_too_long");
        continue;
      }
      RETURN_IF_ERROR(AddString(text, {begin, line, document.pointer + *pointer, text}));
    }
    if (!reader.error().empty()) AddError(document.begin + reader.position(), reader.error());
    return absl::OkStatus();
  }

  // Ends the file at the string that begins on the line.
  void End(int line, absl::string_view reason) {
    ended_ = true;
    Skip(line, reason);
  }

  // Notes an error in the JSON itself.
  void AddError(size_t at, absl::string_view reason) {
    const int line = lines_.LineAt(std::min(at, text_.size() - 1));
    SetParseError(line);
    Skip(line, reason);
  }

  void SetParseError(int line) {
    if (entry_.parse_errors()) return;
    entry_.set_parse_errors(true);
    entry_.set_first_error_line(line);
  }

  // Lists a string that is not extracted, up to a bound: a file may consist of broken lines.
  void Skip(int line, absl::string_view reason) {
    if (entry_.skipped_strings_size() >= static_cast<int>(options_.max_strings)) return;
    v1::SkippedString& skipped = *entry_.add_skipped_strings();
    skipped.set_line(line);
    skipped.set_reason(std::string(reason));
  }

  // Adds one string. A string that exceeds a bound is listed and does not affect the others.
  absl::Status AddString(const std::string& text, const Place& place) {
    absl::Status added = ReadString(text, place);
    if (parser_.IsSpent()) {
      End(place.line, "work_budget");
      return absl::OkStatus();
    }
    if (!absl::IsResourceExhausted(added)) return added;
    Skip(place.line, added.message());
    return absl::OkStatus();
  }

  // Fences count only if the string as a whole is not Python: a program may have them in a
  // docstring.
  absl::Status ReadString(const std::string& text, const Place& place) {
    if (text.size() <= kMostProse && MayHaveFences(text)) {
      const std::vector<FencedBlock> blocks = FindFencedBlocks(text);
      if (!blocks.empty()) {
        ASSIGN_OR_RETURN(const bool is_python, IsPython(text));
        if (!is_python) return ReadFenced(text, blocks, place);
      }
    }
    return ReadText(text, place);
  }

  // Reads the blocks of each language as one text, with the prose blanked out. If no block may hold
  // a kernel, reads the prose instead.
  absl::Status ReadFenced(const std::string& text, const std::vector<FencedBlock>& blocks,
                          const Place& place) {
    bool found = false;
    for (const BlockLanguage language :
         {BlockLanguage::kPython, BlockLanguage::kCuda, BlockLanguage::kUnnamed}) {
      const std::string inside = InsideFences(text, blocks, language);
      if (!MayHoldCode(inside)) continue;
      found = true;
      RETURN_IF_ERROR(language == BlockLanguage::kCuda
                          ? ReadCuda(inside, place)
                          : ReadBlocks(text, inside, blocks, language, place));
    }
    return found ? absl::OkStatus() : ReadText(OutsideFences(text, blocks), place);
  }

  // Reads all blocks of a language as one program. If that is no valid program, reads each block by
  // itself, unless there are very many.
  absl::Status ReadBlocks(const std::string& text, const std::string& inside,
                          const std::vector<FencedBlock>& blocks, BlockLanguage language,
                          const Place& place) {
    // Each block is one more parse, which the file's budget pays for.
    constexpr size_t kMostAlone = 16;
    if (blocks.size() > kMostAlone) return ReadText(inside, place);
    absl::StatusOr<Findings> together = FindIn(inside, CodeLanguage::kPython);
    if (together.ok() && together->is_python) {
      Adopt(place, *together);
      return absl::OkStatus();
    }
    if (!together.ok()) {
      if (!absl::IsResourceExhausted(together.status())) return together.status();
      ASSIGN_OR_RETURN(const bool is_python, IsPython(inside));
      if (is_python) return together.status();
    }
    for (const FencedBlock& block : blocks) {
      if (block.language != language) continue;
      RETURN_IF_ERROR(ReadText(InsideFences(text, {block}, language), place));
    }
    return absl::OkStatus();
  }

  // Reads a text without fences as Python, with and without prose, and then as CUDA.
  absl::Status ReadText(const std::string& text, const Place& place) {
    if (!MayHoldCode(text)) return absl::OkStatus();
    ASSIGN_OR_RETURN(Findings python, FindIn(text, CodeLanguage::kPython));
    if (!python.is_python) {
      // Prose can hide kernels from the parser, but blanking it out can hide kernels in broken
      // code. The way that finds more kernels is used.
      if (text.size() <= kMostProse) {
        ASSIGN_OR_RETURN(Findings bare, FindIn(WithoutProse(text), CodeLanguage::kPython));
        if (bare.shard.kernels_size() > python.shard.kernels_size()) python = std::move(bare);
      }
      if (python.shard.kernels().empty() && MayHoldCuda(text)) return ReadCuda(text, place);
    }
    Adopt(place, python);
    return absl::OkStatus();
  }

  absl::Status ReadCuda(const std::string& text, const Place& place) {
    ASSIGN_OR_RETURN(Findings cuda, FindIn(text, CodeLanguage::kCuda));
    Adopt(place, cuda);
    return absl::OkStatus();
  }

  // Returns whether a text is Python without errors. A text that exceeds the parser's bounds is
  // not.
  absl::StatusOr<bool> IsPython(absl::string_view text) {
    const auto parsed = ParsedText::Parse(text, parser_);
    if (parsed.ok()) return !(*parsed)->has_errors();
    if (absl::IsResourceExhausted(parsed.status())) return false;
    return parsed.status();
  }

  // The result of reading a text in one way. A way that is not taken leaves nothing behind: each
  // way fills a shard of its own, and Adopt() takes one over.
  struct Findings {
    v1::ExtractedFile entry;
    v1::KernelShard shard;
    bool is_python = false;  // without errors
  };

  // Every way costs bytes of the file's budget: the parser counts what it parses, and CUDA is
  // counted here.
  absl::StatusOr<Findings> FindIn(const std::string& text, CodeLanguage language) {
    v1::SourceFile code;
    code.set_path(path_);
    code.set_content(text);
    Findings found;
    RETURN_IF_ERROR(ExtractCode(code, language, {parser_, options_}, found.entry, found.shard));
    if (language == CodeLanguage::kCuda) {
      parser_.Spend(text.size());
    } else if (MayHoldKernels(text)) {
      // Errors of the text itself have a line; those of strings in it do not.
      found.is_python = found.entry.first_error_line() == 0;
    } else {  // ExtractCode did not parse it
      ASSIGN_OR_RETURN(found.is_python, IsPython(text));
    }
    return absl::StatusOr<Findings>(std::move(found));
  }

  // Takes kernels and definitions over into the shard. Names for other files are dropped, because a
  // string is no file of the source. Parse errors count for the file only if there are kernels.
  void Adopt(const Place& place, Findings& found) {
    const v1::ExtractedFile& entry = found.entry;
    for (v1::Kernel& kernel : *found.shard.mutable_kernels()) {
      if (!IsSpan(kernel, place.text)) {
        Skip(place.line, "across_fences");
        continue;
      }
      kernel.set_json_pointer(place.pointer);
      kernel.set_string_begin(kernel.string_begin() + static_cast<int64_t>(place.begin));
      *shard_.add_kernels() = std::move(kernel);
      entry_.set_kernels(entry_.kernels() + 1);
    }
    for (v1::Definition& definition : *found.shard.mutable_definitions()) {
      definition.set_string_begin(definition.string_begin() + static_cast<int64_t>(place.begin));
      *shard_.add_definitions() = std::move(definition);
    }
    if (entry.parse_errors() && entry.kernels() > 0) SetParseError(place.line);
    for (const v1::SkippedString& skipped : entry.skipped_strings()) {
      Skip(place.line, skipped.reason());
    }
  }

  const std::string& path_;
  const absl::string_view text_;
  BudgetedParser parser_;
  const ExtractOptions& options_;
  const LineIndex lines_;
  v1::ExtractedFile& entry_;
  v1::KernelShard& shard_;
  size_t strings_ = 0;  // number of strings that may hold kernels
  bool ended_ = false;  // the rest is not read
};

}  // namespace

absl::Status ExtractJsonFile(const v1::SourceFile& source, const PythonParser& parser,
                             const ExtractOptions& options, v1::KernelShard& shard) {
  v1::ExtractedFile& entry = ListFile(source, shard);
  if (source.content().size() > options.max_json_bytes) {
    entry.set_failed("too_large");
    return absl::OkStatus();
  }
  return Annotate(JsonFileExtractor(source, parser, options, entry, shard).Run(), source.path());
}

}  // namespace kernelmill::extractor
