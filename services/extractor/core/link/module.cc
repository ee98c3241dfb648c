#include "services/extractor/core/link/module.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/text.h"
#include "common/code/lexer.h"
#include "common/code/python.h"
#include "common/dsl/languages.h"
#include "common/python/module_paths.h"
#include "services/extractor/core/link/closure.h"
#include "services/extractor/core/link/kernel_text.h"
#include "services/extractor/core/link/prompt_context.h"

namespace kernelmill::extractor {
namespace {

// The names and modules that keep a module from being complete, and why
// (v1::UnresolvedName.reason), by name: names that nothing in it defines, and modules that its
// statements import and that are not installed with Triton, torch, JAX or Python.
using UnresolvedNames = std::map<std::string, absl::string_view>;

// Collects the unresolved names of one module.
class Collector {
 public:
  Collector(const SourceScope& scope, const Closure& closure, absl::string_view dsl)
      : scope_(scope), closure_(closure), dsl_(dsl), has_wildcards_(!closure.Wildcards().empty()) {
    for (const Closure::Missing& missing : closure.missing()) Add(missing.name, missing.reason);
    for (const v1::Definition* definition : closure.imports()) {
      has_jax_ |= std::any_of(definition->modules().begin(), definition->modules().end(), IsOfJax);
    }
  }

  // Adds the modules that a definition needs and that are not at hand. Names of import statements
  // are not added a second time if they are missing already.
  void AddAbsentModules(const v1::Definition& definition) {
    const std::vector<std::string>& absent = scope_.GetAbsentModules(definition);
    if (absent.empty()) return;
    if (!IsImport(definition) || definition.imported().empty()) {
      for (const std::string& module : absent) AddModule(definition, module);
      return;
    }
    // A statement that imports from the source stays only for names that are listed already.
    const TextDefinitions& text =
        scope_.GetDefinitions(definition.path(), definition.string_begin());
    const bool for_listed = std::any_of(
        definition.imported().begin(), definition.imported().end(),
        [this](const v1::ImportedName& each) { return closure_.IsMissing(each.name()); });
    for (const v1::ImportedName& imported : definition.imported()) {
      if (for_listed && scope_.IsOwn(text, imported)) continue;
      const bool listed =
          imported.name() == "*" ? has_wildcards_ : closure_.IsMissing(imported.name());
      if (listed) continue;
      AddModule(definition, absl::StrCat(std::string(static_cast<size_t>(imported.level()), '.'),
                                         imported.module()));
    }
  }

  const UnresolvedNames& reasons() const { return reasons_; }

 private:
  void Add(const std::string& name, absl::string_view reason) {
    reasons_.try_emplace(name, reason);
  }

  static bool IsOfJax(absl::string_view module) {
    return module == "jax" || absl::StartsWith(module, "jax.");
  }

  // JAX installs numpy, and a language its packages and, with some, numpy.
  void AddModule(const v1::Definition& definition, const std::string& module) {
    if (IsAtHand(module) || (has_jax_ && FirstPart(module) == "numpy") ||
        dsl::ComesWith(dsl_, module)) {
      return;
    }
    v1::ImportedName imported;
    const size_t dots = std::min(module.find_first_not_of('.'), module.size());
    imported.set_level(static_cast<int32_t>(dots));
    imported.set_module(module.substr(dots));
    const TextDefinitions& text =
        scope_.GetDefinitions(definition.path(), definition.string_begin());
    const bool own = dots > 0 || scope_.IsOwn(text, imported);
    Add(module, own ? Closure::kRepositoryImport : Closure::kPackageImport);
  }

