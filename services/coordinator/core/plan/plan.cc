// JobPlan as a state machine: results, then failures. plan_actions.cc has the actions of tasks.

#include "services/coordinator/core/plan/plan.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "common/job/job_spec.h"
#include "common/job/source_spec.h"
#include "common/manifest/unmatched.h"
#include "common/toolchains/toolchains.h"
#include "services/coordinator/core/plan/result_checks.h"

namespace kernelmill::coordinator {
namespace {

// The barriers, the basic idea: four counters of open work decide when the next stages can begin.
//
//   searches_open_                    0: the sources are known and begin to be pinned and fetched
//   extracts_open of a source         0: its link task begins, and then those of references and history
//   sources_unlinked_, checks_open_   both 0: the pair tasks begin
//   pairs_open_                       0: the resolve task begins
//   runs_open_                        0: the manifest begins
//
// Every task that may still begin is counted in one of them from the time its predecessor ends, so
// a counter never reaches 0 too early. A task that fails is taken out of its counter
// (NoLongerAwaited), and a split task is replaced in it by its parts.
constexpr int64_t kMaxItems = int64_t{1}
                              << 31;  // files or kernels of a shard, pairs of a partition

}  // namespace

v1::NamedDigest ToNamedDigest(const BlobRef& ref, absl::string_view name) {
  v1::NamedDigest digest;
  digest.set_name(std::string(name));
  digest.mutable_digest()->set_hash(
      absl::BytesToHexString(absl::string_view(ref.hash.data(), ref.hash.size())));
  digest.mutable_digest()->set_size_bytes(ref.size);
  digest.set_items(ref.items);
  return digest;
}

// Checks a digest of a worker and packs it: BlobRef has the raw hash, a third of the size of the
// message. INVALID_ARGUMENT: another name, a malformed digest, or an impossible number of items.
absl::StatusOr<BlobRef> ToBlobRef(const v1::NamedDigest& digest, absl::string_view name) {
  if (digest.name() != name) {
    return absl::InvalidArgumentError(
        absl::StrCat("output ", JsonString(digest.name()), ": expected '", name, "'"));
  }
  RETURN_IF_ERROR(Annotate(cas::CheckDigest(digest.digest()), name));
  if (digest.items() < 0 || digest.items() > kMaxItems) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": items must be 0 to ", kMaxItems, ", not ", digest.items()));
  }
  BlobRef ref;
  const std::string raw = absl::HexStringToBytes(digest.digest().hash());
  std::copy(raw.begin(), raw.end(), ref.hash.begin());
  ref.size = digest.digest().size_bytes();
  ref.items = digest.items();
  return ref;
}

absl::StatusOr<BlobRef> OnlyOutput(const v1::StageResult& result, absl::string_view name) {
  if (result.outputs_size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(result.outputs_size(), " outputs, expected one '", name, "'"));
  }
  return ToBlobRef(result.outputs(0), name);
}

namespace {

// Each partition reads every signature of the job. So medium jobs have a few partitions, and more
// are used only if one partition's bands would take much memory: 32 bytes per kernel and band.
constexpr int64_t kKernelsPerSmallPartition = 2000;
constexpr int64_t kSmallPartitions = 4;
constexpr int64_t kKernelsPerPartition = 262144;
constexpr int64_t kMaxPartitions = 64;

// The tree of halves (task.h) has room for this many; workers make much smaller shards.
constexpr int64_t kMaxItemsPerShard = 16384;
constexpr int kMaxIrShards = 4096;  // for one shard of kernels

// Checks the size of a shard that may be split.
absl::Status CheckShardSize(const BlobRef& shard, absl::string_view name, absl::string_view items) {
  if (shard.items >= 1 && shard.items <= kMaxItemsPerShard) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      name, ": a shard must have 1 to ", kMaxItemsPerShard, " ", items, ", not ", shard.items));
}

// Checks that an output with one item per kernel has as many items as the shard has kernels.
absl::Status CheckAsMany(int64_t kernels, const BlobRef& of_them, absl::string_view name) {
  if (of_them.items == kernels) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": has ", of_them.items, " items for ", kernels, " kernels"));
}

}  // namespace

// Returns 1 partition below 4,000 kernels, up to 4 for medium jobs, and from about 1.3 million
// kernels on one for each 262,144, up to 64.
int32_t PairPartitions(int64_t kernels) {
  return static_cast<int32_t>(
      std::max(std::clamp<int64_t>(kernels / kKernelsPerSmallPartition, 1, kSmallPartitions),
               std::min(kernels / kKernelsPerPartition, kMaxPartitions)));
}

