#include "services/extractor/core/link/cuda/cuda_module.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/code/python.h"
#include "common/cpp/include_paths.h"
#include "common/dsl/languages.h"
#include "common/dsl/libraries.h"
#include "common/python/syntax/text_lines.h"
#include "services/extractor/core/link/cuda/cuda_closure.h"
#include "services/extractor/core/link/cuda/known_names.h"

namespace kernelmill::extractor::cuda {

using python::CountIndentation;

namespace {

using absl::string_view;

bool IsBlank(string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == string_view::npos;
}

// Returns whether the text may follow a declaration on its last line.
bool IsBlankOrComment(string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n\f\v");
  return begin == string_view::npos || absl::StartsWith(text.substr(begin), "//");
}

// Widens a span to whole lines, if these lines hold nothing else.
ByteSpan WholeLines(const SourceText& text, ByteSpan span) {
  const string_view all = text.text;
  const auto begin = static_cast<uint32_t>(text.lines.Begin(text.lines.LineAt(span.begin)));
  const auto end = static_cast<uint32_t>(
      text.lines.End(text.lines.LineAt(span.end > span.begin ? span.end - 1 : span.end)));
  if (IsBlank(all.substr(begin, span.begin - begin))) span.begin = begin;
  if (IsBlankOrComment(all.substr(span.end, end - span.end))) span.end = end;
  return span;
}

// Removes the first line's indentation from all lines, also within raw strings, and adds a line
// end.
std::string AtFirstColumn(string_view text) {
  const string_view indentation = text.substr(0, CountIndentation(text));
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    string_view line = text.substr(0, end == string_view::npos ? end : end + 1);
    text.remove_prefix(line.size());
    if (!absl::ConsumePrefix(&line, indentation)) line = line.substr(CountIndentation(line));
    out.append(line.data(), line.size());
  }
  if (!absl::EndsWith(out, "\n")) out += '\n';
  return out;
}

v1::Definition::Kind GetKind(const Item& item) {
  if (item.is_macro) return v1::Definition::KIND_CONSTANT;
  switch (item.declaration.kind) {
    case Declaration::kFunction:
      return v1::Definition::KIND_FUNCTION;
    case Declaration::kType:
    case Declaration::kAlias:
      return v1::Definition::KIND_CLASS;
    case Declaration::kUsing:
    case Declaration::kDirective:
    case Declaration::kShortName:
      return v1::Definition::KIND_IMPORT;
    case Declaration::kVariable:
    case Declaration::kInvocation:
      break;
  }
  return v1::Definition::KIND_CONSTANT;
}

// Writes the pieces of a module with the namespaces and conditionals around them. Pieces that
// follow one another in the same namespace or branch share its opening and closing lines: the
// writer keeps open what the last piece needed, and closes only what the next one does not need.
class Writer {
 public:
  Writer(const Source& source, const CudaClosure& closure, v1::Kernel& kernel)
      : source_(source), closure_(closure), kernel_item_(closure.kernel()), kernel_(kernel) {
    constexpr int kMaxDepth = 64;
    const SourceText& text = source[kernel_item_.file];
    Conditionals::Place place = source.at(kernel_item_).place;
    for (int depth = 0; place.conditional != Conditionals::kNone && depth < kMaxDepth; ++depth) {
      own_.insert(place.conditional);
      place = text.conditionals.Around(place);
    }
  }

  void AddInclude(uint32_t file, const ResolvedInclude& include) {
    const SourceText& text = source_[file];
    if (!spaces_.empty()) LeavePlace();
    LeaveSpaces(0);
    EnterPlace(file, include.place);
    const Include& line = include.include;
    std::string written = absl::StrCat(text.text.substr(line.begin, line.end - line.begin), "\n");
    module_ += written;
    opened_ = false;
    *kernel_.add_imports() = std::move(written);
    AddPiece(text, {line.begin, line.end}, v1::Definition::KIND_IMPORT);
  }

  // Adds an include of a header that the source gets from elsewhere, for example through an include
  // of a package that the module leaves out.
  void AddMadeUpInclude(string_view header) {
    LeavePlace();
    std::string line = absl::StrCat("#include <", header, ">\n");
    module_ += line;
    *kernel_.add_imports() = std::move(line);
    v1::ModulePiece& piece = *kernel_.add_pieces();
    piece.set_kind(v1::Definition::KIND_IMPORT);
    piece.set_generated(true);
  }

