#include "services/deduplicator/server/similar_search.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/manifest/ledger.h"
#include "common/manifest/walk.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/deduplicator/core/similar.h"

namespace kernelmill::deduplicator {
namespace {

using Cancelled = absl::FunctionRef<bool()>;

// The first walk: passes every kernel to the finder, and notes where each shard came from.
class FindVisitor final : public manifest::DatasetVisitor {
 public:
  struct Source {
    std::string repository;
    std::string commit;
  };

  FindVisitor(Cancelled cancelled, SimilarFinder* finder)
      : cancelled_(cancelled), finder_(*finder) {}

  absl::Status VisitTree(int source, const v1::SourceTree& tree) override {
    sources_[source] = {tree.repository(), tree.commit()};
    return absl::OkStatus();
  }

  absl::Status VisitShard(const manifest::ShardView& view) override {
    if (cancelled_()) return absl::CancelledError("the caller cancelled");
    shards_[view.first_number] = {view.source, view.shard, view.first_number};
    finder_.Add(*view.kernels, view.source, view.first_number);
    return absl::OkStatus();
  }

  // By index.
  const std::map<int, Source>& sources() const { return sources_; }
  // By the number of the first kernel.
  const std::map<uint32_t, manifest::ShardView>& shards() const { return shards_; }

 private:
  const Cancelled cancelled_;
  SimilarFinder& finder_;
  std::map<int, Source> sources_;
  std::map<uint32_t, manifest::ShardView> shards_;
};

struct Described {
  v1::KernelPlace place;
  std::string license;
};

// The kernels to describe, by number; each is empty until its shard was visited.
using Descriptions = std::map<uint32_t, Described>;

// The second walk: describes the kernels that the response names.
class DescribeVisitor final : public manifest::DatasetVisitor {
 public:
  DescribeVisitor(const std::map<int, FindVisitor::Source>& sources, Descriptions* descriptions)
      : sources_(sources), descriptions_(*descriptions) {}

  absl::Status VisitTree(int, const v1::SourceTree&) override { return absl::OkStatus(); }

  absl::Status VisitShard(const manifest::ShardView& view) override {
    const uint32_t end = view.first_number + static_cast<uint32_t>(view.kernels->kernels_size());
    for (auto wanted = descriptions_.lower_bound(view.first_number);
         wanted != descriptions_.end() && wanted->first < end; ++wanted) {
      const int i = static_cast<int>(wanted->first - view.first_number);
      Describe(sources_.at(view.source), view.kernels->kernels(i), &wanted->second.place);
      if (view.verdicts != nullptr) {
        wanted->second.license = view.verdicts->verdicts(i).license().expression();
      }
    }
    return absl::OkStatus();
  }

 private:
  static void Describe(const FindVisitor::Source& source, const v1::Kernel& kernel,
                       v1::KernelPlace* place) {
    place->set_id(kernel.id());
    place->set_repository(source.repository);
    place->set_commit(source.commit);
    place->set_path(kernel.path());
    place->set_first_line(kernel.first_line());
    place->set_last_line(kernel.last_line());
    place->set_qualname(kernel.qualname());
    place->set_dsl(kernel.dsl());
    if (kernel.has_json_pointer()) place->set_json_pointer(kernel.json_pointer());
  }

  const std::map<int, FindVisitor::Source>& sources_;
  Descriptions& descriptions_;
};

// Returns true if the decision names another kernel as its leader.
bool NamesAnother(const v1::Decision& decision) {
  return decision.fate() == v1::FATE_DUPLICATE || decision.fate() == v1::FATE_CONTAMINATED;
}

// One search. Walks the dataset twice: first to find similar kernels, then to describe them.
class Search {
 public:
  Search(cas::BlobStore& store, const v1::SimilarRequest& request, Cancelled cancelled)
      : store_(store),
        request_(request),
        cancelled_(cancelled),
        finder_(request),
        finding_(cancelled, &finder_) {}

  // Compares first and describes later, because a walk that kept the place of every kernel would
  // need memory for all of them. The second walk reads only the shards of results.
  absl::StatusOr<v1::SimilarResponse> Run() {
    ASSIGN_OR_RETURN(manifest_, manifest::GetManifest(store_, request_.dataset()));
    ASSIGN_OR_RETURN(clusters_, cas::GetMessage<v1::Clusters>(store_, manifest_.clusters()));
    RETURN_IF_ERROR(manifest::WalkDataset(store_, manifest_, finding_));
    if (finder_.compared() != clusters_.decisions_size()) {
      return absl::DataLossError(absl::StrCat(clusters_.decisions_size(), " decisions for ",
                                              finder_.compared(), " kernels"));
    }
    RETURN_IF_ERROR(DescribeAll());
    v1::SimilarResponse response;
    response.set_compared(finder_.compared());
    for (const std::vector<SimilarFinder::Found>& found : finder_.found()) {
      v1::SimilarKernels* result = response.add_results();
      for (const SimilarFinder::Found& kernel : found) Fill(kernel, result->add_kernels());
    }
    return response;
  }

