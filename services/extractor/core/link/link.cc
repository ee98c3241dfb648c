#include "services/extractor/core/link/link.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/extractor/core/link/closure.h"
#include "services/extractor/core/link/imported_launches.h"
#include "services/extractor/core/syntax/text_lines.h"

namespace kernelmill::extractor {
namespace {

// `text` as it may stand at module level, with a line end.
std::string AtModuleLevel(absl::string_view text) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");
  const size_t column = IndentationOf(text);
  std::string out(text);
  if (column > 0) {
    std::optional<std::string> dedented = Dedent(text, column);
    out = dedented ? *std::move(dedented) : absl::StrCat("if True:\n", text);
  }
  if (!absl::EndsWith(out, "\n") && !absl::EndsWith(out, "\r")) out += '\n';
  return out;
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
  explicit ModuleWriter(v1::Kernel& kernel) : kernel_(kernel) {
    kernel_.clear_imports();
    kernel_.clear_pieces();
  }

  void AddImport(const v1::Definition& definition) {
    std::string text = AtModuleLevel(definition.text());
    module_ += text;
    *kernel_.add_imports() = std::move(text);
    AddPiece(definition, v1::Definition::KIND_IMPORT);
  }

  void Add(const Closure::Part& part) {
    Separate();
    if (part.definition != nullptr) {
      module_ += AtModuleLevel(part.definition->text());
      AddPiece(*part.definition, part.definition->kind());
      return;
    }
    absl::StrAppend(&module_, part.name, " = ", part.value, "\n");
    v1::ModulePiece& piece = *kernel_.add_pieces();
    piece.set_kind(v1::Definition::KIND_CONSTANT);
    piece.set_generated(true);
  }

  // Either may be null: `statement` where the kernel's own lines are all of it.
  void Finish(const v1::Definition* statement, const v1::Definition* applied) {
    Separate();
    module_ += AtModuleLevel(statement == nullptr ? kernel_.source() : statement->text());
    if (statement == nullptr) {
      AddPiece(kernel_, v1::Definition::KIND_FUNCTION);
    } else {
      AddPiece(*statement, v1::Definition::KIND_FUNCTION);
    }
    if (applied != nullptr) Add({applied, "", ""});
    kernel_.set_module(std::move(module_));
  }

 private:
  void Separate() {
    if (!module_.empty()) module_ += '\n';
  }

  template <typename Span>
  void AddPiece(const Span& span, v1::Definition::Kind kind) {
    v1::ModulePiece& piece = *kernel_.add_pieces();
    piece.set_path(span.path());
    piece.set_first_line(span.first_line());
    piece.set_last_line(span.last_line());
    piece.set_kind(kind);
  }

  v1::Kernel& kernel_;
  std::string module_;
};

void FillIn(const Closure& closure, v1::Kernel& kernel) {
  ModuleWriter writer(kernel);
  const v1::Definition* statement = OwnStatement(kernel, closure.around());
  bool allowed = statement == nullptr || ModulesAllowed(*statement);
  if (closure.applied() != nullptr) allowed = allowed && ModulesAllowed(*closure.applied());
  for (const v1::Definition* definition : closure.imports()) {
    allowed = allowed && ModulesAllowed(*definition);
    writer.AddImport(*definition);
  }
  for (const Closure::Part& part : closure.parts()) {
    allowed = allowed && (part.definition == nullptr || ModulesAllowed(*part.definition));
    writer.Add(part);
  }
  writer.Finish(statement, closure.applied());
  kernel.set_self_contained(allowed && closure.missing().empty());
  kernel.clear_free_names();
  for (const std::string& name : closure.missing()) kernel.add_free_names(name);
}

}  // namespace

void LinkShard(SourceScope& scope, v1::KernelShard& shard, const LinkOptions& options) {
  size_t left = options.max_shard_bytes;
  for (v1::Kernel& kernel : *shard.mutable_kernels()) {
    if (kernel.has_cuda()) {
      kernel.set_module(kernel.source());
      continue;
    }
    const Closure closure(scope, kernel, std::min(options.max_module_bytes, left));
    left -= std::min(left, closure.bytes() + kernel.source().size());
    FillIn(closure, kernel);
  }
  shard.clear_definitions();
  shard.clear_launches();
}

void LinkShard(v1::KernelShard& shard, const LinkOptions& options) {
  std::vector<std::string> paths;
  for (const v1::ExtractedFile& file : shard.files()) paths.push_back(file.path());
  SourceScope scope({shard.definitions().begin(), shard.definitions().end()}, std::move(paths));
  ImportedLaunches launches(options.max_shard_bytes);
  for (v1::ImportedLaunch& launch : *shard.mutable_launches()) launches.Add(std::move(launch));
  launches.Resolve(scope);
  launches.FillIn(shard);
  LinkShard(scope, shard, options);
}

}  // namespace kernelmill::extractor
