// The basic idea: similar kernels form a graph, and its connected components are divided, not the
// kernels. A component is test if the repositories of all its kernels are test, validation if all
// are validation, and train otherwise. So no edge connects two splits.
//
// The graph contains the kept kernels and their duplicates: a copy in a train repository is in
// train, although its row is left out. An edge joins two of them
//
//   - if one is a duplicate of the other;
//   - if one is a whole file that contains the other: a model that trains on the file has seen
//   both;
//   - if their texts are equal, except for their names, or as prompt and completion;
//   - if the pair stage found them: versions across sources, structural duplicates;
//   - if the Jaccard similarity of their shingles reaches the threshold, whatever else differs. Two
//     kept kernels can be that similar (same_kernel.h) without a reported pair.
//
// All rules except the first two follow from the two texts alone, and every duplicate also matches
// by one of the other rules. So a growing dataset keeps its edges: kernels in train stay there, and
// kernels in another split stay too, or move to train because of an edge to a new kernel.
//
// If a text of another split, in a module or a whole file, contains a kernel's source, the kernel
// moves to train with its component: a model that trains there has seen it. The containing kernel
// stays. Otherwise a helper that is also in train would draw all its users out of test. (In 40
// repositories, such modules contained 9 of 1,923 held-out kernels; 749 would have moved.)
//
// Similar kernels are found exactly, by SetJoin, since MinHash misses about one in a hundred;
// contained ones by ModuleJoin. Most kernels begin in train, and pairs within train change nothing.
// So a pass indexes only kernels that are not known to be in train when it begins, and probes with
// every kernel of the graph. Union-find holds the components and the split of each: if two
// components of different splits join, the result is train, and is not compared with train any
// more. Every pair with a kernel not known to be in train is compared, or is known to be in one
// component. So the order in which pairs are found does not matter.

#include "services/deduplicator/core/split/splitter.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/url.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {

RepositorySides::RepositorySides(const v1::SplitPolicy& policy)
    : validation_(policy.validation()), test_(policy.test()), seed_(policy.seed()) {
  for (const std::string& name : policy.validation_repositories()) {
    named_[RepositoryKey(name)] = v1::SPLIT_VALIDATION;
  }
  for (const std::string& name : policy.test_repositories()) {
    named_[RepositoryKey(name)] = v1::SPLIT_TEST;
  }
}

// Returns a number in [0, 1) that depends only on the seed and the repository. Test takes the
// numbers from 0 on, validation those up to 1, so a larger share keeps the repositories that a
// smaller one had.
double RepositorySides::GetPlace(absl::string_view key) const {
  const std::string hash = Sha256(absl::StrCat(seed_, absl::string_view("\0", 1), key));
  uint64_t bits = 0;  // 56 bits; a double holds 53 of them exactly
  for (int i = 0; i < 7; ++i) bits = bits << 8 | static_cast<uint8_t>(hash[i]);
  return static_cast<double>(bits >> 3) / static_cast<double>(uint64_t{1} << 53);
}

v1::Split RepositorySides::GetSide(absl::string_view repository, absl::string_view url) const {
  const std::string name = RepositoryKey(repository);
  const std::string key = url.empty() ? name : RepositoryKey(url);
  for (const std::string& known : {key, name}) {
    if (const auto at = named_.find(known); at != named_.end()) return at->second;
  }
  const double place = GetPlace(key);
  if (place < test_) return v1::SPLIT_TEST;
  return place >= 1 - validation_ ? v1::SPLIT_VALIDATION : v1::SPLIT_TRAIN;
}

namespace {

bool IsOfGraph(const v1::Decision& decision) {
  return decision.fate() == v1::FATE_KEPT || decision.fate() == v1::FATE_DUPLICATE;
}

}  // namespace

Splitter::Splitter(const v1::SplitPolicy& policy, double threshold, const v1::Clusters& clusters,
                   int64_t shingles, SpillOptions spill)
    : repositories_(policy),
      threshold_(threshold),
      clusters_(clusters),
      shingles_(shingles),
      spill_(std::move(spill)) {}

