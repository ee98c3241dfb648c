// The basic idea: a dataset is a list of pieces, a tree or a shard each. Threads load and prepare
// pieces in any order; one thread visits them in order (InOrder), with a bound on loaded pieces. A
// kernel's number depends on all pieces before it, so that a loading thread waits for its number
// until those are loaded, not until they are visited.

#include "common/manifest/walk.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "common/base/hash.h"
#include "common/base/in_order.h"
#include "common/base/status.h"
#include "common/manifest/older_languages.h"

namespace kernelmill::manifest {
namespace {

// Returns 32 hexadecimal digits of the SHA-256 over repository, commit, path, first line, content
// hash and JSON pointer, if any, separated by NUL. A whole file adds a marker.
std::string KernelId(absl::string_view repository, absl::string_view commit,
                     const v1::Kernel& kernel) {
  const absl::string_view nul("\0", 1);
  std::string place = absl::StrCat(repository, nul, commit, nul, kernel.path(), nul,
                                   kernel.first_line(), nul, kernel.sha256());
  if (kernel.has_json_pointer()) absl::StrAppend(&place, nul, kernel.json_pointer());
  // A kernel may have the same lines as its file.
  if (IsFile(kernel)) absl::StrAppend(&place, nul, nul, "file");
  return Sha256Hex(place).substr(0, 32);
}

// A shard in memory, with the visitor's preparation. For a piece that is a tree, only `tree` is
// set.
struct LoadedShard {
  std::shared_ptr<const v1::SourceTree> tree;
  v1::KernelShard kernels;
  v1::VerdictShard verdicts;  // empty for a holdout
  uint32_t first_number = 0;
  std::unique_ptr<PreparedShard> prepared;
};

// A view refers to the loaded shard and must not outlive it.
ShardView MakeView(const v1::ManifestSource& source, int index, int shard,
                   const LoadedShard& loaded) {
  ShardView view;
  view.source = index;
  view.shard = shard;
  view.first_number = loaded.first_number;
  view.tree = loaded.tree.get();
  view.kernels = &loaded.kernels;
  view.verdicts = IsHoldout(source.source()) ? nullptr : &loaded.verdicts;
  return view;
}

// Gets kernels and verdicts with one call. Verdict i is on kernel i, so the numbers must be equal.
absl::StatusOr<LoadedShard> LoadShard(cas::BlobStore& store, const v1::ManifestSource& source,
                                      int shard, std::shared_ptr<const v1::SourceTree> tree) {
  std::vector<cas::Digest> digests = {source.kernels(shard)};
  const bool holdout = IsHoldout(source.source());
  if (!holdout) digests.push_back(source.verdicts(shard));
  ASSIGN_OR_RETURN(const std::vector<std::string> blobs, store.Get(digests));
  LoadedShard loaded;
  loaded.tree = std::move(tree);
  ASSIGN_OR_RETURN(loaded.kernels, cas::ParseMessage<v1::KernelShard>(blobs[0], digests[0]));
  NameLanguages(&loaded.kernels);
  SetKernelIds(*loaded.tree, &loaded.kernels);
  if (!holdout) {
    ASSIGN_OR_RETURN(loaded.verdicts, cas::ParseMessage<v1::VerdictShard>(blobs[1], digests[1]));
    if (loaded.verdicts.verdicts_size() != loaded.kernels.kernels_size()) {
      return absl::InternalError(absl::StrCat(loaded.verdicts.verdicts_size(), " verdicts for ",
                                              loaded.kernels.kernels_size(), " kernels"));
    }
  }
  return loaded;
}

// A holdout is not judged, so it has no verdicts.
absl::Status CheckVerdicts(const v1::ManifestSource& source) {
  const int verdicts = IsHoldout(source.source()) ? 0 : source.kernels_size();
  if (source.verdicts_size() == verdicts) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(source.verdicts_size(), " verdict shards for ",
                                          source.kernels_size(), " kernel shards"));
}

// A counter that numbers the kernels of pieces which threads load in any order. Thread-safe.
class Numbering {
 public:
  // Returns the number of a piece's first kernel. Waits for the pieces before it; each piece must
  // call this once.
  uint64_t Take(size_t piece, int kernels) {
    const absl::MutexLock lock(&mutex_);
    const auto ready = [this, piece]()
                           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return next_piece_ == piece; };
    mutex_.Await(absl::Condition(&ready));
    ++next_piece_;
    return std::exchange(next_number_, next_number_ + static_cast<uint64_t>(kernels));
  }

