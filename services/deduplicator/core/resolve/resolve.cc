// The basic idea: similarity is not transitive. In a chain A ~ B ~ C, where A and C have little in
// common, a transitive closure keeps one kernel and loses C's content; on real corpora it has
// merged hundreds of thousands of documents into one. The leader rule does not: take kernels in
// order of rank; each joins the best-ranked leader that it is itself similar to, or becomes a
// leader. C, which resembles no leader, is kept. So every dropped kernel names a kept one that it
// was compared with.
//
// Rank puts the original first. It compares, in this order:
//
// clang-format off
//   vendored    not in a folder of third-party code
//   named       a kernel of the same name says that it was adapted from this source
//   for_vendor  not for one vendor's hardware only
//   adapted     does not say that it was adapted from elsewhere
//   aside       not a test, example or benchmark
//   certainty   of the licence, in tenths, highest first
//   tier        1 is best
//   compiles    compiles, then unknown, then rejected by every compiler
//   source      in the job's order: the user's preference, and it keeps a library's kernels together
//   quality     highest score first
//   path, line, number
// clang-format on
//
// This is a total order, so that the outcome depends on nothing else.
//
// Two leaders are never in one group of equal sets (similarity_graph.h). So each group has at most
// one leader to look up, and so has each SHA-256 and each pair hash.

#include "services/deduplicator/core/resolve/resolve.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/base/url.h"
#include "common/job/opt_out.h"
#include "common/job/review_list.h"
#include "common/manifest/fim.h"
#include "common/manifest/ledger.h"
#include "services/deduplicator/core/sign/jaccard.h"
#include "services/deduplicator/core/sign/sign.h"

namespace kernelmill::deduplicator {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// The similarity from which kernels of one source and different names that compute the same are
// versions of each other.
constexpr double kSameComputation = 0.6;

constexpr absl::string_view kGeneric = "generic";  // the Verdict.target of portable kernels

// Returns an origin as "owner/name", or as its last part: of a URL, of owner/name, of a name.
std::string GetOriginKey(absl::string_view origin) {
  const std::string key = RepositoryKey(origin);
  std::vector<absl::string_view> parts = absl::StrSplit(key, '/', absl::SkipEmpty());
  const bool has_host = parts.size() > 1 && absl::StrContains(parts[0], '.');
  if (has_host) parts.erase(parts.begin());
  if (parts.size() > 2) parts.resize(2);
  return absl::StrJoin(parts, "/");
}

// Returns the key of a kernel in a column of hashes; what the hash does not fill is zero.
template <typename Key>
Key ReadKey(absl::string_view column, int kernel, size_t hash_bytes) {
  Key key = {};
  column.substr(static_cast<size_t>(kernel) * hash_bytes, hash_bytes).copy(key.data(), hash_bytes);
  return key;
}

// Sets the fate of a decision. An empty reason would take memory if it were set.
void Decide(v1::Fate fate, absl::string_view reason, uint32_t leader, double similarity,
            v1::Decision* decision) {
  decision->set_fate(fate);
  if (!reason.empty()) decision->set_reason(std::string(reason));
  decision->set_leader(leader);
  decision->set_similarity(similarity);
}

// Returns a share, 0 to 1, as whole steps of 1 / `steps`. A NaN, which would break the order of
// rank, becomes 0.
int16_t Steps(double share, int steps) {
  return share > 0 ? static_cast<int16_t>(std::min(share, 1.0) * steps + 0.5) : int16_t{0};
}

// Returns the place of each id's key in the sorted list of keys.
std::vector<uint32_t> SortedPlaces(const absl::flat_hash_map<std::string, uint32_t>& ids) {
  std::vector<std::pair<absl::string_view, uint32_t>> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> places(sorted.size());
  for (uint32_t place = 0; place < sorted.size(); ++place) places[sorted[place].second] = place;
  return places;
}

// Returns the reason for which the kernel's whole file must not be published; empty if it may.
std::string FindTaint(const v1::Verdict& verdict) {
  for (const std::string& reason : verdict.reasons()) {
    std::string kind = manifest::ReasonKind(reason);
    if (manifest::WithholdsFile(kind)) return kind;
  }
  return "";
}

void SetFirst(uint32_t number, uint32_t* slot) {
  if (*slot == kNone) *slot = number;
}

}  // namespace