namespace {

// Returns the device whose results the source is, if a plan has added it: a client would have made
// its path absolute. Else an empty string.
std::string FindRunDevice(const v1::Source& source) {
  for (const absl::string_view device : toolchains::RunDevices()) {
    if (source.path() == job::RunSourceName(device, source.sha256())) return std::string(device);
  }
  return "";
}

// Restores the run policy of a job that begins again. No fetcher has the results, but the runners'
// cache has them.
v1::JobSpec RestoreRun(v1::JobSpec spec) {
  for (int i = spec.sources_size() - 1; i >= 0; --i) {
    const std::string device = FindRunDevice(spec.sources(i));
    if (device.empty()) continue;
    spec.mutable_run()->set_device(device);
    spec.mutable_sources()->DeleteSubrange(i, 1);
  }
  return spec;
}

}  // namespace

JobPlan::JobPlan(v1::JobSpec spec)
    : settings_(RestoreRun(std::move(spec))),
      opt_outs_(settings_.opt_out()),
      packed_(settings_),
      sources_(packed_.size()) {}

v1::JobSpec JobPlan::Spec() const {
  v1::JobSpec spec = settings_;
  packed_.CopyTo(spec);
  return spec;
}

// Searches come first, because a search replaces itself by the sources that it finds, and that
// changes the numbers of the sources.
std::vector<TaskKey> JobPlan::Start() {
  Tasks next;
  for (int32_t i = 0; i < packed_.size(); ++i) {
    if (packed_.Get(i).has_discover()) next.push_back({.stage = StageId::kDiscover, .source = i});
  }
  searches_open_ = static_cast<int32_t>(next.size());
  if (searches_open_ == 0) BeginSources(next);
  PassBarriers(next);
  return next;
}

void JobPlan::BeginSources(Tasks& next) {
  uses_ = FindUses<UsedShards>(packed_, opt_outs_);
  for (int32_t i = 0; i < packed_.size(); ++i) {
    if (sources_[i].failed) {
      Settle(i, next);
      continue;
    }
    const bool pinned = job::IsPinned(packed_.Get(i));
    next.push_back({.stage = pinned ? StageId::kFetch : StageId::kPin, .source = i});
    ++sources_unlinked_;
  }
}

// Takes the result of a task and returns the tasks that can begin. INVALID_ARGUMENT: the result
// does not fit; the plan is unchanged, because each case below checks before it assigns.
absl::StatusOr<std::vector<TaskKey>> JobPlan::Succeed(const TaskKey& task,
                                                      const v1::StageResult& result) {
  RETURN_IF_ERROR(CheckReport(result));
  Tasks next;
  switch (task.stage) {
    case StageId::kDiscover:
      RETURN_IF_ERROR(Discovered(task.source, result, next));
      break;
    case StageId::kPin:
      RETURN_IF_ERROR(Pinned(task.source, result, next));
      break;
    case StageId::kFetch:
      RETURN_IF_ERROR(Fetched(task.source, result, next));
      break;
    case StageId::kExtract:
      RETURN_IF_ERROR(Extracted(task, result, next));
      break;
    case StageId::kLink:
      RETURN_IF_ERROR(Linked(task.source, result, next));
      break;
    case StageId::kReference:
      RETURN_IF_ERROR(Referenced(task.source, result, next));
      break;
    case StageId::kHistory:
      RETURN_IF_ERROR(HistoryFound(task.source, result, next));
      break;
    case StageId::kCompile:
      RETURN_IF_ERROR(Compiled(task, result, next));
      break;
    case StageId::kValidate:
      RETURN_IF_ERROR(Validated(task, result));
      break;
    case StageId::kSign:
      RETURN_IF_ERROR(Signed(task, result));
      break;
    case StageId::kPair:
    case StageId::kResolve:
    case StageId::kSplit:
    case StageId::kRunCpu:
    case StageId::kRunCuda80:
    case StageId::kRunCuda90:
    case StageId::kRunCuda100:
    case StageId::kManifest:
      RETURN_IF_ERROR(JobLevel(task, result, next));
      break;
  }
  for (const v1::Counter& counter : result.counters()) {
    counters_[counter.name()] += counter.value();
  }
  PassBarriers(next);
  return next;
}

absl::Status JobPlan::Discovered(int32_t source, const v1::StageResult& result, Tasks& next) {
  RETURN_IF_ERROR(CheckFound(packed_.Get(source), result));
  found_[source] = {result.found().begin(), result.found().end()};
  if (--searches_open_ == 0) SearchesOver(next);
  return absl::OkStatus();
}

// Replaces each search by the repositories that it found, without those that the job already has. A
// failed search stays as a failed source, so that a retry of the job searches again.
void JobPlan::SearchesOver(Tasks& next) {
  std::set<std::string> known;
  for (int32_t i = 0; i < packed_.size(); ++i) known.insert(packed_.Get(i).git());
  PackedSources expanded;
  SourceStates states;
  for (int32_t i = 0; i < packed_.size(); ++i) {
    const v1::Source source = packed_.Get(i);
    if (!source.has_discover() || sources_[i].failed) {
      expanded.Add(source);
      states.Add(sources_[i].failed);
      continue;
    }
    for (const std::string& url : found_[i]) {
      if (!known.insert(url).second) continue;
      expanded.Add(job::FoundSource(source, url));
      states.Add(/*failed=*/false);
    }
  }
  packed_ = std::move(expanded);
  sources_ = std::move(states);
  found_.clear();
  BeginSources(next);
}