uint32_t Splitter::FindRoot(uint32_t number) const {
  while (parents_[number] != number) {
    parents_[number] = parents_[parents_[number]];
    number = parents_[number];
  }
  return number;
}

// Returns whether the kernel's component may still be in another split than train.
bool Splitter::IsOpen(uint32_t number) const {
  const v1::Split side = GetSide(number);
  return side != v1::SPLIT_UNSPECIFIED && side != v1::SPLIT_TRAIN;
}

// Joins two components. If their splits differ, the result is train.
void Splitter::Join(uint32_t a, uint32_t b) {
  a = FindRoot(a);
  b = FindRoot(b);
  if (a == b) return;
  if (a > b) std::swap(a, b);
  parents_[b] = a;
  if (sides_[a] != sides_[b]) sides_[a] = v1::SPLIT_TRAIN;
}

absl::Status Splitter::AddShard(const v1::SignatureShard& signatures,
                                const v1::ShardOrigin& origin) {
  RETURN_IF_ERROR(CheckSignatures(signatures));
  const int kernels = KernelsIn(signatures);
  const auto first = static_cast<uint32_t>(size());
  if (first + static_cast<size_t>(kernels) > static_cast<size_t>(clusters_.decisions_size())) {
    return absl::InvalidArgumentError(absl::StrCat("clusters: kernel ", first + kernels - 1,
                                                   " has no decision among ",
                                                   clusters_.decisions_size()));
  }
  absl::flat_hash_map<absl::string_view, uint32_t> files;  // whole files precede their kernels
  const v1::Split side = repositories_.GetSide(origin.repository(), origin.url());
  for (int i = 0; i < kernels; ++i) {
    const uint32_t number = first + static_cast<uint32_t>(i);
    const bool of_graph =
        !origin.holdout() && IsOfGraph(clusters_.decisions(static_cast<int>(number)));
    sides_.push_back(of_graph ? side : v1::SPLIT_UNSPECIFIED);
    parents_.push_back(number);
    sizes_.push_back(signatures.near().sizes(i));
    sources_.push_back(origin.source());
    begun_.push_back(sides_.back());
    if (!of_graph) continue;
    if (IsFile(signatures, i)) files.emplace(signatures.paths(i), number);
    const auto file = files.find(signatures.paths(i));
    if (file != files.end()) Join(file->second, number);
    const std::string pair = signatures.pair_sha1().substr(i * size_t{20}, 20);
    Join(by_pair_.try_emplace(pair, number).first->second, number);
    Join(by_renamed_.try_emplace(signatures.renamed(i), number).first->second, number);
  }
  return absl::OkStatus();
}

absl::Status Splitter::JoinAll(const google::protobuf::RepeatedPtrField<v1::Pair>& pairs,
                               bool across_sources) {
  for (const v1::Pair& pair : pairs) {
    if (pair.a() >= pair.b() || pair.b() >= size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("not a pair of ", size(), " kernels: ", pair.ShortDebugString()));
    }
    if (!Probes(pair.a()) || !Probes(pair.b())) continue;
    if (across_sources && sources_[pair.a()] == sources_[pair.b()]) continue;
    Join(pair.a(), pair.b());
  }
  return absl::OkStatus();
}

absl::Status Splitter::AddPairs(const v1::PairSet& pairs) {
  RETURN_IF_ERROR(JoinAll(pairs.pairs(), /*across_sources=*/false));
  RETURN_IF_ERROR(JoinAll(pairs.structural(), /*across_sources=*/false));
  // Within one tree, the author told kernels of one name apart.
  return JoinAll(pairs.versions(), /*across_sources=*/true);
}