  // Writes an item. Items on one line, or within a conditional that another one widened to, are
  // written once.
  void Add(const ItemRef& ref) {
    const SourceText& text = source_[ref.file];
    const Item& item = source_.at(ref);
    ByteSpan span = WholeLines(text, item.span);
    if (ref.file == last_file_ && span.begin < last_end_) {
      if (span.end <= last_end_) return;  // within an item that a conditional widened
      span.begin = last_end_;
    }
    last_file_ = ref.file;
    last_end_ = span.end;
    const std::vector<ByteSpan> kept = FindKept(ref, span);
    std::string written = WriteKept(text, kept);
    // A macro that two files define alike is written once, unless an #undef comes between.
    const bool always = BranchesAt(ref.file, item.place).empty();
    if (item.undefines) macros_.clear();
    if (item.is_macro && always && !macros_.insert(written).second) return;
    const bool apart = item.declaration.kind == Declaration::kFunction ||
                       item.declaration.kind == Declaration::kType;
    if (!item.is_macro) EnterSpace(ref.file, item.declaration.space);
    EnterPlace(ref.file, item.place);
    Separate((apart && !item.is_macro) || last_apart_ || item.is_macro != last_macro_);
    last_apart_ = apart && !item.is_macro;
    last_macro_ = item.is_macro;
    module_ += written;
    for (const ByteSpan& lines : kept) AddPiece(text, lines, GetKind(item));
  }

  void AddKernel() {
    const SourceText& text = source_[kernel_item_.file];
    const Item& item = source_.at(kernel_item_);
    LeavePlace();
    EnterSpace(kernel_item_.file, item.declaration.space);
    Separate(true);
    const std::vector<ByteSpan> kept = FindKept(kernel_item_, WholeLines(text, item.span));
    module_ += WriteKept(text, kept);
    for (const ByteSpan& lines : kept) AddPiece(text, lines, GetKind(item));
    last_apart_ = true;
  }

  void Finish() {
    LeavePlace();
    LeaveSpaces(0);
    kernel_.set_module(code::WithUnixLineEnds(module_));
  }

 private:
  // Returns what remains of an item's span without the methods that the closure lacks.
  std::vector<ByteSpan> FindKept(const ItemRef& ref, const ByteSpan& span) const {
    std::vector<ByteSpan> kept;
    uint32_t begin = span.begin;
    const std::vector<Method>& methods = source_.at(ref).methods;
    for (uint32_t i = 0; i < methods.size(); ++i) {
      const ByteSpan& lines = methods[i].lines;
      if (closure_.HasMethod({ref, i}) || lines.begin < begin || lines.end > span.end) continue;
      if (lines.begin > begin) kept.push_back({begin, lines.begin});
      begin = lines.end;
    }
    if (span.end > begin) kept.push_back({begin, span.end});
    return kept;
  }

  static std::string WriteKept(const SourceText& text, const std::vector<ByteSpan>& kept) {
    std::string written;
    for (const ByteSpan& span : kept) {
      absl::StrAppend(&written, string_view(text.text).substr(span.begin, span.end - span.begin));
    }
    return AtFirstColumn(written);
  }

  void Separate(bool wanted) {
    const bool begins = module_.empty() || absl::EndsWith(module_, "{\n") || opened_;
    if (wanted && !begins) module_ += '\n';
    opened_ = false;
  }

  std::vector<std::string> GetSpaces(uint32_t file, uint32_t space) const {
    constexpr size_t kMaxDepth = 64;
    const std::vector<Namespace>& spaces = source_[file].namespaces;
    std::vector<std::string> openings;
    for (; space != 0 && openings.size() < kMaxDepth; space = spaces[space].outer) {
      openings.push_back(spaces[space].opening);
    }
    std::reverse(openings.begin(), openings.end());
    return openings;
  }

  // Closes and opens namespaces until those around the next piece are open.
  void EnterSpace(uint32_t file, uint32_t space) {
    const std::vector<std::string> wanted = GetSpaces(file, space);
    if (wanted == spaces_) return;
    LeavePlace();
    size_t common = 0;
    while (common < std::min(wanted.size(), spaces_.size()) && wanted[common] == spaces_[common]) {
      ++common;
    }
    LeaveSpaces(common);
    for (size_t i = common; i < wanted.size(); ++i) {
      if (i == common) Separate(true);
      absl::StrAppend(&module_, wanted[i], " {\n");
      spaces_.push_back(wanted[i]);
      last_apart_ = true;
    }
  }

  void LeaveSpaces(size_t depth) {
    if (spaces_.size() > depth) module_ += '\n';
    for (; spaces_.size() > depth; spaces_.pop_back()) {
      absl::StrAppend(&module_, "}  // ", absl::StrReplaceAll(spaces_.back(), {{"\n", " "}}), "\n");
      last_apart_ = true;
    }
  }