absl::Status JobPlan::Pinned(int32_t source, const v1::StageResult& result, Tasks& next) {
  v1::Source pinned = packed_.Get(source);
  RETURN_IF_ERROR(CheckPinned(pinned, result));
  if (settings_.require_hashes() && result.pinned().hash_computed()) {
    return absl::InvalidArgumentError("pin: the job requires a hash of the index or the job");
  }
  pinned.set_ref(result.pinned().ref());
  pinned.set_sha256(result.pinned().sha256());
  pinned.set_hash_computed(result.pinned().hash_computed());
  packed_.Set(source, pinned);
  next.push_back({.stage = StageId::kFetch, .source = source});
  return absl::OkStatus();
}

namespace {

// The outputs for a history, which follow the files.
struct FetchedHistory {
  size_t begin = 0;            // the first output that is no longer a file's
  std::vector<BlobRef> index;  // one, if the source has a history
  std::vector<BlobRef> versions;
};

absl::StatusOr<FetchedHistory> ReadFetchedHistory(bool wanted, const v1::StageResult& result) {
  FetchedHistory history;
  const auto& outputs = result.outputs();
  const auto first =
      std::find_if(outputs.begin(), outputs.end(),
                   [](const v1::NamedDigest& output) { return output.name() == "history"; });
  history.begin = static_cast<size_t>(first - outputs.begin());
  if (wanted != (first != outputs.end())) {
    return absl::InvalidArgumentError("fetch: must have a history if the source asks for one");
  }
  for (auto output = first; output != outputs.end(); ++output) {
    std::vector<BlobRef>& to = output == first ? history.index : history.versions;
    ASSIGN_OR_RETURN(to.emplace_back(),
                     ToBlobRef(*output, output == first ? "history" : "versions"));
  }
  return history;
}

}  // namespace

absl::Status JobPlan::Fetched(int32_t source, const v1::StageResult& result, Tasks& next) {
  if (result.outputs().empty())
    return absl::InvalidArgumentError("fetch: output 'tree' is missing");
  ASSIGN_OR_RETURN(const BlobRef tree, ToBlobRef(result.outputs(0), "tree"));
  ASSIGN_OR_RETURN(FetchedHistory history,
                   ReadFetchedHistory(packed_.Get(source).has_history(), result));
  std::vector<BlobRef> files(history.begin - 1);
  for (size_t k = 0; k < files.size(); ++k) {
    ASSIGN_OR_RETURN(files[k], ToBlobRef(result.outputs(static_cast<int>(k) + 1), "files"));
    RETURN_IF_ERROR(CheckShardSize(files[k], "files", "files"));
  }
  AddUnfetched(source, result);
  Source& state = sources_.Mutable(source);
  state.tree = tree;
  state.files = std::move(files);
  state.history = std::move(history.index);
  state.versions = std::move(history.versions);
  state.lost.resize(state.files.size());
  if (packed_.IsEvidence(source)) {
    --sources_unlinked_;  // nothing of it goes on
    return absl::OkStatus();
  }
  state.extracts_open = state.shards();
  for (int32_t k = 0; k < state.extracts_open; ++k) {
    next.push_back({.stage = StageId::kExtract, .source = source, .shard = k});
  }
  if (state.files.empty()) ExtractionOver(source, next);
  return absl::OkStatus();
}

absl::Status JobPlan::Extracted(const TaskKey& task, const v1::StageResult& result, Tasks& next) {
  Source& state = sources_.Mutable(task.source);
  ASSIGN_OR_RETURN(const BlobRef kernels, OnlyOutput(result, "kernels"));
  state.kernels.resize(state.files.size());
  if (task.sub_shard == kWholeShard) {
    state.kernels[task.shard] = kernels;
  } else {
    state.split[task.shard][task.sub_shard] = kernels;
    if (task.sub_shard & kQuarantined) AddQuarantined(task, result);
  }
  if (--state.extracts_open == 0) ExtractionOver(task.source, next);
  return absl::OkStatus();
}

// Called once for each source, when its last shard is extracted or lost. A source that uses others
// begins to link only when those have settled; Settle then begins it.
void JobPlan::ExtractionOver(int32_t source, Tasks& next) {
  Settle(source, next);
  const std::vector<bool>& lost = sources_[source].lost;
  if (std::all_of(lost.begin(), lost.end(), [](bool shard) { return shard; })) {
    --sources_unlinked_;  // nothing to link
  } else if (uses_.MayBegin(source)) {
    next.push_back({.stage = StageId::kLink, .source = source});
  }
}

