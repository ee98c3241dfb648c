#include "services/extractor/core/link/module.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/code/python.h"
#include "services/extractor/core/link/closure.h"
#include "services/extractor/core/link/host_machinery.h"
#include "services/extractor/core/link/kernel_text.h"
#include "services/extractor/core/link/prompt_context.h"
#include "services/extractor/core/link/unresolved.h"

namespace kernelmill::extractor {
namespace {

using Way = KernelTexts::Way;
using Ways = std::vector<Way>;

// `text` as it may stand at module level, with a line end. Where it cannot be dedented it is a
// block.
std::string AtModuleLevel(absl::string_view text) {
  std::optional<std::string> statement = code::AtModuleLevel(text);
  if (statement) return *std::move(statement);
  const std::string lines = code::WithUnixLineEnds(text);
  return absl::StrCat("if True:\n", lines, absl::EndsWith(lines, "\n") ? "" : "\n");
}

// The kernel's own statement, if its text is the kernel's: with the '@' lines that stand before its
// span in odd layouts. Else null.
const v1::Definition* OwnStatement(const v1::Kernel& kernel, const v1::Definition* around) {
  const bool same = around != nullptr && around->kind() == v1::Definition::KIND_FUNCTION &&
                    around->last_line() == kernel.last_line() &&
                    around->first_line() >= kernel.first_line() - 2;
  return same ? around : nullptr;
}

// Puts a module together, and keeps account of what it is made of.
class ModuleWriter {
 public:
  ModuleWriter(const SourceScope& scope, v1::Kernel& kernel) : scope_(scope), kernel_(kernel) {
    kernel_.clear_imports();
    kernel_.clear_pieces();
    kernel_.clear_dropped_decorators();
    kernel_.clear_replaced_texts();
  }

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

  // Either may be null: `statement` where the kernel's own lines are all of it.
  void Finish(absl::string_view text, const v1::Definition* statement,
              const v1::Definition* applied) {
    Separate();
    module_ += AtModuleLevel(text);
    if (statement == nullptr) {
      AddPart(kernel_, v1::Definition::KIND_FUNCTION);
    } else {
      AddPart(*statement, v1::Definition::KIND_FUNCTION);
    }
    if (applied != nullptr) Add({applied, "", ""});
    kernel_.set_module(std::move(module_));
  }

 private:
  void Separate() {
    if (!module_.empty()) module_ += '\n';
  }

  void AddDefinition(const v1::Definition& definition) {
    module_ += AtModuleLevel(scope_.RestOf(definition));
    AddPart(definition, definition.kind());
    for (const SourceScope::Droppable& each : scope_.DroppedOf(definition)) {
      *kernel_.add_dropped_decorators() =
          ToDropped(each, definition.names(0), definition.first_line());
    }
  }

  template <typename Span>
  void AddPart(const Span& span, v1::Definition::Kind kind) {
    v1::ModulePiece& part = *kernel_.add_pieces();
    ImportPaths::Place place = scope_.paths().PlaceOf(span.path());
    part.set_path(std::move(place.path));
    part.set_used_source(std::move(place.source));
    part.set_generated(span.path().empty());
    part.set_first_line(span.first_line());
    part.set_last_line(span.last_line());
    part.set_kind(kind);
  }

  const SourceScope& scope_;
  v1::Kernel& kernel_;
  std::string module_;
};

class ModuleMaker {
 public:
  ModuleMaker(SourceScope& scope, size_t max_bytes, v1::Kernel& kernel)
      : scope_(scope), max_bytes_(max_bytes), kernel_(kernel) {}

  size_t Make() {
    const KernelText as_written = {kernel_.source(),
                                   {kernel_.free_names().begin(), kernel_.free_names().end()}};
    const Closure whole = Close(as_written);
    const v1::Definition* statement = OwnStatement(kernel_, whole.around());
    const UnresolvedNames unresolved = FindUnresolvedNames(scope_, whole, statement);
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

  Ways Choose(const KernelTexts& texts, const v1::Definition* statement) {
    const Ways bare(texts.size(), Way::kDropped);
    Ways chosen = bare;
    if (texts.size() == 0) return chosen;
    const UnresolvedNames lacking =
        FindUnresolvedNames(scope_, Close(texts.Write(bare)), statement);
    for (size_t i = 0; i < texts.size(); ++i) {
      for (const Way way : {Way::kKept, Way::kReplaced}) {
        if (way == Way::kReplaced && !texts.CanBeReplaced(i)) continue;
        Ways alone = bare;
        alone[i] = way;
        const Closure closure = Close(texts.Write(alone));
        const bool fits =
            FindUnresolvedNames(scope_, closure, statement).size() <= lacking.size() &&
            OversizedMachinery(closure, kernel_).empty();
        if (!fits) continue;
        chosen[i] = way;
        break;
      }
    }
    return chosen;
  }

  // Of machinery that is too large the module is made again without it.
  void FillInBounded(const KernelText& text, const v1::Definition* statement) {
    const Closure whole = Close(text);
    const absl::flat_hash_set<std::string> oversized = OversizedMachinery(whole, kernel_);
    if (oversized.empty()) {
      FillIn(text, whole, statement);
    } else {
      FillIn(text, Close(text, oversized), statement);
    }
  }

  void FillIn(const KernelText& text, const Closure& closure, const v1::Definition* statement) {
    ModuleWriter writer(scope_, kernel_);
    for (const v1::Definition* definition : closure.imports()) writer.AddImport(*definition);
    for (const Closure::Part& part : closure.parts()) writer.Add(part);
    const bool as_written = text.text == kernel_.source() && statement != nullptr;
    writer.Finish(as_written ? statement->text() : text.text, statement, closure.applied());
    kernel_.set_prompt_context(PromptContext(scope_, closure, kernel_));
    SetUnresolvedNames(FindUnresolvedNames(scope_, closure, statement), closure, kernel_);
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