Resolver::Resolver(const v1::DedupPolicy& policy)
    : policy_(policy), contaminations_(policy.contamination()) {}

void Resolver::Rank(const v1::Verdict& verdict, Candidate* kernel) {
  kernel->vendored = !verdict.license().vendored().empty();
  kernel->for_vendor = !verdict.target().empty() && verdict.target() != kGeneric;
  kernel->adapted = !verdict.license().adapted_from().empty();
  kernel->aside = verdict.kind() == "test" || verdict.kind() == "example" ||
                  verdict.kind() == "benchmark" || verdict.kind() == "broken";
  kernel->certainty = Steps(verdict.license().confidence(), 10);
  kernel->quality = Steps(verdict.quality().score(), 1000);
  const v1::RuleResult::Outcome compiles = manifest::GetOutcome(verdict, "compiles");
  if (compiles == v1::RuleResult::OUTCOME_PASS) kernel->compiles = -1;
  if (compiles == v1::RuleResult::OUTCOME_FAIL) kernel->compiles = 1;
}

// Adds the kernels of a shard; their numbers follow those of the shards before. A holdout's shard
// has no verdicts.
absl::Status Resolver::AddShard(const v1::SignatureShard& signatures,
                                const v1::VerdictShard* verdicts, const v1::ShardOrigin& origin) {
  RETURN_IF_ERROR(CheckSignatures(signatures));
  const int kernels = KernelsIn(signatures);
  source_keys_.try_emplace(origin.source(), GetOriginKey(origin.url()));
  if (origin.holdout() != (verdicts == nullptr) ||
      (verdicts != nullptr && verdicts->verdicts_size() != kernels)) {
    return absl::InvalidArgumentError(
        absl::StrCat(verdicts == nullptr ? 0 : verdicts->verdicts_size(), " verdicts for ", kernels,
                     " signatures; must be one for each, and none for a holdout"));
  }
  for (int i = 0; i < kernels; ++i) {
    Candidate& kernel = kernels_.emplace_back();
    kernel.holdout = origin.holdout();
    kernel.tier = origin.tier();
    kernel.source = origin.source();
    kernel.path = paths_.GetNumber(signatures.paths(i));
    kernel.first_line = signatures.first_lines(i);
    kernel.file = deduplicator::IsFile(signatures, i);
    // A kernel that spans a whole file is not a copy of that file.
    auto exact = ReadKey<ExactKey>(signatures.sha256(), i, 32);
    exact.back() = kernel.file ? 1 : 0;
    kernel.exact = exact_ids_.GetNumber(exact);
    kernel.pair = pair_ids_.GetNumber(ReadKey<PairKey>(signatures.pair_sha1(), i, 20));
    kernel.renamed = renamed_ids_.GetNumber(signatures.renamed(i));
    kernel.word_overlap = Similarity({signatures.words_common(i), signatures.words_total(i)});
    kernel.name = signatures.names(i);
    kernel.computation = signatures.computations(i);
    near_.AddKernel();
    versions_.AddKernel();
    structural_.AddKernel();
    if (verdicts == nullptr) continue;
    const v1::Verdict& verdict = verdicts->verdicts(i);
    kernel.accepted = verdict.accepted();
    Rank(verdict, &kernel);
    AddOrigins(verdict, kernel);
    if (verdict.accepted()) continue;
    kernel.taint = AddReason(FindTaint(verdict));
    kernel.rejection = AddReason(std::string(job::GravestReason(verdict)));
    kernel.opted_out = GetReason(kernel.rejection) == job::kOptOutReason;
  }
  return absl::OkStatus();
}