// The users of the source get exactly the shards that it has now, even if it fails later. So their
// modules do not depend on whether they were linked before or after the failure.
void JobPlan::Settle(int32_t source, Tasks& next) {
  if (!uses_.IsUsed(source)) return;
  UsedShards shards;
  const Source& state = sources_[source];
  for (int32_t k = 0; k < state.shards(); ++k) {
    if (state.lost[k]) continue;
    for (const BlobRef& ref : GetKernels(state, k)) shards.kernels.push_back(ref);
  }
  shards.tree = state.tree;
  for (const int32_t user : uses_.Settle(source, std::move(shards))) {
    next.push_back({.stage = StageId::kLink, .source = user});
  }
}

// The link stage returns one output for each shard that is not lost, in their order.
absl::Status JobPlan::Linked(int32_t source, const v1::StageResult& result, Tasks& next) {
  Source& state = sources_.Mutable(source);
  const std::vector<int32_t> alive = GetAlive(state);
  if (result.outputs_size() != static_cast<int>(alive.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("link: made ", result.outputs_size(), " shards, expected ", alive.size()));
  }
  std::vector<BlobRef> linked(state.files.size());
  for (size_t i = 0; i < alive.size(); ++i) {
    ASSIGN_OR_RETURN(linked[alive[i]], ToBlobRef(result.outputs(static_cast<int>(i)), "kernels"));
  }
  state.linked = std::move(linked);
  state.kernels = {};  // no later action needs them
  state.signatures.resize(state.files.size());
  state.shingles.resize(state.files.size());
  if (!IsHoldout(source)) state.verdicts.resize(state.files.size());
  if (settings_.references() && !IsHoldout(source)) {
    next.push_back({.stage = StageId::kReference, .source = source});
  } else {
    BeginHistory(source, next);
  }
  return absl::OkStatus();
}

void JobPlan::BeginHistory(int32_t source, Tasks& next) {
  if (sources_[source].history.empty()) return BeginChecks(source, next);
  next.push_back({.stage = StageId::kHistory, .source = source});
}

absl::Status JobPlan::HistoryFound(int32_t source, const v1::StageResult& result, Tasks& next) {
  std::vector<BlobRef> changes, kernels;
  for (const v1::NamedDigest& output : result.outputs()) {
    if (kernels.empty() && output.name() == "changes") {
      ASSIGN_OR_RETURN(changes.emplace_back(), ToBlobRef(output, "changes"));
      continue;
    }
    ASSIGN_OR_RETURN(kernels.emplace_back(), ToBlobRef(output, "version_kernels"));
    RETURN_IF_ERROR(CheckShardSize(kernels.back(), "version_kernels", "kernels"));
  }
  sources_.Mutable(source).changes = std::move(changes);
  sources_.Mutable(source).version_kernels = std::move(kernels);
  BeginChecks(source, next);
  return absl::OkStatus();
}

// The stage returns one output for each shard that is not lost, in their order.
absl::Status JobPlan::Referenced(int32_t source, const v1::StageResult& result, Tasks& next) {
  Source& state = sources_.Mutable(source);
  const std::vector<int32_t> alive = GetAlive(state);
  if (result.outputs_size() != static_cast<int>(alive.size())) {
    return absl::InvalidArgumentError(absl::StrCat("reference: made ", result.outputs_size(),
                                                   " shards, expected ", alive.size()));
  }
  std::vector<BlobRef> references(state.files.size());
  for (size_t i = 0; i < alive.size(); ++i) {
    BlobRef& made = references[alive[i]];
    ASSIGN_OR_RETURN(made, ToBlobRef(result.outputs(static_cast<int>(i)), "references"));
    RETURN_IF_ERROR(CheckAsMany(state.linked[alive[i]].items, made, "references"));
  }
  state.references = std::move(references);
  BeginHistory(source, next);
  return absl::OkStatus();
}

std::vector<int32_t> JobPlan::GetAlive(const Source& source) {
  std::vector<int32_t> alive;
  for (int32_t k = 0; k < source.shards(); ++k) {
    if (!source.lost[k]) alive.push_back(k);
  }
  return alive;
}

// From here on checks_open_ counts the source's shards.
void JobPlan::BeginChecks(int32_t source, Tasks& next) {
  const StageId check = Compiles() ? StageId::kCompile : StageId::kValidate;
  for (const int32_t k : GetAlive(sources_[source])) {
    if (!IsHoldout(source)) {
      next.push_back({.stage = check, .source = source, .shard = k});
      ++checks_open_;
    }
    next.push_back({.stage = StageId::kSign, .source = source, .shard = k});
    ++checks_open_;
  }
  const Source& state = sources_[source];
  const auto further = Compiles() ? static_cast<int32_t>(state.version_kernels.size()) : 0;
  for (int32_t i = 0; i < further; ++i) {
    next.push_back({.stage = StageId::kCompile, .source = source, .shard = state.shards() + i});
    ++checks_open_;
  }
  --sources_unlinked_;
}