  const SourceScope& scope_;
  const Closure& closure_;
  const absl::string_view dsl_;
  const bool has_wildcards_;
  bool has_jax_ = false;  // the module imports it
  UnresolvedNames reasons_;
};

// Returns what the module of this closure lacks. `statement` is the kernel's own; null if the
// kernel's source is all of it.
UnresolvedNames FindUnresolvedNames(const SourceScope& scope, const Closure& closure,
                                    absl::string_view dsl, const v1::Definition* statement) {
  Collector names(scope, closure, dsl);
  if (statement != nullptr) names.AddAbsentModules(*statement);
  if (closure.applied() != nullptr) names.AddAbsentModules(*closure.applied());
  for (const v1::Definition* definition : closure.imports()) names.AddAbsentModules(*definition);
  for (const Closure::Part& part : closure.parts()) {
    if (part.definition != nullptr) names.AddAbsentModules(*part.definition);
  }
  return names.reasons();
}

// The object whose members a method reads.
constexpr char kSelf[] = "self";

// Returns whether a method needs its object. Those of Triton have none at run time.
bool NeedsItsObject(const v1::Kernel& kernel) {
  const bool method = kernel.parameters_size() > 0 && kernel.parameters(0).name() == kSelf;
  return method && !dsl::CompilesAsTriton(kernel.dsl()) &&
         absl::StrContains(kernel.source(), "self.");
}

// Sets the kernel's unresolved_names, free_names and self_contained.
// `has_owner`: the module holds the class or the function around the kernel.
void SetUnresolvedNames(UnresolvedNames names, const Closure& closure, bool has_owner,
                        v1::Kernel& kernel) {
  if (!has_owner && NeedsItsObject(kernel)) names.try_emplace(kSelf, Closure::kUndefined);
  kernel.clear_unresolved_names();
  for (const auto& [name, reason] : names) {
    v1::UnresolvedName& unresolved = *kernel.add_unresolved_names();
    unresolved.set_name(name);
    unresolved.set_reason(std::string(reason));
  }
  kernel.set_self_contained(names.empty() && !kernel.parse_error());
  kernel.clear_free_names();
  for (const Closure::Missing& missing : closure.missing()) kernel.add_free_names(missing.name);
}

using Names = absl::flat_hash_set<absl::string_view>;

// Host machinery is the part of a module that only runs on the host: definitions that the kernel
// reaches through names of its decorators, or of the statement that makes it a kernel, and not
// through its signature and body. A list of configurations and a function that prunes it are small,
// and tell how the kernel is tuned; but a repository's own autotuner is not needed to compile it.
// So a name is left out of the module if its machinery is larger than both of these bounds.
constexpr size_t kMaxMachineryBytes = 4u << 10;
constexpr size_t kMaxMachineryOfSource = 4;  // times the kernel's source

// Bounds the time: each name is weighed by itself. Real kernels have fewer decorators.
constexpr size_t kMaxNames = 32;

// Returns all words of the signature and the body.
Names DeviceWords(const v1::Kernel& kernel) {
  const absl::string_view source = kernel.source();
  const size_t signature = std::min(source.find(kernel.signature()), source.size());
  Names words;
  for (const code::Token& token : code::Lex(source.substr(signature), code::Language::kPython)) {
    if (token.kind == code::Token::kName) words.insert(token.text);
    if (token.kind != code::Token::kString || !code::HasFields(token.text)) continue;
    const absl::string_view content = code::PythonStringContent(token.text);
    for (const code::Token& inner : code::Lex(content, code::Language::kPython)) {
      if (inner.kind == code::Token::kName) words.insert(inner.text);
    }
  }
  return words;
}

// The parts of a module as a graph, with an edge from a part to each part that it uses. Refers to
// the parts.
class Parts {
 public:
  explicit Parts(const std::vector<Closure::Part>& parts) : parts_(parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].definition == nullptr) {
        by_name_[Head(parts[i].name)].push_back(i);
        continue;
      }
      for (const std::string& name : parts[i].definition->names()) by_name_[name].push_back(i);
    }
  }

  // Marks the parts that the name leads to. Returns the bytes of those that were not marked before.
  size_t Mark(absl::string_view name, std::vector<bool>& marked) const {
    size_t bytes = 0;
    std::vector<absl::string_view> pending = {name};
    Names seen;
    while (!pending.empty()) {
      const absl::string_view next = pending.back();
      pending.pop_back();
      if (!seen.insert(next).second) continue;
      const auto found = by_name_.find(next);
      if (found == by_name_.end()) continue;
      for (const size_t part : found->second) {
        if (marked[part]) continue;
        marked[part] = true;
        if (parts_[part].definition == nullptr) {
          pending.push_back(Head(parts_[part].value));
          continue;
        }
        bytes += parts_[part].definition->text().size();
        for (const std::string& use : parts_[part].definition->uses()) pending.push_back(use);
      }
    }
    return bytes;
  }

 private:
  static absl::string_view Head(absl::string_view name) { return name.substr(0, name.find('.')); }

  const std::vector<Closure::Part>& parts_;
  absl::flat_hash_map<absl::string_view, std::vector<size_t>> by_name_;
};

