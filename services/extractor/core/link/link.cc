#include "services/extractor/core/link/link.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "common/base/in_order.h"
#include "common/base/status.h"
#include "common/dsl/languages.h"
#include "common/dsl/names.h"
#include "services/extractor/core/describe/features.h"
#include "services/extractor/core/link/cuda/cuda_launchers.h"
#include "services/extractor/core/link/cuda/cuda_module.h"
#include "services/extractor/core/link/cuda/qualifier_macros.h"
#include "services/extractor/core/link/cuda/source.h"
#include "services/extractor/core/link/import_paths.h"
#include "services/extractor/core/link/imported_launches.h"
#include "services/extractor/core/link/imported_wrappers.h"
#include "services/extractor/core/link/kernel_shards.h"
#include "services/extractor/core/link/module.h"
#include "services/extractor/core/link/notebook_cells.h"
#include "services/extractor/core/link/source_scope.h"
#include "services/extractor/core/tags/tags.h"

namespace kernelmill::extractor {
namespace {

// The dotted names outside the source for dotted names that the kernel's file alone cannot resolve
// further: "triton.language" for the tl of `from .utils import tl`.
using Truths = absl::flat_hash_map<std::string, std::string>;

// The truths about a kernel's names, by the name as its file has it and as its calls have it.
struct KernelTruths {
  Truths by_name;
  Truths by_call;
};

// Returns the dotted name that the file's own imports give the name, as in Kernel.calls.
std::string KnownAs(const TextDefinitions& text, const SourceScope& scope,
                    const std::string& name) {
  const auto bindings = text.by_name.find(name);
  if (bindings == text.by_name.end()) return name;
  for (const v1::Definition* definition : bindings->second) {
    const v1::ImportedName* imported = scope.ImportedWithin(*definition, name);
    if (imported != nullptr && imported->level() == 0) return DottedName(*imported);
  }
  return name;
}

constexpr size_t kMaxImportedName = 256;  // real names are shorter; bounds the time

// Replaces the longest known prefix of each call.
void RewriteCalls(const Truths& truths, v1::Kernel& kernel) {
  std::set<std::string> calls;
  for (const std::string& call : kernel.calls()) {
    std::string resolved = call;
    for (size_t dot = call.find('.'); dot < kMaxImportedName; dot = call.find('.', dot + 1)) {
      const auto found = truths.find(call.substr(0, dot));
      if (found != truths.end()) resolved = absl::StrCat(found->second, call.substr(dot));
    }
    const auto whole = truths.find(call);
    calls.insert(whole == truths.end() ? resolved : whole->second);
  }
  kernel.mutable_calls()->Assign(calls.begin(), calls.end());
}

// Adds the features that a kernel uses through re-exported names.
void AddFeatures(const MemberReads& reads, const Truths& by_name, v1::Kernel& kernel) {
  std::set<std::string> features(kernel.features().begin(), kernel.features().end());
  const auto add = [&features](std::string resolved) {
    if (const auto said = dsl::FindSaidName(resolved)) resolved = said->resolved;
    for (const absl::string_view feature : FindFeatures(resolved)) features.emplace(feature);
  };
  for (const auto& [name, truth] : by_name) {
    add(truth);
    const std::vector<std::string>* chains = reads.Find(name);
    for (size_t i = 0; chains != nullptr && i < chains->size(); ++i) {
      add(absl::StrCat(truth, ".", (*chains)[i]));
    }
  }
  kernel.mutable_features()->Assign(features.begin(), features.end());
}

// Finds the members of a module outside the source that say that they are Triton:
// `import vllm.triton_utils` and vllm.triton_utils.tl.load.
void AddSaidMembers(const SourceScope& scope, const TextDefinitions& text, const std::string& name,
                    const v1::Kernel& kernel, KernelTruths& truths) {
  const auto bindings = text.by_name.find(name);
  if (bindings == text.by_name.end()) return;
  for (const v1::Definition* definition : bindings->second) {
    const v1::ImportedName* imported = scope.ImportedWithin(*definition, name);
    if (imported == nullptr || !imported->member().empty() || scope.IsOwn(text, *imported))
      continue;
    const std::string module = DottedName(*imported);
    for (const std::string& call : kernel.calls()) {
      if (!absl::StartsWith(call, absl::StrCat(module, "."))) continue;
      const std::optional<dsl::SaidName> said = dsl::FindSaidName(call);
      if (!said) continue;
      truths.by_call[call.substr(0, said->word_bytes)] =
          dsl::FindSaidName(call.substr(0, said->word_bytes))->resolved;
      truths.by_name[name] = module;
    }
  }
}

// Corrects the calls and features of a kernel that gets Triton, or another installed package,
// through another module: `from .utils import tl`. Its calls say triton.language.load
// afterwards. The extraction of the kernel's file could not know that.
void ResolveReexports(SourceScope& scope, v1::Kernel& kernel) {
  const TextDefinitions& text = scope.GetDefinitions(kernel.path(), kernel.string_begin());
  KernelTruths truths;
  for (const std::string& name : kernel.free_names()) {
    std::string truth = scope.InstalledName(text, name);
    if (truth.empty()) AddSaidMembers(scope, text, name, kernel, truths);
    if (truth.empty()) continue;
    truths.by_call[KnownAs(text, scope, name)] = truth;
    truths.by_name[name] = std::move(truth);
  }
  if (truths.by_name.empty()) return;
  RewriteCalls(truths.by_call, kernel);
  AddFeatures(MemberReads(kernel.source()), truths.by_name, kernel);
}

// Makes the modules of a shard's kernels, within the shard's bound on text that is read.
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

// Copies the source's requirement on Triton's version into its Triton and Gluon kernels.
void SetRequirement(const v1::SourceTree& tree, v1::KernelShard& shard) {
  for (v1::Kernel& kernel : *shard.mutable_kernels()) {
    if (!dsl::CompilesAsTriton(kernel.dsl())) continue;
    kernel.set_requires_triton(tree.requires_triton());
    kernel.set_requires_triton_path(tree.requires_triton_path());
  }
}

// Lets shards, each on some thread, take turns in their order. Thread-safe.
class Turns {
 public:
  // Waits for the turn of a shard, and calls `action`. Each shard must take its turn once.
  void Take(size_t shard, absl::FunctionRef<void()> action) {
    const absl::MutexLock lock(&mutex_);
    const auto ready = [this, shard]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return next_ == shard; };
    mutex_.Await(absl::Condition(&ready));
    action();
    ++next_;
  }