uint32_t Resolver::AddReason(const std::string& reason) {
  const auto [place, is_new] =
      reason_numbers_.try_emplace(reason, static_cast<uint32_t>(reasons_.size()));
  if (is_new) reasons_.push_back(reason);
  return place->second;
}

// Notes where the kernel says that it comes from: it names a source, and is one of its kernels as
// far as the names tell.
void Resolver::AddOrigins(const v1::Verdict& verdict, const Candidate& kernel) {
  if (kernel.name == 0) return;
  for (const v1::Adaptation& adaptation : verdict.license().adapted_from()) {
    const std::string key = GetOriginKey(adaptation.origin());
    if (!key.empty()) origins_.emplace(key, kernel.name);
  }
}

// Marks the kernels that others name as their origin: by the source's owner and name, or by its
// name alone.
void Resolver::FindNamed() {
  for (Candidate& kernel : kernels_) {
    const std::string& key = source_keys_[kernel.source];
    if (key.empty() || kernel.name == 0) continue;
    const std::string name = key.substr(key.rfind('/') + 1);
    kernel.named = origins_.contains({key, kernel.name}) || origins_.contains({name, kernel.name});
  }
}

absl::Status Resolver::Review(uint32_t number, const v1::Review& review) {
  if (number >= kernels_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("review: kernel ", number, " does not exist"));
  }
  Candidate& kernel = kernels_[number];
  if (review.decision() == v1::REVIEW_DECISION_ACCEPT) {
    if (review.flag() == job::kFlagWordOverlap) kernel.word_overlap = 0;
  } else if (kernel.accepted) {
    kernel.accepted = false;
    kernel.rejection = AddReason(absl::StrCat("review:", review.flag()));
  }
  return absl::OkStatus();
}

absl::Status Resolver::AddTo(SimilarityGraph* graph, double threshold,
                             const google::protobuf::RepeatedPtrField<v1::Pair>& pairs) {
  for (const v1::Pair& pair : pairs) {
    if (pair.a() >= pair.b() || pair.b() >= kernels_.size() || pair.common() > pair.total()) {
      return absl::InvalidArgumentError(
          absl::StrCat("not a pair of ", kernels_.size(), " kernels: ", pair.ShortDebugString()));
    }
    const Overlap overlap{pair.common(), pair.total()};
    if (Similarity(overlap) >= threshold) graph->AddPair(pair.a(), pair.b(), overlap);
  }
  return absl::OkStatus();
}

template <typename Message>
absl::Status Resolver::CheckCandidate(const Message& match) const {
  if (match.kernel() < kernels_.size() && !kernels_[match.kernel()].holdout) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("kernel: must be a candidate: ", match.ShortDebugString()));
}

// Pairs with common == total say that two sets are equal; they join groups in both graphs.
absl::Status Resolver::AddPairs(const v1::PairSet& pairs) {
  RETURN_IF_ERROR(AddTo(&near_, policy_.threshold(), pairs.pairs()));
  RETURN_IF_ERROR(AddTo(&versions_, 0, pairs.versions()));
  for (const v1::Pair& pair : pairs.pairs()) {
    if (pair.common() == pair.total()) versions_.AddPair(pair.a(), pair.b(), {1, 1});
  }
  if (policy_.structural()) {
    RETURN_IF_ERROR(AddTo(&structural_, policy_.structural_threshold(), pairs.structural()));
  }
  for (const v1::HoldoutMatch& match : pairs.holdouts()) {
    RETURN_IF_ERROR(CheckCandidate(match));
    if (match.holdout() >= kernels_.size() || !kernels_[match.holdout()].holdout) {
      return absl::InvalidArgumentError(
          absl::StrCat("holdout: must be a holdout's kernel: ", match.ShortDebugString()));
    }
    contaminations_.Add(match);
  }
  for (const v1::FurtherMatches& further : pairs.further()) {
    RETURN_IF_ERROR(CheckCandidate(further));
    contaminations_.Add(further);
  }
  return absl::OkStatus();
}

