#include "services/extractor/core/extract/extract_file.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/dsl/usual_imports.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/bindings.h"
#include "common/python/syntax/text_lines.h"
#include "services/extractor/core/cuda/cuda_kernels.h"
#include "services/extractor/core/cuda/string_kernels.h"
#include "services/extractor/core/describe/autotune.h"
#include "services/extractor/core/describe/definitions.h"
#include "services/extractor/core/describe/inductor_origin.h"
#include "services/extractor/core/describe/kernel_references.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/describe/launcher.h"
#include "services/extractor/core/describe/parameters.h"
#include "services/extractor/core/detect/file_values.h"
#include "services/extractor/core/detect/functions.h"
#include "services/extractor/core/detect/generated_strings.h"
#include "services/extractor/core/detect/templates.h"
#include "services/extractor/core/link/imported_launches.h"

namespace kernelmill::extractor {

// Reads one file of Python or CUDA. A Python file takes one of three ways: a file that may hold
// kernels is read by FileExtractor; one that cannot, by AddImportable, for the definitions,
// wrappers and launches that other files may need; one beyond a bound is listed with the reason.
// The tests for the first way search for a few byte strings, because most files hold no kernel.
//
// The records of a string that TorchInductor runs are made as those of a file, and then moved to
// the string's place in the file.

using python::Bindings;
using python::Kind;
using python::kNoNode;
using python::NodeId;
using python::ParsedText;
using python::SyntaxTree;

namespace {

// Returns how much text the records of the functions will hold. Functions may lie in one another.
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

// Returns the kernels and the candidates in the order of the text.
std::vector<JitFunction> JoinFunctions(const FoundFunctions& found) {
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

// Returns whether all of the function's lines belong to the string alone. The string's first line
// has the opening quotes on it, and a last line without a line end has the closing quotes.
bool OwnsItsLines(const ParsedText& string, const JitFunction& function) {
  const char last = string.text()[string.lines().End(function.last_line) - 1];
  return function.first_line > 1 && (last == '\n' || last == '\r');
}

// Returns whether other files can import the file.
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

// Returns whether a function, without those in it, returns a value.
bool ReturnsValue(const KernelReferences& references, const SyntaxTree& tree, NodeId function) {
  for (const NodeId statement : tree.Of(Kind::kReturnStatement, function)) {
    const bool own = references.FunctionAround(statement) == function;
    if (own && FirstExpression(tree, statement) != kNoNode) return true;
  }
  return false;
}

// Returns whether a file may launch a kernel that it imports. Cheap, as the next function is: most
// files are answered by a search for bytes.
bool MayLaunch(absl::string_view text) {
  return Contains(text, "](") || Contains(text, ".run(") || Contains(text, "launch") ||
         Contains(text, ".forall(");
}

// Returns whether a file without kernels may re-export wrappers, or packages with a jit, to other
// files.
bool MayReexportWrappers(absl::string_view text) {
  return Contains(text, "jit") || Contains(text, "triton") || Contains(text, "gluon") ||
         Contains(text, "import *");
}

// Extracts one Python file: its own kernels first, then templates, then the strings that
// TorchInductor runs, each read as a file of its own, then the strings of CUDA. Refers to its
// arguments.
class FileExtractor {
 public:
  FileExtractor(const v1::SourceFile& source, const CodeReader& reader, v1::ExtractedFile& entry,
                v1::KernelShard& shard)
      : path_(source.path()),
        text_(source.content()),
        parser_(reader.parser),
        options_(reader.options),
        in_prose_(reader.in_prose),
        entry_(entry),
        shard_(shard) {}

  // Bounds are checked before anything is added to the shard, so that a file that fails leaves
  // nothing behind; except for strings, which fail one by one.
  absl::Status Run() {
    if (text_.size() > options_.max_file_bytes) return absl::ResourceExhaustedError("too_large");
    if (IsTemplateFile(path_, text_)) {
      const LineIndex lines(text_);
      AddTemplate(lines, MakeFileTemplate(path_, lines));
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::unique_ptr<const ParsedText> file,
                     ParsedText::Parse(text_, parser_, GetAssumedImports()));
    if (file->has_errors()) {
      entry_.set_parse_errors(true);
      entry_.set_first_error_line(file->first_error_line());
    }
    const FoundFunctions functions = FindFunctions(*file);
    RETURN_IF_ERROR(CheckOverlap(*file, functions));
    std::vector<GeneratedString> strings = FindGeneratedStrings(*file);
    strings.erase(std::remove_if(strings.begin(), strings.end(),
                                 [this](const GeneratedString& string) {
                                   return !MayHoldKernels(Content(string));
                                 }),
                  strings.end());
    if (strings.size() > options_.max_strings) {
      return absl::ResourceExhaustedError("too_many_strings");
    }
    // Files of TorchInductor tell their model in the path.
    const v1::InductorOrigin origin = OriginFromPath(path_);
    Add(*file, functions, IsGenerated(functions.kernels) ? &origin : nullptr, nullptr);
    AddJitNames(path_, functions.names, shard_);
    const std::vector<KernelTemplate> templates = FindTemplates(*file);
    for (const KernelTemplate& found : templates) AddTemplate(file->lines(), found);
    LabelEmittedCode(*file, strings, templates);
    for (const GeneratedString& string : strings) {
      RETURN_IF_ERROR(AddString(*file, string, origin));
    }
    if (dsl::MayHoldCStrings(text_)) AddCuda(*file);
    return absl::OkStatus();
  }

 private:
  ParsedText::Assumed GetAssumedImports() const {
    ParsedText::Assumed assumed;
    if (!in_prose_) return assumed;
    for (const dsl::UsualImport& import : dsl::UsualImports()) {
      assumed.emplace_back(import.name, import.GetOrigin());
    }
    return assumed;
  }

  void AddTemplate(const LineIndex& lines, const KernelTemplate& found) {
    *shard_.add_kernels() = DescribeTemplate(path_, text_, lines, found);
    entry_.set_kernels(entry_.kernels() + 1);
  }

  void AddCuda(const ParsedText& parsed) {
    const Bindings bindings(parsed.tree());
    const ParsedFile file = {path_,          parsed.text(),    parsed.tree(),
                             parsed.lines(), parsed.imports(), parsed.calls(),
                             bindings};
    AddCudaStrings(file, {options_.max_strings, options_.max_overlap}, entry_, shard_);
  }

  // Lists strings that write kernels, except those that are extracted or listed already.
  void LabelEmittedCode(const ParsedText& file, const std::vector<GeneratedString>& strings,
                        const std::vector<KernelTemplate>& templates) {
    absl::flat_hash_set<int> known;
    for (const GeneratedString& string : strings) known.insert(string.line);
    for (const KernelTemplate& found : templates) known.insert(found.first_line);
    for (const int line : FindEmittedCode(file)) {
      if (!known.contains(line)) Skip(line, "emitted");
    }
  }

  absl::string_view Content(const GeneratedString& string) const {
    return text_.substr(string.begin, string.end - string.begin);
  }

  // Returns RESOURCE_EXHAUSTED if the records of nested kernels would repeat too much text: n
  // functions, each within the one before, hold about n/2 times the file.
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

  // A string beyond a bound is listed; the others are read all the same.
  absl::Status AddString(const ParsedText& file, const GeneratedString& string,
                         v1::InductorOrigin origin) {
    if (!string.verbatim) {
      Skip(string.line, "not_verbatim");
      return absl::OkStatus();
    }
    AddOriginFromComments(text_, file.lines(), string.statement_line, origin);
    absl::Status added = ReadString(file, string, origin);
    if (!absl::IsResourceExhausted(added)) return added;
    Skip(string.line, added.message());
    return absl::OkStatus();
  }

  // Reads a string as a file of its own.
  absl::Status ReadString(const ParsedText& file, const GeneratedString& string,
                          const v1::InductorOrigin& origin) {
    ASSIGN_OR_RETURN(const std::unique_ptr<const ParsedText> inner,
                     ParsedText::Parse(Content(string), parser_));
    if (inner->has_errors()) entry_.set_parse_errors(true);
    FoundFunctions found = FindFunctions(*inner);
    found.candidates.clear();  // a string imports no files of the repository
    RETURN_IF_ERROR(CheckOverlap(*inner, found));
    std::vector<JitFunction>& functions = found.kernels;
    const Place place = {static_cast<int64_t>(string.begin), file.lines().LineAt(string.begin) - 1};
    // The record's source is whole lines of the file.
    const auto shared = std::remove_if(
        functions.begin(), functions.end(),
        [&](const JitFunction& function) { return !OwnsItsLines(*inner, function); });
    if (shared != functions.end()) Skip(string.line, "shared_line");
    functions.erase(shared, functions.end());
    for (JitFunction& function : functions) function.form = v1::KERNEL_FORM_STRING;
    Add(*inner, found, &origin, &place);
    return absl::OkStatus();
  }

  // The place of a string's content in the file: the number of bytes and of line ends before it.
  struct Place {
    int64_t bytes;
    int lines;
  };

  // Adds the text's kernels, candidates and definitions. `origin` is null if TorchInductor did not
  // write the text; `place` is null for a whole file. A string is no module that others could
  // import, so that only what its kernels use is kept, and launches of imported kernels are not
  // looked for.
  void Add(const ParsedText& parsed, const FoundFunctions& found, const v1::InductorOrigin* origin,
           const Place* place) {
    const std::vector<JitFunction> functions = JoinFunctions(found);
    const Wanted wanted =
        place == nullptr && IsModule(path_) ? Wanted::kImportable : Wanted::kUsedByKernels;
    if (functions.empty() && wanted == Wanted::kUsedByKernels) return;
    const Bindings bindings(parsed.tree());
    const ParsedFile text = {path_,          parsed.text(),    parsed.tree(),
                             parsed.lines(), parsed.imports(), parsed.calls(),
                             bindings};
    // The readers that all kernels of the text share are made once.
    const KernelReferences references(text.tree, functions);
    const Launches launches(text, references, functions);
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
    for (v1::Definition& described : FindDefinitions(text, functions, wanted)) {
      v1::Definition& definition = *shard_.add_definitions();
      definition = std::move(described);
      if (place == nullptr) continue;
      Move(*place, definition);
      if (definition.block_first_line() == 0) continue;
      definition.set_block_first_line(definition.block_first_line() + place->lines);
      definition.set_block_last_line(definition.block_last_line() + place->lines);
    }
  }

  // Makes the records of all functions. Roles come last, because they depend on the calls of all
  // others.
  static std::vector<v1::Kernel> Describe(const ParsedFile& text,
                                          const std::vector<JitFunction>& functions,
                                          const KernelReferences& references,
                                          const Launches& launches) {
    FeatureFinder features(text.tree, text.imports);
    const ParameterRoles parameters(text, references, functions);
    TuningReader tuning(text);
    const KernelReaders readers = {launches, parameters, features, tuning};
    std::vector<v1::Kernel> kernels;
    for (const JitFunction& function : functions) {
      kernels.push_back(DescribeKernel(text, function, readers));
    }
    const absl::flat_hash_set<std::string> used = UsedByOthers(kernels);
    NodeId outer_end = 0;  // end of the kernel around, since functions are in the order of the text
    for (size_t i = 0; i < functions.size(); ++i) {
      const NodeId definition = functions[i].definition;
      const bool in_kernel = definition < outer_end;
      const std::vector<std::string>& by = functions[i].imported_decorators;
      const bool may_be_none = by.size() == 1 && by[0] == kMadeElsewhere;
      if (!in_kernel && !may_be_none) outer_end = text.tree[definition].subtree_end;
      const FunctionUse use = {.launched = launches.IsLaunched(definition),
                               .in_kernel = in_kernel,
                               .returns_value = ReturnsValue(references, text.tree, definition)};
      kernels[i].set_role(DecideRole(kernels[i], use, used));
    }
    return kernels;
  }

  // Adds a kernel, or a candidate that the link stage decides on.
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
  const bool in_prose_;
  v1::ExtractedFile& entry_;
  v1::KernelShard& shard_;
};

// Adds a Python file's kernels, including those in its strings, and the definitions that they use.
// Returns RESOURCE_EXHAUSTED if the file exceeds a bound; the message is the reason.
absl::Status AddPythonKernels(const v1::SourceFile& source, const CodeReader& reader,
                              v1::ExtractedFile& entry, v1::KernelShard& shard) {
  return FileExtractor(source, reader, entry, shard).Run();
}

// Adds the definitions, names and launches that a file without kernels has for other files. A file
// that exceeds a bound adds nothing, and no kernel is lost by that.
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
  for (v1::Definition& definition : FindDefinitions(text, {}, Wanted::kImportable)) {
    *shard.add_definitions() = std::move(definition);
  }
  if (MayReexportWrappers(source.content())) {
    AddJitNames(source.path(), FindFunctions(parsed).names, shard);
  }
  if (MayLaunch(source.content())) {
    const KernelReferences references(text.tree, {});
    AddLaunches(text, Launches(text, references, {}), shard);
  }
  return absl::OkStatus();
}

// All C++ texts are kept as definitions, because any of them may be included by a file with
// kernels.
absl::Status ExtractCuda(const v1::SourceFile& source, const ExtractOptions& options,
                         v1::ExtractedFile& entry, v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  if (text.size() > options.max_file_bytes) {
    return dsl::HasMarkerOfC(text) ? absl::ResourceExhaustedError("too_large") : absl::OkStatus();
  }
  AddCudaText(source.path(), text, shard);
  if (!dsl::HasMarkerOfC(text)) return absl::OkStatus();
  return AddCudaKernels(source.path(), text, options.max_overlap * text.size(), entry, shard);
}

// Most Python files cannot hold kernels, their own or in strings. These are only read for
// definitions that other files may import.
absl::Status ExtractPython(const v1::SourceFile& source, const CodeReader& reader,
                           v1::ExtractedFile& entry, v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  if (!MayHoldCode(text) && !IsTemplateFile(source.path(), text)) {
    return AddImportable(source, reader.parser, reader.options, shard);
  }
  return AddPythonKernels(source, reader, entry, shard);
}

}  // namespace

absl::Status ExtractCode(const v1::SourceFile& source, CodeLanguage language,
                         const CodeReader& reader, v1::ExtractedFile& entry,
                         v1::KernelShard& shard) {
  if (language == CodeLanguage::kCuda) return ExtractCuda(source, reader.options, entry, shard);
  return ExtractPython(source, reader, entry, shard);
}

// RESOURCE_EXHAUSTED is a fact about the file and becomes its reason. All other errors are returned
// with the path.
absl::Status ExtractFile(const v1::SourceFile& source, const PythonParser& parser,
                         const ExtractOptions& options, v1::KernelShard& shard) {
  v1::ExtractedFile& entry = ListFile(source, shard);
  const CodeLanguage language =
      IsCudaPath(source.path()) ? CodeLanguage::kCuda : CodeLanguage::kPython;
  const absl::Status done = ExtractCode(source, language, {parser, options}, entry, shard);
  if (!absl::IsResourceExhausted(done)) return Annotate(done, source.path());
  entry.set_failed(std::string(done.message()));
  return absl::OkStatus();
}

v1::ExtractedFile& ListFile(const v1::SourceFile& source, v1::KernelShard& shard) {
  const absl::string_view text = source.content();
  v1::ExtractedFile& entry = NameFile(source, shard);
  entry.set_lines(static_cast<int32_t>(CountLines(text)));
  entry.set_has_triton_jit(Contains(text, "@triton.jit"));
  return entry;
}

v1::ExtractedFile& NameFile(const v1::SourceFile& source, v1::KernelShard& shard) {
  v1::ExtractedFile& entry = *shard.add_files();
  entry.set_path(source.path());
  entry.set_size_bytes(static_cast<int64_t>(source.content().size()));
  entry.set_sha256(Sha256Hex(source.content()));
  return entry;
}

bool MayHoldKernels(absl::string_view text) {
  return dsl::MayHoldKernels(text) || MayHoldTemplates(text);
}

bool MayHoldCode(absl::string_view text) {
  return MayHoldKernels(text) || dsl::MayHoldCStrings(text);
}

}  // namespace kernelmill::extractor