 private:
  absl::Mutex mutex_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Everything about a whole source that decides on each of its shards: first Add() each shard, then
// Resolve() once, then Link() each shard, which several threads may do.
class Linker {
 public:
  Linker(const v1::SourceTree& tree, const dsl::LanguageSet& wanted, const LinkOptions& options)
      : tree_(tree),
        wanted_(wanted),
        options_(options),
        paths_(tree),
        wrappers_(paths_),
        launches_(options.max_launch_bytes),
        importable_left_(options.max_importable_bytes) {
    for (const v1::FileEntry& file : tree.files()) {
      if (file.support()) support_.insert(file.path());
    }
  }

  // Adds what a shard has for others: definitions, wrappers, launches and uses. Its kernels are
  // dropped here and read again in Link(), so that a source's kernels do not have to fit into
  // memory together.
  void Add(v1::KernelShard shard) {
    TakeWholeFiles(shard);
    wrappers_.Add(shard);
    for (v1::Definition& definition : *shard.mutable_definitions()) {
      if (!definition.used() && !MayHold(definition)) continue;
      auto& all =
          definition.kind() == v1::Definition::KIND_UNSPECIFIED ? cuda_texts_ : definitions_;
      all.push_back(std::move(definition));
    }
    for (v1::ImportedLaunch& launch : *shard.mutable_launches()) launches_.Add(std::move(launch));
    for (const v1::Kernel& kernel : shard.kernels()) launches_.AddUses(kernel);
  }

  // Adds the shards of a used source. Call it after Add() for all of the source's own.
  absl::Status AddUsed(const UsedSourceShards& used) {
    for (size_t i = 0; i < used.shards.count; ++i) {
      ASSIGN_OR_RETURN(v1::KernelShard shard, used.shards.read(i));
      wrappers_.AddUsed(used_, shard);
      for (v1::Definition& definition : *shard.mutable_definitions()) {
        const bool is_python = definition.kind() != v1::Definition::KIND_UNSPECIFIED;
        if (!is_python || definition.string_begin() > 0 || !MayHold(definition)) continue;
        definition.set_path(ImportPaths::MakeUsedPath(used_, definition.path()));
        definitions_.push_back(std::move(definition));
      }
    }
    paths_.AddUsed(used.name, used.tree);
    ++used_;
    return absl::OkStatus();
  }

  // Call it once all shards are added.
  void Resolve() {
    wrappers_.ResolveMade();
    scope_.emplace(std::move(definitions_), paths_, wanted_);
    cuda_.emplace(std::move(cuda_texts_));
    cuda_launchers_.emplace(*cuda_, options_.max_launch_bytes);
    qualifier_macros_.emplace(*cuda_);
    launches_.Resolve(*scope_);
    scope_->ForgetMissing();
  }

