// The basic idea. Kernels that are alike make a graph; its connected components are divided, not
// kernels. A component is of test if all of its kernels' repositories are of test, of validation if
// all are of validation, else of train. So no edge has ends in two splits.
//
// The graph's kernels are those that are kept and the duplicates of these: a copy that a train
// repository has is a copy in train, though its row is left out. Two of them are joined
//
//   - if one is the other's duplicate;
//   - if one is a whole file and the other stands in it: who trains on the file has seen both;
//   - if their texts are one, up to their names or as prompt and completion;
//   - if the pair stage says so: versions across sources, structural duplicates;
//   - if the Jaccard similarity of their shingles is at or above the threshold, whatever else
//     differs. Two kept kernels can be that similar (same_kernel.h), and no pair is named of them.
//
// Each of these but the first two is told from the two texts alone, and each first is one of the
// others. So a dataset that grows has the edges that it had: what was of train stays there, and
// what was of another split stays, too, or comes to train by an edge to a new kernel.
//
// A kernel whose source stands in a text of another component, in a module or in a whole file, and
// that is of another split, comes to train with its component: who trains there has seen it. What
// takes it along stays where it is: a helper that train has, too, would draw all that use it out of
// test. (Of 40 repositories 9 of 1,923 held-out kernels stood in such modules; 749 would have
// gone.)
//
// What is alike is found exactly, by SetJoin, and not by MinHash, which misses one in some hundred;
// what stands in another text by ModuleJoin. Most kernels begin in train, and pairs of these change
// nothing. So those alone are indexed that are not of train by what is known when their pass
// begins, and every kernel of the graph is probed. Union-find keeps the components, and with each
// its split: where two of different splits become one, that is train's, and is not compared with
// train's any more. Every pair of which one is not known to be of train is compared or known to be
// of one component, so that the order in which pairs are found does not matter.

#include "services/deduplicator/core/split/splitter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {
namespace {

bool IsOfGraph(const v1::Decision& decision) {
  return decision.fate() == v1::FATE_KEPT || decision.fate() == v1::FATE_DUPLICATE;
}

}  // namespace

Splitter::Splitter(const v1::SplitPolicy& policy, double threshold, const v1::Clusters& clusters,
                   int64_t shingles)
    : repositories_(policy), threshold_(threshold), clusters_(clusters), shingles_(shingles) {}

uint32_t Splitter::RootOf(uint32_t number) const {
  while (parents_[number] != number) {
    parents_[number] = parents_[parents_[number]];
    number = parents_[number];
  }
  return number;
}

bool Splitter::IsOpen(uint32_t number) const {
  const v1::Split side = SideOf(number);
  return side != v1::SPLIT_UNSPECIFIED && side != v1::SPLIT_TRAIN;
}

void Splitter::Join(uint32_t a, uint32_t b) {
  a = RootOf(a);
  b = RootOf(b);
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
    return absl::InvalidArgumentError(absl::StrCat("kernel ", first + kernels - 1, " of ",
                                                   clusters_.decisions_size(), " decisions"));
  }
  absl::flat_hash_map<absl::string_view, uint32_t> files;  // whole ones; before their kernels
  const v1::Split side = repositories_.SideOf(origin.repository(), origin.url());
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
          absl::StrCat("no pair of ", size(), " kernels: ", pair.ShortDebugString()));
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
  // Within one tree kernels of one name are what their author told apart.
  return JoinAll(pairs.versions(), /*across_sources=*/true);
}

absl::Status Splitter::EndAdding() {
  by_pair_ = {};
  by_renamed_ = {};
  if (size() != static_cast<size_t>(clusters_.decisions_size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(clusters_.decisions_size(), " decisions on ", size(), " kernels"));
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

bool Splitter::BeginPass() {
  if (alike_) candidates_ += alike_->candidates();
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
  alike_.emplace(threshold_);
  modules_.emplace();
  ++passes_;
  return true;
}

absl::Status Splitter::CheckShingles(uint32_t number, absl::Span<const uint64_t> shingles) const {
  if (shingles.size() != sizes_[number]) {
    return absl::InvalidArgumentError(absl::StrCat("kernel ", number, " has ", shingles.size(),
                                                   " shingles, and ", sizes_[number],
                                                   " by its signature"));
  }
  return Annotate(CheckSet(shingles), absl::StrCat("kernel ", number));
}

absl::Status Splitter::Load(uint32_t number, const v1::KernelShingles& shingles) {
  const absl::Span<const uint64_t> near = absl::MakeConstSpan(shingles.near());
  RETURN_IF_ERROR(CheckShingles(number, near));
  alike_->Add(near);
  modules_->Add(shingles);
  loaded_.push_back(number);
  return absl::OkStatus();
}

void Splitter::EndLoading() {
  alike_->Build();
  modules_->Build();
}

absl::Status Splitter::Probe(uint32_t number, const v1::KernelShingles& shingles) {
  const absl::Span<const uint64_t> near = absl::MakeConstSpan(shingles.near());
  RETURN_IF_ERROR(CheckShingles(number, near));
  // Of two that are of train nothing more is to be known, and the kernel itself is of its group.
  const auto wanted = [&](uint32_t index) {
    return RootOf(loaded_[index]) != RootOf(number) && (IsOpen(loaded_[index]) || IsOpen(number));
  };
  alike_->Probe(near, wanted, [&](uint32_t index) { Join(loaded_[index], number); });
  modules_->Probe(shingles, wanted,
                  [&](uint32_t index) { held_.emplace_back(loaded_[index], number); });
  return absl::OkStatus();
}

void Splitter::MoveHeld() {
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [source, holder] : held_) {
      if (!IsOpen(source) || SideOf(source) == SideOf(holder)) continue;
      sides_[RootOf(source)] = v1::SPLIT_TRAIN;
      moved = true;
    }
  }
}

v1::Splits Splitter::Take() {
  MoveHeld();
  v1::Splits splits;
  splits.mutable_splits()->Reserve(static_cast<int>(size()));
  for (uint32_t number = 0; number < size(); ++number) {
    const bool kept =
        clusters_.decisions(static_cast<int>(number)).fate() == v1::FATE_KEPT && Probes(number);
    const v1::Split side = kept ? SideOf(number) : v1::SPLIT_UNSPECIFIED;
    splits.add_splits(side);
    joined_ += side == v1::SPLIT_TRAIN && begun_[number] != v1::SPLIT_TRAIN;
  }
  return splits;
}

}  // namespace kernelmill::deduplicator