absl::Status Splitter::EndAdding() {
  by_pair_ = {};
  by_renamed_ = {};
  if (size() != static_cast<size_t>(clusters_.decisions_size())) {
    return absl::InvalidArgumentError(absl::StrCat("clusters: ", clusters_.decisions_size(),
                                                   " decisions for ", size(), " kernels"));
  }
  for (uint32_t number = 0; number < size(); ++number) {
    const v1::Decision& decision = clusters_.decisions(static_cast<int>(number));
    if (decision.fate() != v1::FATE_DUPLICATE) continue;
    const uint32_t leader = decision.leader();
    if (leader >= size() || clusters_.decisions(static_cast<int>(leader)).fate() != v1::FATE_KEPT) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", number, " is a duplicate of ", leader, ", which is not kept"));
    }
    if (Probes(number) && Probes(leader)) Join(number, leader);
  }
  return absl::OkStatus();
}

// Chooses the kernels of the next pass: as many open ones as fit the budget of shingles, at least
// one.
bool Splitter::BeginPass() {
  if (alike_) candidates_ += alike_->candidates() + modules_->candidates();
  alike_.reset();
  modules_.reset();
  loaded_.clear();
  begin_ = end_;
  int64_t shingles = 0;
  bool any = false;
  for (; end_ < size(); ++end_) {
    if (!IsOpen(end_)) continue;
    if (any && shingles + sizes_[end_] > shingles_) break;
    any = true;
    shingles += sizes_[end_];
  }
  if (!any) return false;
  alike_.emplace(threshold_, spill_);
  modules_.emplace(spill_);
  ++passes_;
  return true;
}

absl::Status Splitter::CheckShingles(uint32_t number, absl::Span<const uint64_t> shingles) const {
  if (shingles.size() != sizes_[number]) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", number, " has ", shingles.size(),
                                                   " shingles; its signature says ",
                                                   sizes_[number]));
  }
  return Annotate(CheckSet(shingles), absl::StrCat("kernel ", number));
}

absl::Status Splitter::Load(uint32_t number, const v1::KernelShingles& shingles) {
  const absl::Span<const uint64_t> near = absl::MakeConstSpan(shingles.near());
  RETURN_IF_ERROR(CheckShingles(number, near));
  RETURN_IF_ERROR(alike_->Add(near));
  RETURN_IF_ERROR(modules_->Add(shingles));
  loaded_.push_back(number);
  return absl::OkStatus();
}

absl::Status Splitter::EndLoading() {
  RETURN_IF_ERROR(alike_->Build());
  return modules_->Build();
}

absl::Status Splitter::Probe(uint32_t number, const v1::KernelShingles& shingles) {
  const absl::Span<const uint64_t> near = absl::MakeConstSpan(shingles.near());
  RETURN_IF_ERROR(CheckShingles(number, near));
  // A pair within train, or within one component, changes nothing.
  const auto wanted = [&](uint32_t index) {
    return FindRoot(loaded_[index]) != FindRoot(number) &&
           (IsOpen(loaded_[index]) || IsOpen(number));
  };
  RETURN_IF_ERROR(
      alike_->Probe(near, wanted, [&](uint32_t index) { Join(loaded_[index], number); }));
  return modules_->Probe(shingles, wanted,
                         [&](uint32_t index) { held_.emplace_back(loaded_[index], number); });
}

// Moves the components of held sources until nothing changes: each move can make another source's
// holder be in another split. Each round moves at least one component to train, so it ends.
void Splitter::MoveHeld() {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [source, holder] : held_) {
      if (!IsOpen(source) || GetSide(source) == GetSide(holder)) continue;
      sides_[FindRoot(source)] = v1::SPLIT_TRAIN;
      moved = true;
    }
  }
}

// Only kept kernels get a split; their duplicates are in the graph, but not in the dataset.
v1::Splits Splitter::Take() {
  MoveHeld();
  v1::Splits splits;
  splits.mutable_splits()->Reserve(static_cast<int>(size()));
  for (uint32_t number = 0; number < size(); ++number) {
    const bool kept =
        clusters_.decisions(static_cast<int>(number)).fate() == v1::FATE_KEPT && Probes(number);
    const v1::Split side = kept ? GetSide(number) : v1::SPLIT_UNSPECIFIED;
    splits.add_splits(side);
    joined_ += side == v1::SPLIT_TRAIN && begun_[number] != v1::SPLIT_TRAIN;
  }
  return splits;
}

}  // namespace kernelmill::deduplicator