  // Returns the branches around a place except those around the kernel, innermost first.
  std::vector<Conditionals::Place> BranchesAt(uint32_t file, Conditionals::Place place) const {
    constexpr size_t kMaxDepth = 64;
    std::vector<Conditionals::Place> branches;
    while (place.conditional != Conditionals::kNone && branches.size() < kMaxDepth) {
      if (file == kernel_item_.file && own_.contains(place.conditional)) break;
      branches.push_back(place);
      place = source_[file].conditionals.Around(place);
    }
    return branches;
  }

  // Closes and opens conditionals until the branch of the next piece is open. A later branch of the
  // open conditional is entered by its #else or #elif.
  void EnterPlace(uint32_t file, const Conditionals::Place& place) {
    const std::vector<Conditionals::Place> branches = BranchesAt(file, place);
    if (branches.empty()) return LeavePlace();
    if (place_file_ == file && place_ == place) return;
    if (place_file_ == file && place_.conditional == place.conditional &&
        place_.branch < place.branch) {
      return GoOn(place);
    }
    LeavePlace();
    Separate(true);
    const SourceText& text = source_[file];
    for (auto branch = branches.rbegin(); branch != branches.rend(); ++branch) {
      for (const ByteSpan& line : text.conditionals.Lines(*branch)) {
        absl::StrAppend(&module_, text.text.substr(line.begin, line.end - line.begin), "\n");
      }
    }
    place_file_ = file;
    place_ = place;
    depth_ = branches.size();
    opened_ = true;
  }

  // Goes on to a later branch of the conditional that is open.
  void GoOn(const Conditionals::Place& place) {
    const SourceText& text = source_[place_file_];
    const std::vector<ByteSpan> lines = text.conditionals.Lines(place);
    for (size_t branch = place_.branch + 1; branch < lines.size(); ++branch) {
      absl::StrAppend(
          &module_, text.text.substr(lines[branch].begin, lines[branch].end - lines[branch].begin),
          "\n");
    }
    place_ = place;
    opened_ = true;
  }

  void LeavePlace() {
    for (; depth_ > 0; --depth_) module_ += "#endif\n";
    if (place_file_ != kNoFile) last_apart_ = true;
    place_file_ = kNoFile;
  }

  void AddPiece(const SourceText& text, const ByteSpan& span, v1::Definition::Kind kind) {
    v1::ModulePiece& piece = *kernel_.add_pieces();
    piece.set_path(text.path);
    piece.set_first_line(text.FileLineAt(span.begin));
    piece.set_last_line(text.FileLineAt(std::max(span.begin + 1, span.end) - 1));
    piece.set_kind(kind);
    AddReplaced(text, span);
  }

  // Lists the escape sequences and fields of a string that the module has the values of, and what a
  // library writes around the body of a kernel. Between two literals there is only a line end.
  void AddReplaced(const SourceText& text, const ByteSpan& span) {
    for (size_t i = text.runs.empty() ? 0 : text.FindRun(span.begin) + 1; i < text.runs.size();
         ++i) {
      const v1::TextRun& run = text.runs[i];
      const v1::TextRun& before = text.runs[i - 1];
      const auto value_begin = static_cast<size_t>(before.begin() + before.size());
      if (value_begin >= span.end) break;
      const string_view value = string_view(text.text).substr(
          value_begin, static_cast<size_t>(run.begin()) - value_begin);
      const bool around = run.replaced().empty();
      if (value_begin < span.begin || (around && IsBlank(value))) {
        continue;
      }
      v1::ReplacedText& replaced = *kernel_.add_replaced_texts();
      replaced.set_original(run.replaced());
      replaced.set_replacement(std::string(value));
      replaced.set_first_line(text.FileLineAt(value_begin));
      replaced.set_last_line(run.first_line());
      const bool escape = absl::StartsWith(run.replaced(), "\\") || run.replaced() == "{{" ||
                          run.replaced() == "}}";
      replaced.set_reason(around ? "around_body" : escape ? "string_escape" : "string_field");
    }
  }