  // Reads and links a shard. Returns how many candidates became kernels, without those that were
  // dropped. Thread-safe.
  absl::StatusOr<int> Link(const SourceShards& shards, size_t number, const ShardWriter& write) {
    absl::StatusOr<v1::KernelShard> shard = shards.read(number);
    if (!shard.ok()) {
      turns_.Take(number, [] {});
      return shard.status();
    }
    const int decided = Link(number, *shard);
    RETURN_IF_ERROR(write(number, *std::move(shard)));
    return decided;
  }

 private:
  // The launchers of CUDA functions have a bound on their text in all, so that shards get theirs in
  // order. All else depends on the shard and the source alone.
  int Link(size_t number, v1::KernelShard& shard) {
    std::vector<v1::Kernel> files = TakeWholeFiles(shard);
    const bool wants_cuda = wanted_.Has(dsl::kCuda);
    const int hidden = wants_cuda ? qualifier_macros_->AddFunctions(shard) : 0;
    if (hidden > 0) SortKernels(shard);
    const int decided = wrappers_.DecideCandidates(wanted_, shard) + hidden - DropUnselected(shard);
    launches_.FillIn(shard);
    SetRequirement(tree_, shard);
    turns_.Take(number, [&] {
      for (v1::Kernel& kernel : *shard.mutable_kernels()) {
        if (kernel.has_cuda()) cuda_launchers_->FillIn(kernel);
      }
    });
    SourceScope scope = scope_->MakeView();
    FillInModules(scope, *cuda_, options_, shard);
    for (v1::Kernel& kernel : *shard.mutable_kernels()) AddTags(kernel);
    MoveToCells(shard);
    files.erase(std::remove_if(files.begin(), files.end(),
                               [this](const auto& file) { return support_.contains(file.path()); }),
                files.end());
    PutWholeFiles(std::move(files), shard);
    return decided;
  }

  // Returns whether a definition that only other files may use still fits, and counts it.
  bool MayHold(const v1::Definition& definition) {
    const size_t size = definition.text().size();
    if (size > importable_left_) return false;
    importable_left_ -= size;
    return true;
  }

  // Drops the kernels of support files. Returns how many these were.
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
  const dsl::LanguageSet& wanted_;
  const LinkOptions& options_;
  ImportPaths paths_;
  ImportedWrappers wrappers_;
  ImportedLaunches launches_;
  size_t importable_left_;
  size_t used_ = 0;                           // number of used sources
  absl::flat_hash_set<std::string> support_;  // files that are in the tree only for others' sake
  std::vector<v1::Definition> definitions_;
  std::vector<v1::Definition> cuda_texts_;
  std::optional<SourceScope> scope_;
  std::optional<cuda::Source> cuda_;
  std::optional<cuda::CudaLaunchers> cuda_launchers_;  // in the turn of a shard
  std::optional<cuda::QualifierMacros> qualifier_macros_;
  Turns turns_;
};

}  // namespace

// Reads each shard twice: once to collect what other shards need, once to link it. So memory holds
// the definitions of the whole source, but the kernels of one shard for each thread only. Shards
// are added in order, as definitions beyond the bounds are left out.
absl::StatusOr<int64_t> LinkSource(const v1::SourceTree& tree, const SourceShards& shards,
                                   const std::vector<UsedSourceShards>& used,
                                   const ShardWriter& write, const LinkOptions& options) {
  ASSIGN_OR_RETURN(const dsl::LanguageSet wanted, dsl::LanguageSet::Make(tree.languages()));
  Linker linker(tree, wanted, options);
  const size_t window = static_cast<size_t>(options.threads) + 2;
  RETURN_IF_ERROR(InOrder<v1::KernelShard>(
      options.threads, shards.count, window, [&](size_t i) { return shards.read(i); },
      [&](size_t, v1::KernelShard shard) {
        linker.Add(std::move(shard));
        return absl::OkStatus();
      }));
  for (const UsedSourceShards& each : used) RETURN_IF_ERROR(linker.AddUsed(each));
  linker.Resolve();
  int64_t decided = 0;
  RETURN_IF_ERROR(InOrder<int>(
      options.threads, shards.count, window,
      [&](size_t i) { return linker.Link(shards, i, write); },
      [&](size_t, int count) {
        decided += count;
        return absl::OkStatus();
      }));
  return decided;
}

absl::StatusOr<v1::KernelShard> LinkSource(const v1::KernelShard& shard, const LinkOptions& options,
                                           const std::vector<std::string>& languages) {
  v1::SourceTree tree;
  for (const std::string& language : languages) tree.add_languages(language);
  for (const v1::ExtractedFile& file : shard.files()) tree.add_files()->set_path(file.path());
  v1::KernelShard linked;
  const auto write = [&linked](size_t, v1::KernelShard written) {
    linked = std::move(written);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(
      LinkSource(tree, {1, [&shard](size_t) { return shard; }}, {}, write, options).status());
  return linked;
}

}  // namespace kernelmill::extractor