 private:
  absl::Mutex mutex_;
  size_t next_piece_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_number_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A walk: its pieces are each source's tree and then its shards.
class Walk {
 public:
  Walk(cas::BlobStore& store, const v1::DatasetManifest& manifest, DatasetVisitor& visitor)
      : store_(store), manifest_(manifest), visitor_(visitor), trees_(manifest.sources_size()) {
    for (int i = 0; i < manifest.sources_size(); ++i) {
      // A failed source has no tree.
      if (manifest.sources(i).failed()) continue;
      pieces_.push_back({i, kTree});
      for (int shard = 0; shard < manifest.sources(i).kernels_size(); ++shard) {
        pieces_.push_back({i, shard});
      }
    }
  }

  absl::Status Run(int threads) {
    return InOrder<LoadedShard>(
        threads, pieces_.size(), static_cast<size_t>(threads) + 2,
        [this](size_t i) { return Load(i); },
        [this](size_t i, LoadedShard loaded) { return Visit(pieces_[i], std::move(loaded)); });
  }

 private:
  static constexpr int kTree = -1;
  struct Piece {
    int source = 0;
    int shard = kTree;
  };
  // A source's tree. The first thread that needs it loads it. It is in memory while a shard of its
  // source is.
  struct Tree {
    absl::Mutex mutex;
    std::weak_ptr<const v1::SourceTree> tree ABSL_GUARDED_BY(mutex);
  };

  // The mutex is that of the source, so that loading one tree does not hold up the others.
  absl::StatusOr<std::shared_ptr<const v1::SourceTree>> GetTree(int source) {
    Tree& place = trees_[source];
    const absl::MutexLock lock(&place.mutex);
    std::shared_ptr<const v1::SourceTree> tree = place.tree.lock();
    if (tree != nullptr) return tree;
    ASSIGN_OR_RETURN(v1::SourceTree loaded,
                     cas::GetMessage<v1::SourceTree>(store_, manifest_.sources(source).tree()));
    tree = std::make_shared<const v1::SourceTree>(std::move(loaded));
    place.tree = tree;
    return tree;
  }

  absl::StatusOr<LoadedShard> Load(size_t i) {
    DestroyVisited();
    const Piece& piece = pieces_[i];
    absl::StatusOr<LoadedShard> loaded = LoadPiece(piece);
    // Also after a failure: the pieces after it would wait forever.
    const uint64_t number = numbering_.Take(i, loaded.ok() ? loaded->kernels.kernels_size() : 0);
    if (loaded.ok()) loaded = Prepare(piece, number, *std::move(loaded));
    if (!loaded.ok()) {
      return Annotate(loaded.status(), absl::StrCat("source ", piece.source));
    }
    return loaded;
  }

  absl::StatusOr<LoadedShard> LoadPiece(const Piece& piece) {
    const v1::ManifestSource& source = manifest_.sources(piece.source);
    RETURN_IF_ERROR(CheckVerdicts(source));
    ASSIGN_OR_RETURN(std::shared_ptr<const v1::SourceTree> tree, GetTree(piece.source));
    if (piece.shard != kTree) return LoadShard(store_, source, piece.shard, std::move(tree));
    LoadedShard loaded;
    loaded.tree = std::move(tree);
    return loaded;
  }

  absl::StatusOr<LoadedShard> Prepare(const Piece& piece, uint64_t number, LoadedShard loaded) {
    if (piece.shard == kTree) return loaded;
    if (number + static_cast<uint64_t>(loaded.kernels.kernels_size()) >
        std::numeric_limits<uint32_t>::max()) {
      return absl::InternalError("more than 2^32 kernels");
    }
    loaded.first_number = static_cast<uint32_t>(number);
    const v1::ManifestSource& source = manifest_.sources(piece.source);
    ASSIGN_OR_RETURN(loaded.prepared,
                     visitor_.PrepareShard(MakeView(source, piece.source, piece.shard, loaded)));
    return loaded;
  }

  // Runs on one thread, in the order of the pieces. The shard is freed elsewhere (DestroyVisited).
  absl::Status Visit(const Piece& piece, LoadedShard loaded) {
    const absl::Status status = VisitPiece(piece, loaded);
    const absl::MutexLock lock(&mutex_);
    visited_.push_back(std::move(loaded));
    return Annotate(status, absl::StrCat("source ", piece.source));
  }

  // Frees visited shards, on a loading thread. A shard has thousands of small allocations, which
  // take longer to free than most visits take, and all threads wait for visits.
  void DestroyVisited() {
    std::vector<LoadedShard> visited;
    const absl::MutexLock lock(&mutex_);
    visited.swap(visited_);
  }

  absl::Status VisitPiece(const Piece& piece, const LoadedShard& loaded) {
    // Keeps the tree alive until the next visit, so that the shards of a source load it once.
    current_ = loaded.tree;
    if (piece.shard == kTree) return visitor_.VisitTree(piece.source, *loaded.tree);
    ShardView view = MakeView(manifest_.sources(piece.source), piece.source, piece.shard, loaded);
    view.prepared = loaded.prepared.get();
    return visitor_.VisitShard(view);
  }

