#include "services/extractor/core/extract.h"

#include <string.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/extractor/core/bindings.h"
#include "services/extractor/core/bracket_repair.h"
#include "services/extractor/core/definitions.h"
#include "services/extractor/core/functions.h"
#include "services/extractor/core/imports.h"
#include "services/extractor/core/kernels.h"
#include "services/extractor/core/text_lines.h"

namespace kernelmill::extractor {
namespace {

constexpr size_t kMaxReason = 64;

bool Contains(absl::string_view text, absl::string_view word) {
  return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

// Whether the kernels' spans stay within bounds together; those of one file may lie in one another.
bool OverlapInBounds(const LineIndex& lines, const std::vector<JitFunction>& functions,
                     size_t limit) {
  size_t sum = 0;
  for (const JitFunction& function : functions) {
    sum += lines.End(function.last_line) - lines.Begin(function.first_line);
  }
  return sum <= limit;
}

void ExtractParsed(const ParsedFile& file, const std::vector<JitFunction>& functions,
                   v1::ExtractedFile& entry, v1::KernelShard& shard) {
  const absl::flat_hash_set<std::string> launched = LaunchedNames(file.tree);
  for (const JitFunction& function : functions) {
    *shard.add_kernels() = DescribeKernel(file, function, launched);
  }
  for (v1::Definition& definition : DefinitionsFor(file, functions)) {
    *shard.add_definitions() = std::move(definition);
  }
  entry.set_kernels(static_cast<int32_t>(functions.size()));
}

// What can be said of a file without looking into it.
v1::ExtractedFile& NameFile(const v1::SourceFile& source, v1::KernelShard& shard) {
  v1::ExtractedFile& entry = *shard.add_files();
  entry.set_path(source.path());
  entry.set_size_bytes(static_cast<int64_t>(source.content().size()));
  entry.set_sha256(Sha256Hex(source.content()));
  return entry;
}

v1::ExtractedFile& AddEntry(const v1::SourceFile& source, v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  v1::ExtractedFile& entry = NameFile(source, shard);
  entry.set_lines(static_cast<int32_t>(CountLines(text)));
  entry.set_has_triton_jit(Contains(text, "@triton.jit"));
  return entry;
}

// Parses `text`, or what `copy` is then set to: the same text made fit for the parser.
absl::StatusOr<SyntaxTree> ParseTolerantly(absl::string_view text, const PythonParser& parser,
                                           std::optional<std::string>& copy,
                                           v1::ExtractedFile& entry) {
  copy = TextForParser(text);
  ASSIGN_OR_RETURN(SyntaxTree tree, parser.Parse(copy ? absl::string_view(*copy) : text));
  if (!tree.has_errors()) return tree;
  entry.set_parse_errors(true);
  std::optional<std::string> repaired = ReplaceUnclosedBrackets(tree.text());
  if (!repaired) return tree;
  copy = std::move(repaired);
  return parser.Parse(*copy);
}

absl::Status ExtractFile(const v1::SourceFile& source, const PythonParser& parser,
                         const ExtractOptions& options, v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  v1::ExtractedFile& entry = AddEntry(source, shard);
  if (!MayHoldKernels(text)) return absl::OkStatus();
  if (text.size() > options.max_file_bytes) {
    entry.set_failed("too_large");
    return absl::OkStatus();
  }
  std::optional<std::string> copy;
  const auto tree = ParseTolerantly(text, parser, copy, entry);
  if (tree.status().code() == absl::StatusCode::kResourceExhausted) {
    entry.set_failed(std::string(tree.status().message()));
    return absl::OkStatus();
  }
  if (!tree.ok()) return Annotate(tree.status(), source.path());
  const LineIndex lines(text);
  const ImportMap imports(*tree);
  const std::vector<JitFunction> functions = FindJitFunctions(*tree, imports, lines);
  if (functions.empty()) return absl::OkStatus();
  if (!OverlapInBounds(lines, functions, options.max_overlap * text.size())) {
    entry.set_failed("nested_kernels");
    return absl::OkStatus();
  }
  const Bindings bindings(*tree);
  ExtractParsed({source.path(), text, *tree, lines, imports, bindings}, functions, entry, shard);
  return absl::OkStatus();
}

std::vector<const v1::SourceFile*> SortedByPath(const v1::FileShard& files) {
  std::vector<const v1::SourceFile*> sorted;
  for (const v1::SourceFile& file : files.files()) sorted.push_back(&file);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->path() < b->path(); });
  return sorted;
}

absl::StatusOr<std::vector<const v1::SourceFile*>> FilesOf(const v1::FileShard& files,
                                                           const Piece& piece) {
  const int size = files.files_size();
  if (piece.first < 0 || piece.count < 1 || piece.first > size ||
      piece.count > size - piece.first) {
    return absl::InvalidArgumentError(absl::StrCat(piece.count, " files from ", piece.first,
                                                   " on are no piece of a shard of ", size));
  }
  const std::vector<const v1::SourceFile*> sorted = SortedByPath(files);
  const auto begin = sorted.begin() + piece.first;
  return std::vector<const v1::SourceFile*>(begin, begin + piece.count);
}

// Stable, so that sorting the pieces and then all of them is the same as sorting all at once, even
// where two files of a hostile tree share a path.
void SortKernels(v1::KernelShard& shard) {
  std::stable_sort(shard.mutable_kernels()->begin(), shard.mutable_kernels()->end(),
                   [](const v1::Kernel& a, const v1::Kernel& b) {
                     if (a.path() != b.path()) return a.path() < b.path();
                     return a.first_line() < b.first_line();
                   });
}

absl::StatusOr<v1::KernelShard> ExtractFiles(const std::vector<const v1::SourceFile*>& sorted,
                                             const PythonParser& parser,
                                             const ExtractOptions& options) {
  v1::KernelShard shard;
  for (const v1::SourceFile* file : sorted) {
    RETURN_IF_ERROR(ExtractFile(*file, parser, options, shard));
  }
  SortKernels(shard);
  return shard;
}

// Of letters a to z, digits and '_': it becomes part of a counter's name.
bool IsReasonWord(absl::string_view reason) {
  return !reason.empty() && reason.size() <= kMaxReason &&
         std::all_of(reason.begin(), reason.end(), [](char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_';
         });
}

}  // namespace