// Makes an index without kernels. by_near_elsewhere is off: a leader is the only one of its group.
Resolver::Index Resolver::EmptyIndex() const {
  const std::vector<uint32_t> none(kernels_.size(), kNone);
  return {std::vector<uint32_t>(exact_ids_.count(), kNone),
          std::vector<uint32_t>(pair_ids_.count(), kNone),
          std::vector<uint32_t>(renamed_ids_.count(), kNone),
          none,
          none,
          {}};
}

// Enters a kernel into the index, unless an earlier one has its place.
void Resolver::Enter(uint32_t number, Index* index) {
  const Candidate& kernel = kernels_[number];
  SetFirst(number, &index->by_exact[kernel.exact]);
  SetFirst(number, &index->by_pair[kernel.pair]);
  SetFirst(number, &index->by_renamed[kernel.renamed]);
  const uint32_t near = near_.FindGroup(number);
  SetFirst(number, &index->by_near[near]);
  if (!index->by_near_elsewhere.empty() && kernels_[index->by_near[near]].source != kernel.source) {
    SetFirst(number, &index->by_near_elsewhere[near]);
  }
  SetFirst(number, &index->by_structural[structural_.FindGroup(number)]);
}

// Returns the accepted candidates, best first.
std::vector<uint32_t> Resolver::Ranked() const {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_[i].accepted && !kernels_[i].holdout) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [this](uint32_t x, uint32_t y) {
    const Properties a = GetProperties(x);
    const Properties b = GetProperties(y);
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const Property& p, const Property& q) { return p.value < q.value; });
  });
  return order;
}

// Returns what ranks a kernel, the gravest first.
Resolver::Properties Resolver::GetProperties(uint32_t number) const {
  const Candidate& kernel = kernels_[number];
  return {{{"vendored", kernel.vendored},
           {"origin", !kernel.named},
           {"target", kernel.for_vendor},
           {"adapted", kernel.adapted},
           {"kind", kernel.aside},
           {"license", -kernel.certainty},
           {"tier", kernel.tier},
           {"compiles", kernel.compiles},
           {"source", kernel.source},
           {"quality", -kernel.quality},
           {"path", path_places_[kernel.path]},
           {"line", kernel.first_line},
           {"number", number}}};
}

// Returns the first property by which the leader ranks before the other kernel.
absl::string_view Resolver::FindPreference(uint32_t leader, uint32_t other) const {
  const Properties a = GetProperties(leader);
  const Properties b = GetProperties(other);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].value != b[i].value) return a[i].name;
  }
  return "";
}

// Returns true if two kernels that the pair stage takes for versions are: they are of two sources,
// or they compute the same. Otherwise, within one tree, the author told kernels of one name apart.
bool Resolver::IsVersion(const Candidate& a, const Candidate& b, double similarity) {
  if (a.source != b.source) return true;
  if (a.computation == 0 || a.computation != b.computation) return false;
  const bool same_name = a.name != 0 && a.name == b.name;
  return same_name || (a.path != b.path && similarity >= kSameComputation);
}

// Calls callback(Match) for every leader that the kernel repeats or resembles. If it matches one
// leader in several ways, the strictest kind comes first.
template <typename Callback>
void Resolver::ForEachMatch(uint32_t number, const Index& leaders, Callback callback) {
  const auto offer = [&](uint32_t found, absl::string_view kind, double similarity) {
    if (found != kNone) callback(Match{found, kind, similarity});
  };
  const Candidate& kernel = kernels_[number];
  offer(leaders.by_exact[kernel.exact], "exact", 1);
  offer(leaders.by_pair[kernel.pair], "pair", 1);
  offer(leaders.by_renamed[kernel.renamed], "renamed", 1);
  const uint32_t near = near_.FindGroup(number);
  offer(leaders.by_near[near], "near", 1);
  near_.ForEachNeighbour(near, [&](uint32_t group, double similarity) {
    offer(leaders.by_near[group], "near", similarity);
  });
  versions_.ForEachNeighbour(versions_.FindGroup(number), [&](uint32_t group, double similarity) {
    uint32_t found = leaders.by_near[group];
    if (found != kNone && !IsVersion(kernel, kernels_[found], similarity)) {
      found = leaders.by_near_elsewhere.empty() ? kNone : leaders.by_near_elsewhere[group];
    }
    offer(found, "version", similarity);
  });
  const uint32_t structural = structural_.FindGroup(number);
  if (!policy_.structural()) return;
  offer(leaders.by_structural[structural], "structural", 1);
  structural_.ForEachNeighbour(structural, [&](uint32_t group, double similarity) {
    offer(leaders.by_structural[group], "structural", similarity);
  });
}