 private:
  // Reads the places of the results, and of the kernels that their decisions name.
  absl::Status DescribeAll() {
    for (const std::vector<SimilarFinder::Found>& found : finder_.found()) {
      for (const SimilarFinder::Found& kernel : found) {
        descriptions_[kernel.number];
        const v1::Decision& decision = clusters_.decisions(static_cast<int>(kernel.number));
        if (!NamesAnother(decision)) continue;
        if (decision.leader() >= finder_.compared()) {
          return absl::DataLossError(
              absl::StrCat("kernel ", kernel.number, " repeats one that does not exist"));
        }
        descriptions_[decision.leader()];
      }
    }
    DescribeVisitor describing(finding_.sources(), &descriptions_);
    const auto& shards = finding_.shards();
    for (auto next = descriptions_.begin(); next != descriptions_.end();) {
      if (cancelled_()) return absl::CancelledError("the caller cancelled");
      const auto after = shards.upper_bound(next->first);
      RETURN_IF_ERROR(manifest::WalkShard(store_, manifest_, std::prev(after)->second, describing));
      next = after == shards.end() ? descriptions_.end() : descriptions_.lower_bound(after->first);
    }
    return absl::OkStatus();
  }

  // Fills a result from the second walk, and from the decision on the kernel.
  void Fill(const SimilarFinder::Found& found, v1::SimilarKernel* kernel) const {
    const Described& described = descriptions_.at(found.number);
    const v1::Decision& decision = clusters_.decisions(static_cast<int>(found.number));
    kernel->set_kind(std::string(KindName(found.scores.kind)));
    kernel->set_similarity(found.scores.similarity);
    kernel->set_near(found.scores.near);
    kernel->set_structural(found.scores.structural);
    *kernel->mutable_place() = described.place;
    kernel->set_license(described.license);
    kernel->set_fate(decision.fate());
    kernel->set_reason(decision.reason());
    if (!NamesAnother(decision)) return;
    *kernel->mutable_of() = descriptions_.at(decision.leader()).place;
    kernel->set_of_similarity(decision.similarity());
  }

  cas::BlobStore& store_;
  const v1::SimilarRequest& request_;
  const Cancelled cancelled_;
  SimilarFinder finder_;
  FindVisitor finding_;
  v1::DatasetManifest manifest_;
  v1::Clusters clusters_;
  Descriptions descriptions_;
};

}  // namespace

// Checks the request before it reads anything. Errors of the walks name the dataset.
absl::StatusOr<v1::SimilarResponse> FindSimilar(cas::BlobStore& store,
                                                const v1::SimilarRequest& request,
                                                absl::FunctionRef<bool()> cancelled) {
  RETURN_IF_ERROR(cas::CheckDigest(request.dataset()));
  RETURN_IF_ERROR(SimilarFinder::Check(request));
  absl::StatusOr<v1::SimilarResponse> response = Search(store, request, cancelled).Run();
  if (response.ok()) return response;
  return Annotate(response.status(), absl::StrCat("dataset ", cas::ToString(request.dataset())));
}

// KernelComparison is the same search without a store: the caller passes the shards.
struct KernelComparison::State {
  explicit State(const v1::SimilarRequest& request) : finder(request) {}
  SimilarFinder finder;
};

absl::StatusOr<std::unique_ptr<KernelComparison>> KernelComparison::Open(
    const v1::SimilarRequest& request) {
  // The limits on the number of kernels in a call do not apply here.
  v1::SimilarRequest bounds;
  bounds.set_top(request.top());
  bounds.set_threshold(request.threshold());
  RETURN_IF_ERROR(SimilarFinder::Check(bounds));
  return std::unique_ptr<KernelComparison>(new KernelComparison(std::make_unique<State>(request)));
}

KernelComparison::KernelComparison(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelComparison::~KernelComparison() = default;

void KernelComparison::Add(const v1::KernelShard& kernels) {
  state_->finder.Add(kernels, /*source=*/0, static_cast<uint32_t>(state_->finder.compared()));
}

std::vector<std::vector<KernelComparison::Match>> KernelComparison::Matches() const {
  std::vector<std::vector<Match>> matches;
  for (const std::vector<SimilarFinder::Found>& found : state_->finder.found()) {
    std::vector<Match>& best = matches.emplace_back();
    for (const SimilarFinder::Found& kernel : found) {
      best.push_back({kernel.number, std::string(KindName(kernel.scores.kind)),
                      kernel.scores.similarity, kernel.scores.near, kernel.scores.structural});
    }
  }
  return matches;
}

}  // namespace kernelmill::deduplicator