bool MayHoldKernels(absl::string_view text) {
  // A decorator counts if it ends in jit or JITFunction once its names are resolved.
  return (Contains(text, "jit") || Contains(text, "JITFunction")) &&
         (Contains(text, "triton") || Contains(text, "gluon"));
}

absl::StatusOr<v1::KernelShard> ExtractKernels(const v1::FileShard& files,
                                               const PythonParser& parser,
                                               const ExtractOptions& options) {
  return ExtractFiles(SortedByPath(files), parser, options);
}

absl::StatusOr<v1::KernelShard> ExtractPiece(const v1::FileShard& files, const Piece& piece,
                                             const PythonParser& parser,
                                             const ExtractOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<const v1::SourceFile*> chosen, FilesOf(files, piece));
  return ExtractFiles(chosen, parser, options);
}

absl::StatusOr<v1::KernelShard> SetAside(const v1::FileShard& files, const Piece& piece,
                                         const std::string& reason) {
  if (!IsReasonWord(reason)) {
    return absl::InvalidArgumentError(
        absl::StrCat(JsonString(reason), " is not a word for why files failed"));
  }
  ASSIGN_OR_RETURN(const std::vector<const v1::SourceFile*> chosen, FilesOf(files, piece));
  v1::KernelShard shard;
  for (const v1::SourceFile* file : chosen) NameFile(*file, shard).set_failed(reason);
  return shard;
}

void JoinPieces(v1::KernelShard next, v1::KernelShard& shard) {
  for (v1::ExtractedFile& file : *next.mutable_files()) *shard.add_files() = std::move(file);
  for (v1::Kernel& kernel : *next.mutable_kernels()) *shard.add_kernels() = std::move(kernel);
  for (v1::Definition& definition : *next.mutable_definitions()) {
    *shard.add_definitions() = std::move(definition);
  }
  SortKernels(shard);
}

}  // namespace kernelmill::extractor