// Returns the names that are left out because their machinery is too large. First marks all that
// the kernel's own code reaches, then weighs each other name by what only it adds to that.
absl::flat_hash_set<std::string> OversizedMachinery(const Closure& closure,
                                                    const v1::Kernel& kernel) {
  const size_t limit = std::max(kMaxMachineryBytes, kMaxMachineryOfSource * kernel.source().size());
  size_t bytes = 0;
  for (const Closure::Part& part : closure.parts()) {
    if (part.definition != nullptr) bytes += part.definition->text().size();
  }
  absl::flat_hash_set<std::string> oversized;
  if (bytes <= limit) return oversized;
  const Names words = DeviceWords(kernel);
  const Parts parts(closure.parts());
  std::vector<bool> device(closure.parts().size(), false);
  std::vector<absl::string_view> host;
  for (const std::string& name : kernel.free_names()) {
    if (words.contains(name)) {
      parts.Mark(name, device);
    } else {
      host.push_back(name);
    }
  }
  if (closure.applied() != nullptr) {
    host.insert(host.end(), closure.applied()->uses().begin(), closure.applied()->uses().end());
  }
  for (size_t i = 0; i < std::min(host.size(), kMaxNames); ++i) {
    std::vector<bool> marked = device;
    if (parts.Mark(host[i], marked) > limit) oversized.emplace(host[i]);
  }
  return oversized;
}

using Way = KernelTexts::Way;
using Ways = std::vector<Way>;

// Returns `text` as a statement of the module level, with a line end. A text that cannot be
// dedented becomes the block of an `if True:`.
std::string AtModuleLevel(absl::string_view text) {
  std::optional<std::string> statement = code::AtModuleLevel(text);
  if (statement) return *std::move(statement);
  const std::string lines = code::WithUnixLineEnds(text);
  return absl::StrCat("if True:\n", lines, absl::EndsWith(lines, "\n") ? "" : "\n");
}

// Returns the kernel's own statement, which may begin with '@' lines before the kernel's span in
// odd layouts; null if the definition around is larger than the kernel.
const v1::Definition* OwnStatement(const v1::Kernel& kernel, const v1::Definition* around) {
  const bool same = around != nullptr && around->kind() == v1::Definition::KIND_FUNCTION &&
                    around->last_line() == kernel.last_line() &&
                    around->first_line() >= kernel.first_line() - 2;
  return same ? around : nullptr;
}

// Writes a module, and notes in the kernel's record which pieces it consists of.
class ModuleWriter {
 public:
  ModuleWriter(const SourceScope& scope, v1::Kernel& kernel) : scope_(scope), kernel_(kernel) {
    kernel_.clear_imports();
    kernel_.clear_pieces();
    kernel_.clear_dropped_decorators();
    kernel_.clear_replaced_texts();
  }

  // Adds an import statement, to the module and to the record's list.
  void AddImport(const v1::Definition& definition) {
    std::string text = AtModuleLevel(definition.text());
    module_ += text;
    *kernel_.add_imports() = std::move(text);
    AddPart(definition, v1::Definition::KIND_IMPORT);
  }

