#include "services/extractor/core/link/link.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/code/python_layout.h"
#include "common/python/module_paths.h"
#include "services/extractor/core/link/closure.h"
#include "services/extractor/core/link/cuda/cuda_launchers.h"
#include "services/extractor/core/link/cuda/cuda_module.h"
#include "services/extractor/core/link/cuda/source.h"
#include "services/extractor/core/link/host_machinery.h"
#include "services/extractor/core/link/imported_launches.h"
#include "services/extractor/core/link/imported_wrappers.h"
#include "services/extractor/core/link/kernel_shards.h"
#include "services/extractor/core/link/prompt_context.h"
#include "services/extractor/core/link/reexports.h"
#include "services/extractor/core/link/source_scope.h"
#include "services/extractor/core/link/unresolved.h"
#include "services/extractor/core/tags/tags.h"

namespace kernelmill::extractor {
namespace {

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
  explicit ModuleWriter(v1::Kernel& kernel) : kernel_(kernel) {
    kernel_.clear_imports();
    kernel_.clear_pieces();
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
      module_ += AtModuleLevel(part.definition->text());
      AddPart(*part.definition, part.definition->kind());
      return;
    }
    absl::StrAppend(&module_, part.name, " = ", part.value, "\n");
    v1::ModulePiece& assignment = *kernel_.add_pieces();
    assignment.set_kind(v1::Definition::KIND_CONSTANT);
    assignment.set_generated(true);
  }

  // Either may be null: `statement` where the kernel's own lines are all of it.
  void Finish(const v1::Definition* statement, const v1::Definition* applied) {
    Separate();
    module_ += AtModuleLevel(statement == nullptr ? kernel_.source() : statement->text());
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

  template <typename Span>
  void AddPart(const Span& span, v1::Definition::Kind kind) {
    v1::ModulePiece& part = *kernel_.add_pieces();
    part.set_path(span.path());
    part.set_generated(span.path().empty());
    part.set_first_line(span.first_line());
    part.set_last_line(span.last_line());
    part.set_kind(kind);
  }

  v1::Kernel& kernel_;
  std::string module_;
};

void FillIn(const SourceScope& scope, const Closure& closure, v1::Kernel& kernel) {
  ModuleWriter writer(kernel);
  const v1::Definition* statement = OwnStatement(kernel, closure.around());
  for (const v1::Definition* definition : closure.imports()) writer.AddImport(*definition);
  for (const Closure::Part& part : closure.parts()) writer.Add(part);
  writer.Finish(statement, closure.applied());
  kernel.set_prompt_context(PromptContext(scope, closure, kernel));
  SetUnresolvedNames(scope, closure, statement, kernel);
}

// Of machinery that is too large the module is made again without it.
size_t MakeModule(SourceScope& scope, size_t max_bytes, v1::Kernel& kernel) {
  const Closure whole(scope, kernel, max_bytes, {});
  const absl::flat_hash_set<std::string> oversized = OversizedMachinery(whole, kernel);
  if (oversized.empty()) {
    FillIn(scope, whole, kernel);
    return whole.bytes();
  }
  const Closure bounded(scope, kernel, max_bytes, oversized);
  FillIn(scope, bounded, kernel);
  return whole.bytes() + bounded.bytes();
}

void FillInModules(SourceScope& scope, const cuda::Source& cuda, const LinkOptions& options,
                   v1::KernelShard& shard) {
  size_t left = options.max_shard_bytes;
  for (v1::Kernel& kernel : *shard.mutable_kernels()) {
    if (kernel.has_cuda()) {
      const size_t bytes =
          cuda::FillInCudaModule(cuda, std::min(options.max_module_bytes, left), kernel);
      left -= std::min(left, bytes);
      continue;
    }
    ResolveReexports(scope, kernel);
    const size_t bytes = MakeModule(scope, std::min(options.max_module_bytes, left), kernel);
    left -= std::min(left, bytes + kernel.source().size());
  }
  shard.clear_definitions();
  shard.clear_launches();
}

void SetRequirement(const v1::SourceTree& tree, v1::KernelShard& shard) {
  for (v1::Kernel& kernel : *shard.mutable_kernels()) {
    if (kernel.dsl() != v1::DSL_TRITON && kernel.dsl() != v1::DSL_GLUON) continue;
    kernel.set_requires_triton(tree.requires_triton());
    kernel.set_requires_triton_path(tree.requires_triton_path());
  }
}

std::vector<std::string> PathsOf(const v1::SourceTree& tree) {
  std::vector<std::string> paths;
  for (const v1::FileEntry& file : tree.files()) paths.push_back(file.path());
  return paths;
}

// What of a whole source decides on each of its shards.
class Linker {
 public:
  Linker(const v1::SourceTree& tree, const LinkOptions& options)
      : tree_(tree),
        options_(options),
        paths_(PathsOf(tree)),
        wrappers_(paths_),
        launches_(options.max_launch_bytes),
        importable_left_(options.max_importable_bytes) {
    for (const v1::FileEntry& file : tree.files()) {
      if (file.support()) support_.insert(file.path());
    }
  }