const BlobRef& JobPlan::CompileInput(const Source& source, int32_t shard) {
  return IsOfHistory(source, shard) ? source.version_kernels[shard - source.shards()]
                                    : source.linked[shard];
}

// The outputs are `compiled`, then any number of `ir`.
absl::Status JobPlan::Compiled(const TaskKey& task, const v1::StageResult& result, Tasks& next) {
  if (result.outputs().empty()) {
    return absl::InvalidArgumentError("compile: output 'compiled' is missing");
  }
  Source& state = sources_.Mutable(task.source);
  ASSIGN_OR_RETURN(const BlobRef compiled, ToBlobRef(result.outputs(0), "compiled"));
  RETURN_IF_ERROR(CheckAsMany(CountItems(task), compiled, "compiled"));
  const int kept = result.outputs_size() - 1;
  const bool keeps = !settings_.compile().keep().empty() && !IsOfHistory(state, task.shard);
  if (kept > (keeps ? kMaxIrShards : 0)) {
    return absl::InvalidArgumentError(absl::StrCat("compile: made too many 'ir' outputs: ", kept));
  }
  std::vector<BlobRef> ir(kept);
  for (int i = 0; i < kept; ++i) {
    ASSIGN_OR_RETURN(ir[i], ToBlobRef(result.outputs(i + 1), "ir"));
  }
  if (task.sub_shard & kQuarantined) AddQuarantined(task, result);
  if (task.sub_shard != kWholeShard) {
    if (CompiledPart(task, compiled, std::move(ir))) {
      CompilationOver(task, next);
    } else {
      --checks_open_;
    }
    return absl::OkStatus();
  }
  state.compiled.resize(state.files.size() + state.version_kernels.size());
  state.compiled[task.shard] = compiled;
  if (!ir.empty()) state.ir[task.shard] = std::move(ir);
  CompilationOver(task, next);
  return absl::OkStatus();
}

void JobPlan::CompilationOver(const TaskKey& task, Tasks& next) {
  if (IsOfHistory(sources_[task.source], task.shard)) {
    --checks_open_;
    return;
  }
  // checks_open_ stays: the barrier now waits for the validation instead of the compilation.
  next.push_back({.stage = StageId::kValidate, .source = task.source, .shard = task.shard});
}

// Returns whether this was the last part and all parts are good. The maps are sorted by first
// kernel, so the order of the kernels does not depend on the order of the results.
bool JobPlan::CompiledPart(const TaskKey& task, const BlobRef& compiled, std::vector<BlobRef> ir) {
  Source& state = sources_.Mutable(task.source);
  CompiledParts& parts = state.compiled_parts[task.shard];
  const int32_t first = GetItems(task.sub_shard, CountShardItems(task)).first;
  parts.compiled[first] = compiled;
  parts.ir[first] = std::move(ir);
  if (--parts.open > 0 || parts.failed) return false;
  std::vector<BlobRef> all;
  for (const auto& [at, refs] : parts.ir) all.insert(all.end(), refs.begin(), refs.end());
  if (!all.empty()) state.ir[task.shard] = std::move(all);
  parts.ir.clear();
  return true;
}

absl::Status JobPlan::Validated(const TaskKey& task, const v1::StageResult& result) {
  Source& state = sources_.Mutable(task.source);
  ASSIGN_OR_RETURN(const BlobRef verdicts, OnlyOutput(result, "verdicts"));
  RETURN_IF_ERROR(CheckAsMany(state.linked[task.shard].items, verdicts, "verdicts"));
  state.verdicts[task.shard] = verdicts;
  --checks_open_;
  return absl::OkStatus();
}

absl::Status JobPlan::Signed(const TaskKey& task, const v1::StageResult& result) {
  if (result.outputs_size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(result.outputs_size(), " outputs, expected 'signatures' and 'shingles'"));
  }
  Source& state = sources_.Mutable(task.source);
  ASSIGN_OR_RETURN(const BlobRef signatures, ToBlobRef(result.outputs(0), "signatures"));
  ASSIGN_OR_RETURN(const BlobRef shingles, ToBlobRef(result.outputs(1), "shingles"));
  RETURN_IF_ERROR(CheckAsMany(state.linked[task.shard].items, signatures, "signatures"));
  RETURN_IF_ERROR(CheckAsMany(state.linked[task.shard].items, shingles, "shingles"));
  state.signatures[task.shard] = signatures;
  state.shingles[task.shard] = shingles;
  --checks_open_;
  return absl::OkStatus();
}