  cas::BlobStore& store_;
  const v1::DatasetManifest& manifest_;
  DatasetVisitor& visitor_;
  std::vector<Piece> pieces_;
  Numbering numbering_;
  std::vector<Tree> trees_;                        // by source
  std::shared_ptr<const v1::SourceTree> current_;  // the last visit's, kept for the next visit
  absl::Mutex mutex_;
  std::vector<LoadedShard> visited_ ABSL_GUARDED_BY(mutex_);  // fewer than loaded ones
};

}  // namespace

void SetKernelIds(const v1::SourceTree& tree, v1::KernelShard* shard) {
  for (v1::Kernel& kernel : *shard->mutable_kernels()) {
    if (kernel.id().empty()) kernel.set_id(KernelId(tree.repository(), tree.commit(), kernel));
  }
}

bool IsHoldout(const v1::Source& source) { return source.role() == v1::SOURCE_ROLE_HOLDOUT; }

bool IsEvidence(const v1::Source& source) { return source.role() == v1::SOURCE_ROLE_EVIDENCE; }

bool IsCandidate(const v1::Source& source) { return !IsHoldout(source) && !IsEvidence(source); }

// A whole file is recorded as a kernel with a form of its own, so it passes through the same
// stages.
bool IsFile(const v1::Kernel& kernel) { return kernel.form() == v1::KERNEL_FORM_FILE; }

// INVALID_ARGUMENT: the blob is something else. UNIMPLEMENTED: another version of kernelmill made
// it. A message of another type may parse as a manifest, so the schema number is checked too.
absl::StatusOr<v1::DatasetManifest> GetManifest(cas::BlobStore& store, const cas::Digest& dataset) {
  ASSIGN_OR_RETURN(const std::vector<std::string> blobs, store.Get({dataset}));
  v1::DatasetManifest manifest;
  if (!manifest.ParseFromString(blobs.front()) || manifest.schema() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(cas::ToString(dataset), " is not the digest of a dataset"));
  }
  if (manifest.schema() < 0 || manifest.schema() > kManifestSchema) {
    return absl::UnimplementedError(absl::StrCat("the dataset has schema ", manifest.schema(),
                                                 "; this version knows ", kManifestSchema));
  }
  return manifest;
}

// The caller knows the number of the first kernel from an earlier walk, so nothing before the shard
// is loaded.
absl::Status WalkShard(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                       const ShardView& view, DatasetVisitor& visitor) {
  const v1::ManifestSource& source = manifest.sources(view.source);
  ASSIGN_OR_RETURN(v1::SourceTree tree, cas::GetMessage<v1::SourceTree>(store, source.tree()));
  ASSIGN_OR_RETURN(LoadedShard loaded,
                   LoadShard(store, source, view.shard,
                             std::make_shared<const v1::SourceTree>(std::move(tree))));
  loaded.first_number = view.first_number;
  ShardView whole = MakeView(source, view.source, view.shard, loaded);
  ASSIGN_OR_RETURN(loaded.prepared, visitor.PrepareShard(whole));
  whole.prepared = loaded.prepared.get();
  return visitor.VisitShard(whole);
}

absl::Status WalkDataset(cas::BlobStore& store, const v1::DatasetManifest& manifest,
                         DatasetVisitor& visitor, int threads) {
  return Walk(store, manifest, visitor).Run(threads);
}

// Returns everything that must stay in the store for the dataset to be readable.
std::vector<cas::Digest> ListBlobs(const v1::DatasetManifest& manifest, const cas::Digest& digest) {
  std::vector<cas::Digest> blobs = {digest, manifest.clusters()};
  if (manifest.has_splits()) blobs.push_back(manifest.splits());
  for (const v1::ManifestSource& source : manifest.sources()) {
    if (source.has_tree()) blobs.push_back(source.tree());
    blobs.insert(blobs.end(), source.files().begin(), source.files().end());
    blobs.insert(blobs.end(), source.kernels().begin(), source.kernels().end());
    blobs.insert(blobs.end(), source.verdicts().begin(), source.verdicts().end());
    blobs.insert(blobs.end(), source.ir().begin(), source.ir().end());
    blobs.insert(blobs.end(), source.references().begin(), source.references().end());
    blobs.insert(blobs.end(), source.changes().begin(), source.changes().end());
    blobs.insert(blobs.end(), source.version_kernels().begin(), source.version_kernels().end());
    blobs.insert(blobs.end(), source.version_compiled().begin(), source.version_compiled().end());
  }
  return blobs;
}

}  // namespace kernelmill::manifest
