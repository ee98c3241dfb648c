// The basic idea: similarity is no equivalence. Of a chain A ~ B ~ C, where A and C have little in
// common, a transitive closure keeps one kernel and loses C's content; on real corpora it has
// folded hundreds of thousands of documents into one. The leader rule does not: kernels are taken
// in order of rank, and each joins the first leader that it is itself similar to, or else becomes a
// leader. C, which resembles no leader, is kept. Every kernel that goes names one that stays and
// that it was compared with.
//
// Rank: tier (1 is best), then the confidence in the licence, then the kernel's number, which
// follows the job's sources in their order. A total order, so the outcome depends on nothing else.
//
// Equal shingle sets. The pair stage compares all but the first kernel of each set with that first
// alone. Equality of sets, unlike similarity, is an equivalence; so kernels linked by pairs with
// common == total are put into groups (union-find, the smallest number names the group), and a pair
// holds between the whole groups of its two ends. No two leaders can be of one group, so each group
// has at most one leader to look up; likewise each SHA-256 and each pair hash.

#include "services/deduplicator/core/resolve.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "services/deduplicator/core/sign.h"

namespace kernelmill::deduplicator {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// The number under which `key` is known, a new one for a new key.
uint32_t Intern(const std::string& key, absl::flat_hash_map<std::string, uint32_t>* ids) {
  return ids->try_emplace(key, static_cast<uint32_t>(ids->size())).first->second;
}

void Decide(v1::Fate fate, absl::string_view reason, uint32_t leader, double similarity,
            v1::Decision* decision) {
  decision->set_fate(fate);
  decision->set_reason(std::string(reason));
  decision->set_leader(leader);
  decision->set_similarity(similarity);
}

}  // namespace

Resolver::Resolver(double threshold) : threshold_(threshold) {}

absl::Status Resolver::AddShard(const v1::SignatureShard& signatures,
                                const v1::VerdictShard* verdicts, const v1::ShardOrigin& origin) {
  if (origin.holdout() != (verdicts == nullptr) ||
      (verdicts != nullptr && verdicts->verdicts_size() != signatures.signatures_size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(verdicts == nullptr ? 0 : verdicts->verdicts_size(), " verdicts for ",
                     signatures.signatures_size(), " signatures"));
  }
  for (int i = 0; i < signatures.signatures_size(); ++i) {
    const v1::Signature& signature = signatures.signatures(i);
    RETURN_IF_ERROR(Annotate(CheckSignature(signature), absl::StrCat("kernel ", kernels_.size())));
    Candidate& kernel = kernels_.emplace_back();
    kernel.holdout = origin.holdout();
    kernel.tier = origin.tier();
    kernel.exact = Intern(signature.sha256(), &exact_ids_);
    kernel.pair = Intern(signature.pair_sha1(), &pair_ids_);
    parent_.push_back(static_cast<uint32_t>(parent_.size()));
    if (verdicts == nullptr) continue;
    const v1::Verdict& verdict = verdicts->verdicts(i);
    kernel.accepted = verdict.accepted();
    // Not a number would break the order of rank.
    kernel.confidence = verdict.license().confidence() > 0 ? verdict.license().confidence() : 0;
    if (verdict.accepted()) continue;
    kernel.rejection = verdict.reasons().empty() ? "unspecified" : verdict.reasons(0);
  }
  return absl::OkStatus();
}

absl::Status Resolver::AddPairs(const v1::PairSet& pairs) {
  for (const v1::Pair& pair : pairs.pairs()) {
    if (pair.a() >= pair.b() || pair.b() >= kernels_.size() || pair.common() > pair.total()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no pair of ", kernels_.size(), " kernels: ", pair.ShortDebugString()));
    }
    const Overlap overlap{pair.common(), pair.total()};
    if (Similarity(overlap) < threshold_) continue;
    if (overlap.common == overlap.total) {
      const uint32_t a = GroupOf(pair.a());
      const uint32_t b = GroupOf(pair.b());
      parent_[std::max(a, b)] = std::min(a, b);
    } else {
      edges_.push_back({pair.a(), pair.b(), overlap});
    }
  }
  return absl::OkStatus();
}

uint32_t Resolver::GroupOf(uint32_t number) {
  while (parent_[number] != number) {
    parent_[number] = parent_[parent_[number]];
    number = parent_[number];
  }
  return number;
}