// Pair, resolve, split, run and manifest exist once for the job (pair and run: once for each
// partition).
absl::Status JobPlan::JobLevel(const TaskKey& task, const v1::StageResult& result, Tasks& next) {
  if (task.stage == StageId::kPair) {
    ASSIGN_OR_RETURN(pairs_[task.shard], OnlyOutput(result, "pairs"));
    --pairs_open_;
  } else if (task.stage == StageId::kResolve) {
    ASSIGN_OR_RETURN(clusters_, OnlyOutput(result, "clusters"));
    if (job::Divides(settings_.splits())) {
      next.push_back({.stage = StageId::kSplit});
    } else {
      BeginRuns(next);
    }
  } else if (task.stage == StageId::kSplit) {
    ASSIGN_OR_RETURN(splits_, OnlyOutput(result, "splits"));
    BeginRuns(next);
  } else if (worker::IsRunStage(task.stage)) {
    RETURN_IF_ERROR(Ran(task, result, next));
  } else {
    ASSIGN_OR_RETURN(manifest_, OnlyOutput(result, "manifest"));
    AddShortfalls(task, result);
    state_ = v1::JOB_STATE_DONE;
  }
  return absl::OkStatus();
}

void JobPlan::BeginRuns(Tasks& next) {
  const StageInfo* const run =
      settings_.has_run() ? worker::FindRunStage(settings_.run().device()) : nullptr;
  if (run == nullptr) {
    next.push_back({.stage = StageId::kManifest});
    return;
  }
  runs_open_ = static_cast<int32_t>(pairs_.size());
  for (int32_t p = 0; p < runs_open_; ++p) next.push_back({.stage = run->id, .shard = p});
}

// A partition without new results has no outputs.
absl::Status JobPlan::Ran(const TaskKey& task, const v1::StageResult& result, Tasks& next) {
  if (!result.outputs().empty() || result.has_pinned()) {
    RunResults results;
    ASSIGN_OR_RETURN(results.source, MakeRunSource(settings_.run().device(), result));
    ASSIGN_OR_RETURN(results.tree, ToBlobRef(result.outputs(0), "tree"));
    ASSIGN_OR_RETURN(results.files, ToBlobRef(result.outputs(1), "files"));
    if (results.files.items != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("run: the results must be one file, not ", results.files.items));
    }
    ran_[task.shard] = std::move(results);
  }
  if (--runs_open_ > 0) return absl::OkStatus();
  RunsOver();
  next.push_back({.stage = StageId::kManifest});
  return absl::OkStatus();
}

// As a search is replaced by what it found: the lock of the job names the results, and a job that
// names them gives the same dataset without running anything.
void JobPlan::RunsOver() {
  for (const auto& [partition, results] : ran_) {
    packed_.Add(results.source);
    sources_.Add(/*failed=*/false);
    Source& state = sources_.Mutable(sources_.size() - 1);
    state.tree = results.tree;
    state.files = {results.files};
    state.lost.resize(1);
  }
  ran_.clear();
  settings_.clear_run();
}

// Begins the stages of the whole job when everything before them is over. Called after each
// outcome; pairing_ and resolving_ make sure that each barrier is passed once.
void JobPlan::PassBarriers(Tasks& next) {
  if (state_ != v1::JOB_STATE_RUNNING) return;
  // Waits for verdicts too: a shard whose validation failed is lost and must not be in the pairs.
  if (!pairing_ && searches_open_ == 0 && sources_unlinked_ == 0 && checks_open_ == 0) {
    int64_t kernels = 0;
    ForEachLinked(
        [&](int32_t, const Source& source, int32_t k) { kernels += source.linked[k].items; });
    pairing_ = true;
    pairs_open_ = PairPartitions(kernels);
    pairs_.resize(pairs_open_);
    for (int32_t p = 0; p < pairs_open_; ++p) next.push_back({.stage = StageId::kPair, .shard = p});
  }
  if (pairing_ && !resolving_ && pairs_open_ == 0) {
    resolving_ = true;
    next.push_back({.stage = StageId::kResolve});
  }
}

bool JobPlan::IsHoldout(int32_t source) const { return packed_.IsHoldout(source); }

namespace {

using worker::FailureCost;
using worker::StageScope;

constexpr int kNamedFiles = 10;  // files or pairs named in a failure's message
// Bounds a failure's message, so that a page of failures fits into an answer.
constexpr size_t kMaxMessage = 4096;
// The prefix with which the manifest stage names a gate; it names a pair "pairs[3]".
constexpr absl::string_view kGatePrefix = "gates.";

bool IsUnmatched(const v1::Failure& failure) { return manifest::IsUnmatched(failure.path()); }

using FileFailures = google::protobuf::RepeatedPtrField<v1::FileFailure>;

// Returns the first failures of a result, each with its reason, and "..." if `total` is larger.
std::string NamedFailures(const FileFailures& failures, int64_t total) {
  std::string names;
  for (int i = 0; i < std::min(failures.size(), kNamedFiles); ++i) {
    const v1::FileFailure& failure = failures[i];
    absl::StrAppend(&names, i == 0 ? " " : ", ", ToUtf8(failure.path()), " (", failure.reason(),
                    ")");
  }
  return total > kNamedFiles ? absl::StrCat(names, ", ...") : names;
}

}  // namespace