// Makes the kernel a duplicate of its best-ranked leader. Returns false if it has no leader.
bool Resolver::Duplicate(uint32_t number, const Index& leaders, const std::vector<uint32_t>& rank,
                         v1::Decision* decision) {
  Match best{kNone, "", 0};
  ForEachMatch(number, leaders, [&](const Match& match) {
    if (best.number == kNone || rank[match.number] < rank[best.number]) best = match;
  });
  if (best.number == kNone) return false;
  Decide(v1::FATE_DUPLICATE, best.kind, best.number, best.similarity, decision);
  decision->set_preferred_by(std::string(FindPreference(best.number, number)));
  return true;
}

// Sets what a decision says independently of the fate, and the fates that come before the leader
// rule: rejected and contaminated.
void Resolver::Describe(uint32_t number, v1::Decision* decision) const {
  const Candidate& kernel = kernels_[number];
  if (kernel.word_overlap >= manifest::kWordOverlapFlag)
    decision->set_word_overlap(kernel.word_overlap);
  contaminations_.Describe(number, decision);
  if (kernel.file) {
    for (v1::Contamination& match : *decision->mutable_contamination()) match.set_text("source");
  }
  const auto withheld = withheld_.find(number);
  if (withheld != withheld_.end()) {
    return Decide(v1::FATE_REJECTED, GetReason(kernel.rejection), withheld->second.of,
                  withheld->second.similarity, decision);
  }
  if (!kernel.accepted) {
    return Decide(v1::FATE_REJECTED, GetReason(kernel.rejection), number, 1, decision);
  }
  if (policy_.contamination().action() == v1::CONTAMINATION_ACTION_LABEL) return;
  for (const v1::Contamination& match : decision->contamination()) {
    // For a launcher, the exporter omits its text (manifest::WithholdsLauncher) and keeps the
    // kernel.
    if (match.text() == "launcher") continue;
    return Decide(v1::FATE_CONTAMINATED, absl::StrCat(match.rule(), ":", match.text()),
                  match.holdout(), match.score(), decision);
  }
}

// Rejects each file that would publish a kernel which must not be published.
void Resolver::RejectHolders(v1::Clusters* clusters) const {
  std::map<std::pair<int, uint32_t>, std::string> taints;  // by source and path
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_[i].file || kernels_[i].holdout) continue;
    const bool contaminated =
        clusters->decisions(static_cast<int>(i)).fate() == v1::FATE_CONTAMINATED;
    const std::string taint = contaminated            ? std::string("contaminated")
                              : withheld_.contains(i) ? std::string(job::kOptOutReason)
                                                      : GetReason(kernels_[i].taint);
    if (!taint.empty()) taints.emplace(std::make_pair(kernels_[i].source, kernels_[i].path), taint);
  }
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    v1::Decision* decision = clusters->mutable_decisions(static_cast<int>(i));
    const auto taint = taints.find({kernels_[i].source, kernels_[i].path});
    if (!kernels_[i].file || decision->fate() != v1::FATE_UNSPECIFIED || taint == taints.end()) {
      continue;
    }
    Decide(v1::FATE_REJECTED, absl::StrCat("holds:", taint->second), i, 1, decision);
  }
}