// Lifts the edges to groups, adds their opposites, and sorts them; partitions may have named one
// twice.
void Resolver::BuildEdges() {
  const size_t one_way = edges_.size();
  edges_.reserve(2 * one_way);
  for (size_t i = 0; i < one_way; ++i) {
    Edge& edge = edges_[i];
    edge.from = GroupOf(edge.from);
    edge.to = GroupOf(edge.to);
    edges_.push_back({edge.to, edge.from, edge.overlap});
  }
  const auto key = [](const Edge& edge) {
    return std::make_tuple(edge.from, edge.to, edge.overlap.common, edge.overlap.total);
  };
  std::sort(edges_.begin(), edges_.end(),
            [&](const Edge& x, const Edge& y) { return key(x) < key(y); });
  edges_.erase(std::unique(edges_.begin(), edges_.end(),
                           [&](const Edge& x, const Edge& y) { return key(x) == key(y); }),
               edges_.end());
  edge_starts_.assign(kernels_.size() + 1, 0);
  for (const Edge& edge : edges_) ++edge_starts_[edge.from + 1];
  std::partial_sum(edge_starts_.begin(), edge_starts_.end(), edge_starts_.begin());
}

Resolver::Index Resolver::EmptyIndex() const {
  return {std::vector<uint32_t>(exact_ids_.size(), kNone),
          std::vector<uint32_t>(pair_ids_.size(), kNone),
          std::vector<uint32_t>(kernels_.size(), kNone)};
}

// The first to enter stays.
void Resolver::Enter(uint32_t number, Index* index) {
  const Candidate& kernel = kernels_[number];
  for (uint32_t* slot : {&index->by_exact[kernel.exact], &index->by_pair[kernel.pair],
                         &index->by_group[GroupOf(number)]}) {
    if (*slot == kNone) *slot = number;
  }
}

// The accepted candidates, best first.
std::vector<uint32_t> Resolver::Ranked() const {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_[i].accepted && !kernels_[i].holdout) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
    const Candidate& a = kernels_[x];
    const Candidate& b = kernels_[y];
    return std::make_tuple(a.tier, -a.confidence, x) < std::make_tuple(b.tier, -b.confidence, y);
  });
  return order;
}

template <typename Visit>
void Resolver::ForEachMatch(uint32_t number, const Index& index, Visit visit) {
  const auto offer = [&](uint32_t found, absl::string_view kind, double similarity) {
    if (found != kNone) visit(Match{found, kind, similarity});
  };
  const Candidate& kernel = kernels_[number];
  const uint32_t group = GroupOf(number);
  offer(index.by_exact[kernel.exact], "exact", 1);
  offer(index.by_pair[kernel.pair], "pair", 1);
  offer(index.by_group[group], "near", 1);
  for (size_t i = edge_starts_[group]; i < edge_starts_[group + 1]; ++i) {
    offer(index.by_group[edges_[i].to], "near", Similarity(edges_[i].overlap));
  }
}

// Names the most similar holdout kernel: an equal one first, then by similarity, then by number.
bool Resolver::Contaminated(uint32_t number, const Index& holdouts, v1::Decision* decision) {
  Match best{kNone, "", 0};
  ForEachMatch(number, holdouts, [&](Match match) {
    if (match.kind == "pair") match.kind = "exact";
    const auto order = [](const Match& m) {
      return std::make_tuple(m.kind != "exact", -m.similarity, m.number);
    };
    if (best.number == kNone || order(match) < order(best)) best = match;
  });
  if (best.number == kNone) return false;
  Decide(v1::FATE_CONTAMINATED, best.kind, best.number, best.similarity, decision);
  return true;
}

// Names the first leader by rank; where it is a duplicate of that one in several ways, the
// strictest, which comes first among the matches.
bool Resolver::Duplicate(uint32_t number, const Index& leaders, const std::vector<uint32_t>& rank,
                         v1::Decision* decision) {
  Match best{kNone, "", 0};
  ForEachMatch(number, leaders, [&](const Match& match) {
    if (best.number == kNone || rank[match.number] < rank[best.number]) best = match;
  });
  if (best.number == kNone) return false;
  Decide(v1::FATE_DUPLICATE, best.kind, best.number, best.similarity, decision);
  return true;
}

v1::Clusters Resolver::Resolve() {
  BuildEdges();
  v1::Clusters clusters;
  clusters.mutable_decisions()->Reserve(static_cast<int>(kernels_.size()));
  Index holdouts = EmptyIndex();
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    v1::Decision* decision = clusters.add_decisions();
    if (kernels_[i].holdout) {
      Decide(v1::FATE_HOLDOUT, "", i, 1, decision);
      Enter(i, &holdouts);
    } else if (!kernels_[i].accepted) {
      Decide(v1::FATE_REJECTED, kernels_[i].rejection, i, 1, decision);
    }
  }
  const std::vector<uint32_t> order = Ranked();
  std::vector<uint32_t> rank(kernels_.size(), kNone);
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  Index leaders = EmptyIndex();
  for (const uint32_t number : order) {
    v1::Decision* decision = clusters.mutable_decisions(static_cast<int>(number));
    if (Contaminated(number, holdouts, decision)) continue;
    if (Duplicate(number, leaders, rank, decision)) continue;
    Decide(v1::FATE_KEPT, "", number, 1, decision);
    Enter(number, &leaders);
  }
  return clusters;
}

}  // namespace kernelmill::deduplicator