  const Source& source_;
  const CudaClosure& closure_;
  const ItemRef kernel_item_;
  v1::Kernel& kernel_;
  absl::flat_hash_set<uint32_t> own_;  // conditionals around the kernel
  std::string module_;
  std::vector<std::string> spaces_;  // open namespaces
  uint32_t place_file_ = kNoFile;    // file of the open branch
  Conditionals::Place place_;
  size_t depth_ = 0;
  uint32_t last_file_ = kNoFile;
  uint32_t last_end_ = 0;
  absl::flat_hash_set<std::string> macros_;  // definitions outside conditionals
  bool last_apart_ = true;
  bool last_macro_ = false;
  bool opened_ = false;
};

// Puts a module together from the items of a closure: first the includes, then a walk over the
// files in the preprocessor's order.
class Assembler {
 public:
  Assembler(const Source& source, const CudaClosure& closure, v1::Kernel& kernel)
      : source_(source), closure_(closure), kernel_(kernel), writer_(source, closure, kernel) {
    for (const ItemRef& ref : closure.taken()) by_file_[ref.file].push_back(ref);
    for (auto& [file, refs] : by_file_) std::sort(refs.begin(), refs.end());
    if (closure.needs_kernel()) {
      ItemRefs& own = by_file_[closure.kernel().file];
      own.insert(std::upper_bound(own.begin(), own.end(), closure.kernel()), closure.kernel());
    }
  }

  void Run() {
    AddIncludes();
    Walk(closure_.view().root, 0);
    if (!closure_.needs_kernel()) writer_.AddKernel();
    writer_.Finish();
    for (const auto& [name, reason] : missing_) {
      v1::UnresolvedName& unresolved = *kernel_.add_unresolved_names();
      unresolved.set_name(name);
      unresolved.set_reason(reason);
    }
    kernel_.set_self_contained(missing_.empty());
  }

 private:
  bool Contributes(uint32_t file) const {
    return file == closure_.kernel().file || by_file_.contains(file);
  }

  void AddIncludes() {
    missing_ = closure_.missing();
    for (const auto& [name, reason] : missing_) kernel_.add_free_names(name);
    std::set<std::string> had;
    for (const uint32_t file : closure_.view().files) {
      for (const ResolvedInclude& include : source_[file].includes) {
        if (include.file == kNoFile) AddInclude(file, include, had);
      }
    }
    for (const std::string& header : closure_.headers()) {
      const bool cuda_alone = absl::StartsWith(header, "cuda_") || header == "cuda.h";
      if (!had.contains(header) && !(is_hip_ && cuda_alone)) writer_.AddMadeUpInclude(header);
    }
  }

  // Returns whether the module needs an include of a known header. `had` holds the canonical names
  // of those that it has, so that each comes once.
  bool WantsKnown(uint32_t file, string_view path, bool conditional, std::set<std::string>& had) {
    const std::set<std::string>& headers = closure_.headers();
    if (cpp::IsMetalHeader(path)) {  // the table names the one that includes most others
      return headers.contains("metal_stdlib") && had.insert(std::string(path)).second;
    }
    if (absl::StartsWith(path, "cuda/std/")) {  // the table does not know which one declares a name
      if (!headers.contains("cuda/std/type_traits")) return false;
      had.insert("cuda/std/type_traits");
      return had.insert(absl::StrCat("as written: ", path)).second;
    }
    if (const dsl::Language* const language = dsl::FindLibraryLanguage(path)) {
      const string_view header = language->library.header;
      if (!headers.contains(std::string(header))) return false;
      had.insert(std::string(header));
      return had.insert(absl::StrCat("as written: ", path)).second;
    }
    const std::string canonical = cpp::CanonicalHeader(path);
    const bool needed =
        headers.contains(canonical) || (cpp::IsRuntimeHeader(path) && Contributes(file));
    if (!needed) return false;
    if (!had.contains(canonical)) {
      if (!conditional || canonical == path) had.insert(canonical);
      if (conditional) only_conditional_.insert(canonical);
      return true;
    }
    // Which of several conditional ones comes first depends on the files' order in the text.
    if (!only_conditional_.contains(canonical)) return false;
    if (!conditional) only_conditional_.erase(canonical);
    return !conditional || Contributes(file);
  }

  // Adds an include of a file that the source does not have, if the module needs it. See
  // FillInCudaModule for the kinds of includes.
  void AddInclude(uint32_t file, const ResolvedInclude& include, std::set<std::string>& had) {
    const string_view path = include.include.path;
    const bool conditional = include.place.conditional != Conditionals::kNone;
    if (cpp::IsHipHeader(path)) {
      // A file that includes a HIP header unconditionally is HIP only. In modules for CUDA such an
      // include would fail, so it comes only with the kernel's own file.
      const bool own = file == closure_.kernel().file;
      if (!(own || (conditional && Contributes(file))) || !had.insert(std::string(path)).second) {
        return;
      }
      if (own && !conditional) is_hip_ = true;
    } else if (cpp::IsKnownHeader(path) || dsl::FindLibraryLanguage(path) != nullptr) {
      if (!WantsKnown(file, path, conditional, had)) return;
    } else {
      if (!Contributes(file) || !MayDeclare(path) || !had.insert(std::string(path)).second) return;
      const bool package = include.include.angled || IsPackageHeader(path);
      missing_.try_emplace(std::string(path), package ? "package_import" : "repository_import");
    }
    if (conditional) {
      conditional_.insert(&include);
    } else {
      writer_.AddInclude(file, include);
    }
  }