  void Add(const Closure::Part& part) {
    Separate();
    if (part.definition != nullptr) {
      AddDefinition(*part.definition);
      return;
    }
    absl::StrAppend(&module_, part.name, " = ", part.value, "\n");
    v1::ModulePiece& assignment = *kernel_.add_pieces();
    assignment.set_kind(v1::Definition::KIND_CONSTANT);
    assignment.set_generated(true);
  }

  // `statement` is null if the kernel's own lines are all of it. `applied` may be null.
  void Finish(absl::string_view text, const v1::Definition* statement,
              const v1::Definition* applied) {
    Separate();
    module_ += AtModuleLevel(text);
    if (statement == nullptr) {
      AddPart(kernel_, v1::Definition::KIND_FUNCTION);
    } else {
      AddPart(*statement, statement->kind());
    }
    if (applied != nullptr) Add({applied, "", ""});
    kernel_.set_module(std::move(module_));
  }

 private:
  void Separate() {
    if (!module_.empty()) module_ += '\n';
  }

  void AddDefinition(const v1::Definition& definition) {
    module_ += AtModuleLevel(scope_.GetText(definition));
    AddPart(definition, definition.kind());
    for (const SourceScope::Droppable& each : scope_.GetDropped(definition)) {
      *kernel_.add_dropped_decorators() =
          ToDropped(each, definition.names(0), definition.first_line());
    }
  }

  template <typename Span>
  void AddPart(const Span& span, v1::Definition::Kind kind) {
    v1::ModulePiece& part = *kernel_.add_pieces();
    ImportPaths::Place place = scope_.paths().FindPlace(span.path());
    part.set_path(std::move(place.path));
    part.set_used_source(std::move(place.source));
    part.set_kind(kind);
    part.set_generated(span.path().empty());
    if (part.generated()) return;
    part.set_first_line(span.first_line());
    part.set_last_line(span.last_line());
  }

  const SourceScope& scope_;
  v1::Kernel& kernel_;
  std::string module_;
};

// Makes the module of one kernel.
//
// The basic idea: close the kernel's text as it is written. If that lacks nothing and holds no
// large machinery, it is the module. Otherwise try each decorator above the jit by itself, beside a
// kernel without all the others: it is kept if the module lacks no more than without it, else
// replaced if it is an autotuner with known configurations, else dropped. Then close the resulting
// text once more. A method that needs its object, and a function that needs variables of the one
// around it, have the whole class or function as their text. Triton's stay alone: its compiler
// wants them at the module level.
class ModuleMaker {
 public:
  ModuleMaker(SourceScope& scope, size_t max_bytes, v1::Kernel& kernel)
      : scope_(scope), max_bytes_(max_bytes), kernel_(kernel) {}

  // Makes the module. The first closure suffices for most kernels.
  size_t Make() {
    const KernelText as_written = {kernel_.source(),
                                   {kernel_.free_names().begin(), kernel_.free_names().end()}};
    const Closure whole = Close(as_written);
    const v1::Definition* statement = OwnStatement(kernel_, whole.around());
    if (statement == nullptr && NeedsOwner(whole) && MakeOfOwner(whole.around())) return bytes_;
    const UnresolvedNames unresolved = FindUnresolvedNames(scope_, whole, kernel_.dsl(), statement);
    const absl::flat_hash_set<std::string> oversized = OversizedMachinery(whole, kernel_);
    if (unresolved.empty() && oversized.empty()) {
      FillIn(as_written, whole, statement);
      return bytes_;
    }
    const KernelTexts texts(scope_, kernel_, statement);
    const Ways ways = Choose(texts, statement);
    const KernelText text = texts.Write(ways);
    FillInBounded(text, statement);
    texts.Report(ways, kernel_);
    return bytes_;
  }