// Takes the final failure of a task and returns the tasks that can begin without it.
std::vector<TaskKey> JobPlan::Fail(const TaskKey& task, const absl::Status& error) {
  AddFailure(task, error);
  Tasks next;
  switch (GetStageInfo(task.stage).failure_cost) {
    case FailureCost::kSource:
      sources_.Mutable(task.source) = Source();
      sources_.Mutable(task.source).failed = true;
      if (task.stage != StageId::kDiscover && task.stage != StageId::kLink &&
          task.stage != StageId::kReference && task.stage != StageId::kHistory) {
        Settle(task.source, next);
      }
      break;
    case FailureCost::kFiles:
      LoseShard(task);
      break;
    case FailureCost::kJob:
      state_ = v1::JOB_STATE_FAILED;
      break;
  }
  NoLongerAwaited(task, next);
  PassBarriers(next);
  return next;
}

// Takes the failed task out of the counter that waits for it.
void JobPlan::NoLongerAwaited(const TaskKey& task, Tasks& next) {
  switch (task.stage) {
    case StageId::kDiscover:
      if (--searches_open_ == 0) SearchesOver(next);
      break;
    case StageId::kPin:
    case StageId::kFetch:
    case StageId::kLink:
    case StageId::kReference:
    case StageId::kHistory:
      --sources_unlinked_;
      break;
    case StageId::kExtract:
      if (--sources_.Mutable(task.source).extracts_open == 0) ExtractionOver(task.source, next);
      break;
    case StageId::kCompile:
      if (task.sub_shard != kWholeShard) {
        CompiledParts& parts = sources_.Mutable(task.source).compiled_parts[task.shard];
        parts.failed = true;
        --parts.open;
      }
      --checks_open_;
      break;
    case StageId::kValidate:
    case StageId::kSign:
      --checks_open_;
      break;
    case StageId::kPair:
    case StageId::kResolve:
    case StageId::kSplit:
    case StageId::kRunCpu:
    case StageId::kRunCuda80:
    case StageId::kRunCuda90:
    case StageId::kRunCuda100:
    case StageId::kManifest:
      break;  // the job has failed
  }
}

// The counters grow by one less than the number of parts, because the split task itself was
// counted.
std::vector<TaskKey> JobPlan::Split(const TaskKey& task) {
  if (!GetStageInfo(task.stage).splittable) return {};
  Source& state = sources_.Mutable(task.source);
  Tasks next;
  for (const SubShard sub_shard : coordinator::Split(task.sub_shard, CountShardItems(task))) {
    next.push_back(task);
    next.back().sub_shard = sub_shard;
  }
  if (next.empty()) return next;
  const auto more = static_cast<int32_t>(next.size()) - 1;
  if (task.stage == StageId::kCompile) {
    state.compiled_parts[task.shard].open += more;
    checks_open_ += more;
  } else {
    state.split[task.shard];
    state.extracts_open += more;
  }
  return next;
}

int32_t JobPlan::CountShardItems(const TaskKey& task) const {
  const Source& state = sources_[task.source];
  const bool compiles = task.stage == StageId::kCompile;
  const BlobRef& shard = compiles ? CompileInput(state, task.shard) : state.files[task.shard];
  return static_cast<int32_t>(shard.items);
}

int32_t JobPlan::CountItems(const TaskKey& task) const {
  return GetItems(task.sub_shard, CountShardItems(task)).count;
}

// A shard can be lost by several of its tasks; its files count once. A shard of a history has no
// files: its versions have no results.
void JobPlan::LoseShard(const TaskKey& task) {
  Source& state = sources_.Mutable(task.source);
  if (IsOfHistory(state, task.shard)) return;
  if (state.lost[task.shard]) return;  // another sub-shard or stage lost it
  state.lost[task.shard] = true;
  state.lost_files += state.files[task.shard].items;
}

std::string JobPlan::GetSourceName(const TaskKey& task) const {
  if (GetStageInfo(task.stage).scope == StageScope::kJob) return "";
  return job::SourceName(packed_.Get(task.source));
}

v1::Failure& JobPlan::NewFailure(const TaskKey& task, absl::StatusCode code) {
  v1::Failure& failure = failures_[task];
  failure.set_source(GetSourceName(task));
  failure.set_stage(std::string(GetStageInfo(task.stage).name));
  failure.set_code(absl::StatusCodeToString(code));
  return failure;
}

