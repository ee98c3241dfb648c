#include "services/extractor/core/extract/file_extractor.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/text_lines.h"
#include "services/extractor/core/describe/autotune.h"
#include "services/extractor/core/describe/definitions.h"
#include "services/extractor/core/describe/inductor_origin.h"
#include "services/extractor/core/describe/kernel_references.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/describe/launcher.h"
#include "services/extractor/core/describe/parameters.h"
#include "services/extractor/core/detect/functions.h"
#include "services/extractor/core/detect/generated_strings.h"
#include "services/extractor/core/detect/templates.h"
#include "services/extractor/core/extract/extract_file.h"
#include "services/extractor/core/link/imported_launches.h"

namespace kernelmill::extractor {
namespace {

// How much text is kept of the functions; that of one text may lie in one another.
size_t KeptBytes(const ParsedText& text, const std::vector<JitFunction>& functions) {
  const SyntaxTree& tree = text.tree();
  size_t sum = 0;
  for (const JitFunction& function : functions) {
    sum += text.lines().End(function.last_line) - text.lines().Begin(function.first_line);
    if (function.applied_by == kNoNode) continue;
    const NodeId statement = StatementAround(tree, function.applied_by);
    sum += tree[statement].end - tree[statement].start;
  }
  return sum;
}

// The kernels and the candidates, in the order of the text.
std::vector<JitFunction> AllOf(const FoundFunctions& found) {
  std::vector<JitFunction> all = found.kernels;
  all.insert(all.end(), found.candidates.begin(), found.candidates.end());
  std::sort(all.begin(), all.end(),
            [](const JitFunction& a, const JitFunction& b) { return a.decorated < b.decorated; });
  return all;
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

void AddJitNames(absl::string_view path, const std::vector<v1::JitName>& names,
                 v1::KernelShard& shard) {
  for (const v1::JitName& name : names) {
    v1::JitName& added = *shard.add_jit_names();
    added = name;
    added.set_path(std::string(path));
  }
}

void AddLaunches(const ParsedFile& file, const Launches& launches, v1::KernelShard& shard) {
  for (v1::ImportedLaunch& launch : FindImportedLaunches(file, launches)) {
    *shard.add_launches() = std::move(launch);
  }
}

bool MayLaunch(absl::string_view text) {
  return Contains(text, "](") || Contains(text, ".run(") || Contains(text, "launch");
}

// Whether a file without kernels may re-export what others make kernels with: wrappers, or the
// packages that have the jit.
bool MayReexportWrappers(absl::string_view text) {
  return Contains(text, "jit") || Contains(text, "triton") || Contains(text, "gluon") ||
         Contains(text, "import *");
}

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

  absl::Status Run() {
    if (text_.size() > options_.max_file_bytes) return absl::ResourceExhaustedError("too_large");
    if (IsTemplateFile(path_, text_)) {
      const LineIndex lines(text_);
      AddTemplate(lines, TemplateOfFile(path_, lines));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::unique_ptr<const ParsedText> file,
                     ParsedText::Parse(text_, parser_));
    if (file->has_errors()) {
      entry_.set_parse_errors(true);
      entry_.set_first_error_line(file->first_error_line());
    }
    const FoundFunctions functions = FindFunctions(*file);
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
    Add(*file, functions, IsGenerated(functions.kernels) ? &origin : nullptr, nullptr);
    AddNames(functions);
    const std::vector<KernelTemplate> templates = FindTemplates(*file);
    for (const KernelTemplate& found : templates) AddTemplate(file->lines(), found);
    LabelEmittedCode(*file, strings, templates);
    for (const GeneratedString& string : strings) {
      RETURN_IF_ERROR(AddString(*file, string, origin));
    }
    return absl::OkStatus();
  }

 private:
  // What does not stand for kernels of this file: names for other files, and other DSLs.
  void AddNames(const FoundFunctions& found) {
    AddJitNames(path_, found.names, shard_);
    for (const auto& [name, functions] : found.other_dsls) {
      v1::OtherDsl& dsl = *entry_.add_other_dsls();
      dsl.set_name(name);
      dsl.set_functions(functions);
    }
  }

  void AddTemplate(const LineIndex& lines, const KernelTemplate& found) {
    *shard_.add_kernels() = DescribeTemplate(path_, text_, lines, found);
    entry_.set_kernels(entry_.kernels() + 1);
  }

  // But for what is extracted, or listed, as a source handed on.
  void LabelEmittedCode(const ParsedText& file, const std::vector<GeneratedString>& strings,
                        const std::vector<KernelTemplate>& templates) {
    absl::flat_hash_set<int> known;
    for (const GeneratedString& string : strings) known.insert(string.line);
    for (const KernelTemplate& found : templates) known.insert(found.first_line);
    for (const int line : FindEmittedCode(file)) {
      if (!known.contains(line)) Skip(line, "emitted");
    }
  }

  absl::string_view ContentOf(const GeneratedString& string) const {
    return text_.substr(string.begin, string.end - string.begin);
  }

  absl::Status CheckOverlap(const ParsedText& text, const FoundFunctions& functions) const {
    const size_t limit = options_.max_overlap * text.text().size();
    const size_t kept = KeptBytes(text, functions.kernels) + KeptBytes(text, functions.candidates);
    if (kept <= limit) return absl::OkStatus();
    return absl::ResourceExhaustedError("nested_kernels");
  }

  void Skip(int line, absl::string_view reason) {
    v1::SkippedString& skipped = *entry_.add_skipped_strings();
    skipped.set_line(line);
    skipped.set_reason(std::string(reason));
  }

  absl::Status AddString(const ParsedText& file, const GeneratedString& string,
                         v1::InductorOrigin origin) {
    if (!string.verbatim) {
      Skip(string.line, "not_verbatim");
      return absl::OkStatus();
    }
    AddOriginFromComments(text_, file.lines(), string.statement_line, origin);
    const absl::Status added = ReadString(file, string, origin);
    if (!absl::IsResourceExhausted(added)) return added;
    Skip(string.line, added.message());
    return absl::OkStatus();
  }

  absl::Status ReadString(const ParsedText& file, const GeneratedString& string,
                          const v1::InductorOrigin& origin) {
    ASSIGN_OR_RETURN(const std::unique_ptr<const ParsedText> inner,
                     ParsedText::Parse(ContentOf(string), parser_));
    if (inner->has_errors()) entry_.set_parse_errors(true);
    FoundFunctions found = FindFunctions(*inner);
    found.candidates.clear();  // what a string imports is no file of the repository
    RETURN_IF_ERROR(CheckOverlap(*inner, found));
    std::vector<JitFunction>& functions = found.kernels;
    const Place place = {static_cast<int64_t>(string.begin), file.lines().LineAt(string.begin) - 1};
    const auto shared = std::remove_if(
        functions.begin(), functions.end(),
        [&](const JitFunction& function) { return !OwnsItsLines(*inner, function); });
    if (shared != functions.end()) Skip(string.line, "shared_line");
    functions.erase(shared, functions.end());
    for (JitFunction& function : functions) function.form = v1::KERNEL_FORM_STRING;
    Add(*inner, found, &origin, &place);
    return absl::OkStatus();
  }

  // Where a string's content stands in the file: before it are so many bytes and line ends.
  struct Place {
    int64_t bytes;
    int lines;
  };

  // Adds the text's kernels, candidates and definitions; `origin` and `place` are null where they
  // do not apply.
  void Add(const ParsedText& parsed, const FoundFunctions& found, const v1::InductorOrigin* origin,
           const Place* place) {
    const std::vector<JitFunction> functions = AllOf(found);
    const Wanted wanted =
        place == nullptr && IsModule(path_) ? Wanted::kImportable : Wanted::kUsedByKernels;
    if (functions.empty() && wanted == Wanted::kUsedByKernels) return;
    const Bindings bindings(parsed.tree());
    const ParsedFile text = {path_,          parsed.text(),    parsed.tree(),
                             parsed.lines(), parsed.imports(), parsed.calls(),
                             bindings};
    const KernelReferences references(text.tree, functions);
    const Launches launches(text.text, text.tree, text.lines, text.calls, references, functions);
    std::vector<v1::Kernel> kernels = Describe(text, functions, references, launches);
    for (size_t i = 0; i < functions.size(); ++i) {
      v1::Kernel& kernel = kernels[i];
      if (origin != nullptr) *kernel.mutable_inductor() = *origin;
      if (place != nullptr) {
        kernel.set_first_byte(kernel.first_byte() + place->bytes);
        Move(*place, kernel);
        if (kernel.applied_line() > 0)
          kernel.set_applied_line(kernel.applied_line() + place->lines);
        if (kernel.has_launcher()) MoveLines(*place, *kernel.mutable_launcher());
      }
      Keep(functions[i], std::move(kernel));
    }
    if (place == nullptr) AddLaunches(text, launches, shard_);
    for (v1::Definition& described : DefinitionsFor(text, functions, wanted)) {
      v1::Definition& definition = *shard_.add_definitions();
      definition = std::move(described);
      if (place == nullptr) continue;
      Move(*place, definition);
      if (definition.block_first_line() == 0) continue;
      definition.set_block_first_line(definition.block_first_line() + place->lines);
      definition.set_block_last_line(definition.block_last_line() + place->lines);
    }
  }

  static std::vector<v1::Kernel> Describe(const ParsedFile& text,
                                          const std::vector<JitFunction>& functions,
                                          const KernelReferences& references,
                                          const Launches& launches) {
    FeatureFinder features(text.tree, text.imports);
    const ParameterRoles parameters(text, references, functions);
    TuningReader tuning(text);
    std::vector<v1::Kernel> kernels;
    for (const JitFunction& function : functions) {
      kernels.push_back(DescribeKernel(text, function, launches, parameters, features, tuning));
    }
    const absl::flat_hash_set<std::string> used = UsedByOthers(kernels);
    NodeId outer_end = 0;  // of the kernel around; the functions are in the order of the text
    for (size_t i = 0; i < functions.size(); ++i) {
      const NodeId definition = functions[i].definition;
      const bool in_kernel = definition < outer_end;
      if (!in_kernel) outer_end = text.tree[definition].subtree_end;
      const bool launched = launches.IsLaunched(definition);
      kernels[i].set_role(RoleOf(kernels[i], launched, in_kernel, used));
    }
    return kernels;
  }

  void Keep(const JitFunction& function, v1::Kernel kernel) {
    if (function.imported_decorators.empty()) {
      *shard_.add_kernels() = std::move(kernel);
      entry_.set_kernels(entry_.kernels() + 1);
      return;
    }
    v1::Candidate& candidate = *shard_.add_candidates();
    *candidate.mutable_kernel() = std::move(kernel);
    for (const std::string& decorator : function.imported_decorators) {
      candidate.add_decorators(decorator);
    }
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

}  // namespace

absl::Status AddPythonKernels(const v1::SourceFile& source, const PythonParser& parser,
                              const ExtractOptions& options, v1::ExtractedFile& entry,
                              v1::KernelShard& shard) {
  return FileExtractor(source, parser, options, entry, shard).Run();
}

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
  const ParsedFile text = {source.path(),    parsed.text(),  parsed.tree(), parsed.lines(),
                           parsed.imports(), parsed.calls(), bindings};
  for (v1::Definition& definition : DefinitionsFor(text, {}, Wanted::kImportable)) {
    *shard.add_definitions() = std::move(definition);
  }
  if (MayReexportWrappers(source.content())) {
    AddJitNames(source.path(), FindFunctions(parsed).names, shard);
  }
  if (MayLaunch(source.content())) {
    const KernelReferences references(text.tree, {});
    AddLaunches(text, Launches(text.text, text.tree, text.lines, text.calls, references, {}),
                shard);
  }
  return absl::OkStatus();
}

}  // namespace kernelmill::extractor