// Applies the leader rule to the kernels, or to the files, that have no fate yet.
void Resolver::DecideInOrder(bool files, const std::vector<uint32_t>& order, Index* leaders,
                             v1::Clusters* clusters) {
  std::vector<uint32_t> rank(kernels_.size(), kNone);
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  for (const uint32_t number : order) {
    v1::Decision* decision = clusters->mutable_decisions(static_cast<int>(number));
    if (kernels_[number].file != files || decision->fate() != v1::FATE_UNSPECIFIED) continue;
    if (Duplicate(number, *leaders, rank, decision)) continue;
    Decide(v1::FATE_KEPT, "", number, 1, decision);
    Enter(number, leaders);
  }
}

void Resolver::Build() {
  if (std::exchange(built_, true)) return;
  near_.Build();
  versions_.Build();
  structural_.Build();
  contaminations_.Build();
  path_places_ = SortedPlaces(paths_.numbers());
  // The keys take more than all else, and only their numbers are needed from now on.
  exact_ids_.Clear();
  pair_ids_.Clear();
  renamed_ids_.Clear();
  paths_.Clear();
  FindNamed();
}

// Rejects the kernel if it is a duplicate of an opted-out one, and names the one that it matches by
// the strictest rule. Returns true if it did.
bool Resolver::IsCopy(uint32_t number, const Index& opted_out) {
  Match first{kNone, "", 0};
  ForEachMatch(number, opted_out, [&](const Match& match) {
    if (first.number == kNone) first = match;
  });
  if (first.number == kNone) return false;
  kernels_[number].accepted = false;
  kernels_[number].rejection = AddReason(std::string(job::kOptOutReason));
  withheld_[number] = {first.number, first.similarity};
  return true;
}

// Returns the opted-out kernels and their copies, ascending. Copies are found by the rules for
// duplicates, with the opted-out kernels as leaders.
std::vector<uint32_t> Resolver::OptedOut() {
  Build();
  Index index = EmptyIndex();
  index.by_near_elsewhere = index.by_near;
  bool any = false;
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    if (!kernels_[i].opted_out) continue;
    Enter(i, &index);
    any = true;
  }
  std::vector<uint32_t> found;
  for (uint32_t i = 0; any && i < kernels_.size(); ++i) {
    if (kernels_[i].holdout) continue;
    if (kernels_[i].opted_out || IsCopy(i, index)) found.push_back(i);
  }
  return found;
}

// Rejects a kernel with a text that contains the opted-out kernel. If that one is itself a copy,
// the record names the original.
void Resolver::RejectWith(uint32_t number, absl::string_view text, uint32_t opted_out) {
  Candidate& kernel = kernels_[number];
  if (kernel.opted_out || withheld_.contains(number)) return;
  kernel.accepted = false;
  kernel.rejection = AddReason(absl::StrCat(job::kOptOutReason, ":", text));
  const auto copy = withheld_.find(opted_out);
  withheld_[number] = copy == withheld_.end() ? Withheld{opted_out, 1} : copy->second;
}

// Decides kernels first, then files: a file that would publish a kernel which must not be published
// is rejected, whatever its own rank.
v1::Clusters Resolver::Resolve() {
  Build();
  v1::Clusters clusters;
  clusters.mutable_decisions()->Reserve(static_cast<int>(kernels_.size()));
  for (uint32_t i = 0; i < kernels_.size(); ++i) {
    v1::Decision* decision = clusters.add_decisions();
    if (kernels_[i].holdout) {
      Decide(v1::FATE_HOLDOUT, "", i, 1, decision);
    } else {
      Describe(i, decision);
    }
  }
  const std::vector<uint32_t> order = Ranked();
  Index leaders = EmptyIndex();
  DecideInOrder(/*files=*/false, order, &leaders, &clusters);
  RejectHolders(&clusters);
  DecideInOrder(/*files=*/true, order, &leaders, &clusters);
  return clusters;
}

}  // namespace kernelmill::deduplicator