  bool MayDeclare(string_view path) const {
    if (closure_.misses_unknown()) return true;
    return std::any_of(closure_.packages().begin(), closure_.packages().end(),
                       [&](const std::string& package) { return IsHeaderOf(path, package); });
  }

  // Adds the items of a file and of the files that it includes, in the preprocessor's order.
  void Walk(uint32_t file, int depth) {
    if (!seen_.insert(file).second || depth > Source::kMaxIncludeDepth) return;
    const auto found = by_file_.find(file);
    const ItemRefs none;
    const ItemRefs& items = found == by_file_.end() ? none : found->second;
    auto item = items.begin();
    for (const ResolvedInclude& include : source_[file].includes) {
      const bool stays = conditional_.contains(&include);
      if (!stays && (include.file == kNoFile || !closure_.view().contains.contains(include.file))) {
        continue;
      }
      for (; item != items.end() && source_.at(*item).span.begin < include.include.begin; ++item) {
        Add(*item);
      }
      if (stays) {
        writer_.AddInclude(file, include);
      } else {
        Walk(include.file, depth + 1);
      }
    }
    for (; item != items.end(); ++item) Add(*item);
  }

  void Add(const ItemRef& ref) {
    if (ref == closure_.kernel()) {
      writer_.AddKernel();
    } else {
      writer_.Add(ref);
    }
  }

  const Source& source_;
  const CudaClosure& closure_;
  v1::Kernel& kernel_;
  Writer writer_;
  std::map<uint32_t, ItemRefs> by_file_;
  std::map<std::string, std::string> missing_;
  absl::flat_hash_set<uint32_t> seen_;
  // Includes in conditionals stay at their places, because macros of the source may choose among
  // them.
  absl::flat_hash_set<const ResolvedInclude*> conditional_;
  std::set<std::string>
      only_conditional_;  // known headers that no include without a condition loads
  bool is_hip_ = false;   // the kernel's file includes HIP's headers unconditionally
};

// Makes a module of the function only, because its text was not found.
void FillInAlone(v1::Kernel& kernel) {
  kernel.set_module(code::WithUnixLineEnds(AtFirstColumn(kernel.source())));
  kernel.set_self_contained(false);
}

size_t MakeModule(const Source& source, size_t max_bytes, v1::Kernel& kernel) {
  kernel.clear_imports();
  kernel.clear_pieces();
  kernel.clear_free_names();
  kernel.clear_unresolved_names();
  kernel.clear_replaced_texts();
  const uint32_t file =
      kernel.form() == v1::KERNEL_FORM_TEMPLATE ? kNoFile : source.FindFile(kernel);
  const std::optional<Part> around = file == kNoFile ? std::nullopt : source.FindPart(file, kernel);
  if (!around || max_bytes == 0) {
    FillInAlone(kernel);
    if (kernel.form() != v1::KERNEL_FORM_TEMPLATE) {
      v1::UnresolvedName& unresolved = *kernel.add_unresolved_names();
      unresolved.set_name(kernel.name());
      unresolved.set_reason("too_large");
    }
    return kernel.source().size();
  }
  ClosureLimits limits;
  limits.bytes = std::min(limits.bytes, max_bytes);
  const CudaClosure closure(source, *around, limits);
  Assembler(source, closure, kernel).Run();
  if (kernel.parse_error()) kernel.set_self_contained(false);
  return closure.looked_at();
}

}  // namespace

size_t FillInCudaModule(const Source& source, size_t max_bytes, v1::Kernel& kernel) {
  const size_t bytes = MakeModule(source, max_bytes, kernel);
  kernel.clear_features();
  // A library outside the source may be known under another name, which free names have resolved:
  // namespace kit = kittens.
  const std::string names = absl::StrJoin(kernel.free_names(), ";\n");
  for (const string_view library : dsl::FindLibraries(absl::StrCat(kernel.module(), "\n", names))) {
    kernel.add_features(std::string(library));
  }
  return bytes;
}

}  // namespace kernelmill::extractor::cuda