void JobPlan::AddFailure(const TaskKey& task, const absl::Status& error) {
  v1::Failure& failure = NewFailure(task, error.code());
  failure.set_message(ToUtf8(error.message().substr(0, kMaxMessage)));
  const StageScope scope = GetStageInfo(task.stage).scope;
  if (scope == StageScope::kJob) return;
  const Source& state = sources_[task.source];
  int64_t files = 0;  // without lost shards, which have their own failures
  for (int32_t k = 0; k < state.shards(); ++k) {
    const bool concerned = scope == StageScope::kSource || k == task.shard;
    if (concerned && !state.lost[k]) files += state.files[k].items;
  }
  failure.set_files(files);
}

void JobPlan::AddQuarantined(const TaskKey& task, const v1::StageResult& result) {
  v1::Failure& failure = NewFailure(task, absl::StatusCode::kAborted);
  if (!result.failures().empty()) failure.set_path(result.failures(0).path());
  if (task.stage == StageId::kExtract) {
    failure.set_message("quarantined: its extraction crashed the worker repeatedly");
    failure.set_files(1);
    return;
  }
  // No file is lost: the kernel stays, without compile results.
  const std::string kernel = result.failures().empty() ? "?" : result.failures(0).reason();
  failure.set_message(ToUtf8(absl::StrCat("quarantined: compiling ", kernel,
                                          " crashed its compiler or the worker repeatedly")
                                 .substr(0, kMaxMessage)));
}

void JobPlan::AddUnfetched(int32_t source, const v1::StageResult& result) {
  if (result.failures().empty()) return;
  const TaskKey task = {.stage = StageId::kFetch, .source = source};
  v1::Failure& failure = NewFailure(task, absl::StatusCode::kDataLoss);
  for (const v1::Counter& counter : result.counters()) {
    if (absl::StartsWith(counter.name(), "files.failed.")) {
      failure.set_files(failure.files() + counter.value());
    }
  }
  failure.set_message(ToUtf8(absl::StrCat("files that could not be fetched:",
                                          NamedFailures(result.failures(), failure.files()))
                                 .substr(0, kMaxMessage)));
  failure.set_path(result.failures(0).path());
}

// The manifest stage succeeds even if a gate or a demanded pair is missed, and reports it as
// failures of its result. Each missed gate, and each thing that matches nothing, becomes a failure
// of its own; the pairs become one together.
void JobPlan::AddShortfalls(const TaskKey& task, const v1::StageResult& result) {
  FileFailures pairs;
  TaskKey gate = task;
  for (const v1::FileFailure& shortfall : result.failures()) {
    const bool unmatched = manifest::IsUnmatched(shortfall.path());
    if (!unmatched && !absl::StartsWith(shortfall.path(), kGatePrefix)) {
      *pairs.Add() = shortfall;
      continue;
    }
    ++gate.shard;  // shard 0 is the key of the task's own failure
    v1::Failure& failure = NewFailure(
        gate, unmatched ? absl::StatusCode::kNotFound : absl::StatusCode::kFailedPrecondition);
    failure.set_path(shortfall.path());
    failure.set_message(ToUtf8(shortfall.reason().substr(0, kMaxMessage)));
  }
  if (pairs.empty()) return;
  v1::Failure& failure = NewFailure(task, absl::StatusCode::kNotFound);
  const bool reviews = absl::StartsWith(pairs.rbegin()->path(), "reviews");
  failure.set_message(
      ToUtf8(absl::StrCat(reviews ? "pairs and reviews that match nothing in the dataset:"
                                  : "pairs that could not be made:",
                          NamedFailures(pairs, pairs.size()))
                 .substr(0, kMaxMessage)));
}

std::vector<TaskFailure> JobPlan::Failures(const TaskKey* after, size_t limit) const {
  std::vector<TaskFailure> failures;
  auto at = after == nullptr ? failures_.begin() : failures_.upper_bound(*after);
  for (; at != failures_.end() && failures.size() < limit; ++at) {
    failures.push_back({at->first, at->second});
  }
  return failures;
}

std::vector<TaskFailure> JobPlan::TakeFailures() {
  std::vector<TaskFailure> failures;
  failures.reserve(failures_.size());
  for (auto& [task, failure] : failures_) failures.push_back({task, std::move(failure)});
  failures_.clear();
  return failures;
}

int64_t JobPlan::failure_count() const {
  return std::count_if(failures_.begin(), failures_.end(),
                       [](const auto& failure) { return !IsUnmatched(failure.second); });
}

void JobPlan::FillStatus(v1::JobStatus& status) const {
  for (const auto& [task, failure] : failures_) {
    if (status.failures_size() == kFailuresInStatus) break;
    *status.add_failures() = failure;
  }
  status.set_failure_count(failure_count());
  for (const auto& [name, value] : counters_) {
    v1::Counter* counter = status.add_counters();
    counter->set_name(name);
    counter->set_value(value);
  }
  if (state_ != v1::JOB_STATE_DONE) return;
  *status.mutable_dataset() = ToNamedDigest(manifest_, "manifest").digest();
}

}  // namespace kernelmill::coordinator