  void Add(v1::KernelShard shard) {
    TakeWholeFiles(shard);
    wrappers_.Add(shard);
    for (v1::Definition& definition : *shard.mutable_definitions()) {
      const size_t size = definition.text().size();
      if (!definition.used() && size > importable_left_) continue;
      if (!definition.used()) importable_left_ -= size;
      auto& all =
          definition.kind() == v1::Definition::KIND_UNSPECIFIED ? cuda_texts_ : definitions_;
      all.push_back(std::move(definition));
    }
    for (v1::ImportedLaunch& launch : *shard.mutable_launches()) launches_.Add(std::move(launch));
    for (const v1::Kernel& kernel : shard.kernels()) launches_.AddUses(kernel);
  }

  // Once all shards are added.
  void Resolve() {
    scope_.emplace(std::move(definitions_), paths_);
    cuda_.emplace(std::move(cuda_texts_));
    cuda_launchers_.emplace(*cuda_, options_.max_launch_bytes);
    launches_.Resolve(*scope_);
  }

  // Returns how many candidates became kernels, without those that were dropped.
  int Link(v1::KernelShard& shard) {
    std::vector<v1::Kernel> files = TakeWholeFiles(shard);
    const int decided = wrappers_.DecideCandidates(shard) - DropUnselected(shard);
    launches_.FillIn(shard);
    SetRequirement(tree_, shard);
    for (v1::Kernel& kernel : *shard.mutable_kernels()) {
      if (kernel.has_cuda()) cuda_launchers_->FillIn(kernel);
    }
    FillInModules(*scope_, *cuda_, options_, shard);
    for (v1::Kernel& kernel : *shard.mutable_kernels()) AddTags(kernel);
    files.erase(std::remove_if(files.begin(), files.end(),
                               [this](const auto& file) { return support_.contains(file.path()); }),
                files.end());
    PutWholeFiles(std::move(files), shard);
    return decided;
  }

 private:
  // Drops the kernels of files that are there for others alone; returns how many these are.
  int DropUnselected(v1::KernelShard& shard) const {
    auto& kernels = *shard.mutable_kernels();
    const int before = kernels.size();
    kernels.erase(std::remove_if(kernels.begin(), kernels.end(),
                                 [this](const v1::Kernel& kernel) {
                                   return support_.contains(kernel.path());
                                 }),
                  kernels.end());
    for (v1::ExtractedFile& file : *shard.mutable_files()) {
      if (support_.contains(file.path())) file.set_kernels(0);
    }
    return before - kernels.size();
  }

  const v1::SourceTree& tree_;
  const LinkOptions& options_;
  const python::ModulePaths paths_;
  ImportedWrappers wrappers_;
  ImportedLaunches launches_;
  size_t importable_left_;
  absl::flat_hash_set<std::string> support_;  // paths of files that are there for others alone
  std::vector<v1::Definition> definitions_;
  std::vector<v1::Definition> cuda_texts_;
  std::optional<SourceScope> scope_;
  std::optional<cuda::Source> cuda_;
  std::optional<cuda::CudaLaunchers> cuda_launchers_;
};

}  // namespace

absl::StatusOr<int64_t> LinkSource(const v1::SourceTree& tree, const SourceShards& shards,
                                   const ShardWriter& write, const LinkOptions& options) {
  Linker linker(tree, options);
  for (size_t i = 0; i < shards.count; ++i) {
    ASSIGN_OR_RETURN(v1::KernelShard shard, shards.read(i));
    linker.Add(std::move(shard));
  }
  linker.Resolve();
  int64_t decided = 0;
  for (size_t i = 0; i < shards.count; ++i) {
    ASSIGN_OR_RETURN(v1::KernelShard shard, shards.read(i));
    decided += linker.Link(shard);
    RETURN_IF_ERROR(write(std::move(shard)));
  }
  return decided;
}

absl::StatusOr<v1::KernelShard> LinkSource(const v1::KernelShard& shard,
                                           const LinkOptions& options) {
  v1::SourceTree tree;
  for (const v1::ExtractedFile& file : shard.files()) tree.add_files()->set_path(file.path());
  v1::KernelShard linked;
  const auto write = [&linked](v1::KernelShard written) {
    linked = std::move(written);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      LinkSource(tree, {1, [&shard](size_t) { return shard; }}, write, options).status());
  return linked;
}

}  // namespace kernelmill::extractor