 private:
  Closure Close(const KernelText& text, const absl::flat_hash_set<std::string>& left_out = {}) {
    Closure closure(scope_, kernel_, text, max_bytes_, left_out);
    bytes_ += closure.bytes();
    return closure;
  }

  // Returns whether the kernel needs the class or the function around it.
  bool NeedsOwner(const Closure& whole) const {
    if (dsl::CompilesAsTriton(kernel_.dsl())) return false;
    return NeedsItsObject(kernel_) || std::any_of(whole.missing().begin(), whole.missing().end(),
                                                  [](const Closure::Missing& missing) {
                                                    return missing.reason == Closure::kUndefined;
                                                  });
  }

  // Makes the module with what is around the kernel; returns false if it cannot be had.
  bool MakeOfOwner(const v1::Definition* around) {
    const bool is_owner = around != nullptr && (around->kind() == v1::Definition::KIND_CLASS ||
                                                around->kind() == v1::Definition::KIND_FUNCTION);
    if (!is_owner || around->text().size() > max_bytes_) return false;
    const KernelText text = {
        around->text(), {around->uses().begin(), around->uses().end()}, around};
    const Closure closure = Close(text);
    const bool gave_up = closure.imports().empty() && closure.parts().empty();
    if (gave_up && !closure.missing().empty()) return false;
    FillIn(text, closure, around);
    return true;
  }

  // Chooses for each decorator whether it is kept, replaced or dropped; see the class comment.
  Ways Choose(const KernelTexts& texts, const v1::Definition* statement) {
    const Ways bare(texts.size(), Way::kDropped);
    Ways chosen = bare;
    if (texts.size() == 0) return chosen;
    const UnresolvedNames lacking =
        FindUnresolvedNames(scope_, Close(texts.Write(bare)), kernel_.dsl(), statement);
    for (size_t i = 0; i < texts.size(); ++i) {
      for (const Way way : {Way::kKept, Way::kReplaced}) {
        if (way == Way::kReplaced && !texts.CanBeReplaced(i)) continue;
        Ways alone = bare;
        alone[i] = way;
        const Closure closure = Close(texts.Write(alone));
        const bool fits = FindUnresolvedNames(scope_, closure, kernel_.dsl(), statement).size() <=
                              lacking.size() &&
                          OversizedMachinery(closure, kernel_).empty();
        if (!fits) continue;
        chosen[i] = way;
        break;
      }
    }
    return chosen;
  }

  // Fills in the module, again without machinery that turns out to be too large.
  void FillInBounded(const KernelText& text, const v1::Definition* statement) {
    const Closure whole = Close(text);
    const absl::flat_hash_set<std::string> oversized = OversizedMachinery(whole, kernel_);
    if (oversized.empty()) {
      FillIn(text, whole, statement);
    } else {
      FillIn(text, Close(text, oversized), statement);
    }
  }

  // Writes the module and the fields about it.
  void FillIn(const KernelText& text, const Closure& closure, const v1::Definition* statement) {
    ModuleWriter writer(scope_, kernel_);
    for (const v1::Definition* definition : closure.imports()) writer.AddImport(*definition);
    for (const Closure::Part& part : closure.parts()) writer.Add(part);
    const bool as_written = text.text == kernel_.source() && statement != nullptr;
    writer.Finish(as_written ? statement->text() : text.text, statement, closure.applied());
    kernel_.set_prompt_context(PromptContext(scope_, closure, kernel_));
    SetUnresolvedNames(FindUnresolvedNames(scope_, closure, kernel_.dsl(), statement), closure,
                       text.owner != nullptr, kernel_);
  }

  SourceScope& scope_;
  const size_t max_bytes_;
  v1::Kernel& kernel_;
  size_t bytes_ = 0;
};

}  // namespace

size_t MakeModule(SourceScope& scope, size_t max_bytes, v1::Kernel& kernel) {
  return ModuleMaker(scope, max_bytes, kernel).Make();
}

}  // namespace kernelmill::extractor
