#include "services/extractor/core/extract_file.h"

#include <string.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "services/extractor/core/bindings.h"
#include "services/extractor/core/definitions.h"
#include "services/extractor/core/functions.h"
#include "services/extractor/core/generated_strings.h"
#include "services/extractor/core/inductor_origin.h"
#include "services/extractor/core/kernels.h"
#include "services/extractor/core/parsed_text.h"
#include "services/extractor/core/text_lines.h"

namespace kernelmill::extractor {
namespace {

bool Contains(absl::string_view text, absl::string_view word) {
  return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

// Whether the kernels' spans stay within bounds together; those of one text may lie in one another.
bool OverlapInBounds(const LineIndex& lines, const std::vector<JitFunction>& functions,
                     size_t limit) {
  size_t sum = 0;
  for (const JitFunction& function : functions) {
    sum += lines.End(function.last_line) - lines.Begin(function.first_line);
  }
  return sum <= limit;
}

bool IsGenerated(const std::vector<JitFunction>& functions) {
  return std::any_of(functions.begin(), functions.end(),
                     [](const JitFunction& function) { return function.generated; });
}

// Whether all of the function's lines are the string's alone: not its first, which begins with the
// quotes, nor a last one without a line end, which ends with them.
bool OwnsItsLines(const ParsedText& string, const JitFunction& function) {
  const char last = string.text()[string.lines().End(function.last_line) - 1];
  return function.first_line > 1 && (last == '\n' || last == '\r');
}

// Whether other files can import it.
bool IsModule(absl::string_view path) { return absl::EndsWith(path, ".py"); }

class FileExtractor {
 public:
  FileExtractor(const v1::SourceFile& source, const PythonParser& parser,
                const ExtractOptions& options, v1::ExtractedFile& entry, v1::KernelShard& shard)
      : path_(source.path()),
        text_(source.content()),
        parser_(parser),
        options_(options),
        entry_(entry),
        shard_(shard) {}

  // RESOURCE_EXHAUSTED: the file is not to be extracted; the message is the reason.
  absl::Status Run() {
    if (text_.size() > options_.max_file_bytes) return absl::ResourceExhaustedError("too_large");
    ASSIGN_OR_RETURN(const std::unique_ptr<const ParsedText> file,
                     ParsedText::Parse(text_, parser_));
    if (file->has_errors()) entry_.set_parse_errors(true);
    const std::vector<JitFunction> functions = Functions(*file);
    RETURN_IF_ERROR(CheckOverlap(*file, functions));
    std::vector<GeneratedString> strings = FindGeneratedStrings(*file);
    strings.erase(std::remove_if(strings.begin(), strings.end(),
                                 [this](const GeneratedString& string) {
                                   return !MayHoldKernels(ContentOf(string));
                                 }),
                  strings.end());
    if (strings.size() > options_.max_strings) {
      return absl::ResourceExhaustedError("too_many_strings");
    }
    const v1::InductorOrigin origin = OriginFromPath(path_);
    Add(*file, functions, IsGenerated(functions) ? &origin : nullptr, nullptr);
    for (const GeneratedString& string : strings) {
      RETURN_IF_ERROR(AddString(*file, string, origin));
    }
    return absl::OkStatus();
  }

 private:
  static std::vector<JitFunction> Functions(const ParsedText& text) {
    return FindJitFunctions(text.tree(), text.imports(), text.lines());
  }

  absl::string_view ContentOf(const GeneratedString& string) const {
    return text_.substr(string.begin, string.end - string.begin);
  }

  absl::Status CheckOverlap(const ParsedText& text,
                            const std::vector<JitFunction>& functions) const {
    const size_t limit = options_.max_overlap * text.text().size();
    if (OverlapInBounds(text.lines(), functions, limit)) return absl::OkStatus();
    return absl::ResourceExhaustedError("nested_kernels");
  }

  void Skip(const GeneratedString& string, absl::string_view reason) {
    v1::SkippedString& skipped = *entry_.add_skipped_strings();
    skipped.set_line(string.line);
    skipped.set_reason(std::string(reason));
  }

  absl::Status AddString(const ParsedText& file, const GeneratedString& string,
                         v1::InductorOrigin origin) {
    if (!string.verbatim) {
      Skip(string, "not_verbatim");
      return absl::OkStatus();
    }
    AddOriginFromComments(text_, file.lines(), string.statement_line, origin);
    const absl::Status added = ReadString(file, string, origin);
    if (!absl::IsResourceExhausted(added)) return added;
    Skip(string, added.message());
    return absl::OkStatus();
  }

  absl::Status ReadString(const ParsedText& file, const GeneratedString& string,
                          const v1::InductorOrigin& origin) {
    ASSIGN_OR_RETURN(const std::unique_ptr<const ParsedText> inner,
                     ParsedText::Parse(ContentOf(string), parser_));
    if (inner->has_errors()) entry_.set_parse_errors(true);
    std::vector<JitFunction> functions = Functions(*inner);
    RETURN_IF_ERROR(CheckOverlap(*inner, functions));
    const Place place = {static_cast<int64_t>(string.begin), file.lines().LineOf(string.begin) - 1};
    const auto shared = std::remove_if(
        functions.begin(), functions.end(),
        [&](const JitFunction& function) { return !OwnsItsLines(*inner, function); });
    if (shared != functions.end()) Skip(string, "shared_line");
    functions.erase(shared, functions.end());
    Add(*inner, functions, &origin, &place);
    return absl::OkStatus();
  }

  // Where a string's content stands in the file: before it are so many bytes and line ends.
  struct Place {
    int64_t bytes;
    int lines;
  };

  // Adds the text's kernels and definitions; `origin` and `place` are null where they do not apply.
  void Add(const ParsedText& parsed, const std::vector<JitFunction>& functions,
           const v1::InductorOrigin* origin, const Place* place) {
    const Wanted wanted =
        place == nullptr && IsModule(path_) ? Wanted::kImportable : Wanted::kUsedByKernels;
    if (functions.empty() && wanted == Wanted::kUsedByKernels) return;
    const Bindings bindings(parsed.tree());
    const ParsedFile text = {path_,          parsed.text(),    parsed.tree(),
                             parsed.lines(), parsed.imports(), bindings};
    const Launches launches(parsed.text(), parsed.tree(), parsed.lines(), functions);
    for (const JitFunction& function : functions) {
      v1::Kernel& kernel = *shard_.add_kernels();
      kernel = DescribeKernel(text, function, launches);
      if (origin != nullptr) *kernel.mutable_inductor() = *origin;
      if (place == nullptr) continue;
      kernel.set_first_byte(kernel.first_byte() + place->bytes);
      Move(*place, kernel);
      if (kernel.has_launcher()) MoveLines(*place, *kernel.mutable_launcher());
    }
    for (v1::Definition& found : DefinitionsFor(text, functions, wanted)) {
      v1::Definition& definition = *shard_.add_definitions();
      definition = std::move(found);
      if (place == nullptr) continue;
      Move(*place, definition);
      if (definition.block_first_line() == 0) continue;
      definition.set_block_first_line(definition.block_first_line() + place->lines);
      definition.set_block_last_line(definition.block_last_line() + place->lines);
    }
    entry_.set_kernels(entry_.kernels() + static_cast<int32_t>(functions.size()));
  }

  template <typename Span>
  static void Move(const Place& place, Span& span) {
    span.set_string_begin(place.bytes);
    MoveLines(place, span);
  }

  template <typename Span>
  static void MoveLines(const Place& place, Span& span) {
    span.set_first_line(span.first_line() + place.lines);
    span.set_last_line(span.last_line() + place.lines);
  }

  const absl::string_view path_;
  const absl::string_view text_;
  const PythonParser& parser_;
  const ExtractOptions& options_;
  v1::ExtractedFile& entry_;
  v1::KernelShard& shard_;
};

// What a file without kernels has for those of other files. One that cannot be read within bounds
// has nothing: no kernel is lost with it.
absl::Status AddImportable(const v1::SourceFile& source, const PythonParser& parser,
                           const ExtractOptions& options, v1::KernelShard& shard) {
  if (!IsModule(source.path()) || source.content().size() > options.max_file_bytes) {
    return absl::OkStatus();
  }
  const auto file = ParsedText::Parse(source.content(), parser);
  if (!file.ok()) {
    if (absl::IsResourceExhausted(file.status())) return absl::OkStatus();
    return Annotate(file.status(), source.path());
  }
  const ParsedText& parsed = **file;
  const Bindings bindings(parsed.tree());
  const ParsedFile text = {source.path(),  parsed.text(),    parsed.tree(),
                           parsed.lines(), parsed.imports(), bindings};
  for (v1::Definition& definition : DefinitionsFor(text, {}, Wanted::kImportable)) {
    *shard.add_definitions() = std::move(definition);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExtractFile(const v1::SourceFile& source, const PythonParser& parser,
                         const ExtractOptions& options, v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  v1::ExtractedFile& entry = NameFile(source, shard);
  entry.set_lines(static_cast<int32_t>(CountLines(text)));
  entry.set_has_triton_jit(Contains(text, "@triton.jit"));
  if (!MayHoldKernels(text)) return AddImportable(source, parser, options, shard);
  const absl::Status done = FileExtractor(source, parser, options, entry, shard).Run();
  if (!absl::IsResourceExhausted(done)) return Annotate(done, source.path());
  entry.set_failed(std::string(done.message()));
  return absl::OkStatus();
}

v1::ExtractedFile& NameFile(const v1::SourceFile& source, v1::KernelShard& shard) {
  v1::ExtractedFile& entry = *shard.add_files();
  entry.set_path(source.path());
  entry.set_size_bytes(static_cast<int64_t>(source.content().size()));
  entry.set_sha256(Sha256Hex(source.content()));
  return entry;
}

bool MayHoldKernels(absl::string_view text) {
  // A decorator counts if it ends in jit or JITFunction once its names are resolved.
  return (Contains(text, "jit") || Contains(text, "JITFunction")) &&
         (Contains(text, "triton") || Contains(text, "gluon"));
}

}  // namespace kernelmill::extractor
