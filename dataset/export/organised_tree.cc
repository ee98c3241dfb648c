#include "dataset/export/organised_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/manifest/walk.h"
#include "common/sensitive/sensitive.h"
#include "dataset/export/redact.h"
#include "dataset/tree/tree_paths.h"
#include "kernelmill/v1/source.pb.h"

// Writes the source files themselves, by category and repository. The plan is made from the index
// before the walk: every path, and which files must not be shown. The walk then reads the files'
// content, looks for secrets and addresses in all of it (the validator saw only kernels), and
// redacts or leaves out by the job's policies.
namespace kernelmill::dataset {
namespace {

namespace fs = std::filesystem;

// Which files are written, and where to: known before the walk.
class Plan {
 public:
  explicit Plan(const DatasetIndex& index) : by_path_(index.sources.size()) {
    const std::vector<uint32_t> numbers = index.ListedFiles();
    std::vector<TreePlace> places;
    for (const uint32_t number : numbers) {
      const FileEntry& file = index.files[number];
      const SourceEntry& source = index.sources[static_cast<size_t>(file.source)];
      places.push_back({source.category, source.repository, file.path});
    }
    const std::vector<std::string> paths = TreePaths(places);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const FileEntry& file = index.files[numbers[i]];
      TreeFile& planned = files_[numbers[i]];
      planned.path = paths[i];
      const auto withheld = index.withheld.find(numbers[i]);
      if (withheld != index.withheld.end()) planned.left_out = withheld->second;
      by_path_[static_cast<size_t>(file.source)][file.path] = numbers[i];
    }
  }

  // The files of a source by their paths in it.
  const std::map<std::string, uint32_t>& ListFiles(int source) const {
    return by_path_[static_cast<size_t>(source)];
  }
  const TreeFile& at(uint32_t number) const { return files_.at(number); }
  TreeFiles& files() { return files_; }

 private:
  TreeFiles files_;
  std::vector<std::map<std::string, uint32_t>> by_path_;
};

// A file as it may be seen.
struct SeenFile {
  uint32_t number = 0;
  TreeFile file;
  std::string text;
};

class SeenShard final : public manifest::PreparedShard {
 public:
  std::vector<SeenFile> files;
};

// Why nothing of a text with these findings may be seen; empty where redaction does.
std::string Rejection(const v1::Quality& quality, const v1::QualityPolicy& policy) {
  for (const v1::Sensitive& finding : quality.sensitive()) {
    const bool email = finding.kind() == "email";
    const v1::SensitivePolicy asked = email ? policy.emails() : policy.secrets();
    if (asked == v1::SENSITIVE_POLICY_REJECT) return absl::StrCat("sensitive:", finding.kind());
  }
  // The search stops at a number of findings; the rest of the text is then unknown.
  const bool all_found = quality.sensitive_size() < static_cast<int>(sensitive::kMaxSensitive);
  const bool redacts = policy.secrets() != v1::SENSITIVE_POLICY_LABEL ||
                       policy.emails() != v1::SENSITIVE_POLICY_LABEL;
  return !all_found && redacts ? "sensitive:too_many" : "";
}

// The source's file under the job's policies: only its kernels were looked at until now.
void Look(const v1::SourceFile& file, const v1::QualityPolicy& policy, SeenFile* seen) {
  v1::Kernel whole;
  whole.set_form(v1::KERNEL_FORM_FILE);
  whole.set_path(file.path());
  whole.set_source(file.content());
  v1::Quality quality;
  for (v1::Sensitive& finding : sensitive::FindSensitive(whole)) {
    *quality.add_sensitive() = std::move(finding);
  }
  seen->file.left_out = Rejection(quality, policy);
  if (!seen->file.left_out.empty()) return;
  seen->text = std::move(*Redacted(std::move(whole), quality, policy).mutable_source());
  seen->file.redacted = seen->text != file.content();
  seen->file.sha256 = Sha256Hex(seen->text);
}

class TreeWriter final : public manifest::DatasetVisitor {
 public:
  TreeWriter(cas::BlobStore& store, const DatasetIndex& index, const std::string& root, Plan* plan)
      : store_(store), index_(index), root_(root), plan_(*plan) {}

  absl::Status VisitTree(int, const v1::SourceTree&) override { return absl::OkStatus(); }

  // Runs on many threads; reads the plan's entries of this shard's files only, which change when
  // the shard is visited. A shard without a wanted file is not read. DATA_LOSS: the content is not
  // that which was extracted.
  absl::StatusOr<std::unique_ptr<manifest::PreparedShard>> PrepareShard(
      const manifest::ShardView& view) override {
    auto shard = std::make_unique<SeenShard>();
    const std::vector<uint32_t> wanted = FindWanted(view);
    // Most shards of a source without kept kernels end here.
    if (wanted.empty()) return shard;
    const cas::Digest& digest = index_.manifest.sources(view.source).files(view.shard);
    ASSIGN_OR_RETURN(const auto files, cas::GetMessage<v1::FileShard>(store_, digest));
    for (const v1::SourceFile& file : files.files()) {
      const auto number = plan_.ListFiles(view.source).find(file.path());
      if (number == plan_.ListFiles(view.source).end()) continue;
      if (!plan_.at(number->second).left_out.empty()) continue;
      if (Sha256Hex(file.content()) != index_.files[number->second].sha256()) {
        return absl::DataLossError(
            absl::StrCat(JsonString(file.path()), ": is not the text that was extracted"));
      }
      SeenFile& seen = shard->files.emplace_back();
      seen.number = number->second;
      seen.file.path = plan_.at(number->second).path;
      Look(file, index_.manifest.quality(), &seen);
    }
    return shard;
  }

  // Writes on one thread. The plan then says of each file what became of it.
  absl::Status VisitShard(const manifest::ShardView& view) override {
    for (SeenFile& seen : static_cast<SeenShard*>(view.prepared)->files) {
      if (seen.file.left_out.empty()) RETURN_IF_ERROR(Write(seen));
      plan_.files()[seen.number] = std::move(seen.file);
    }
    return absl::OkStatus();
  }

 private:
  std::vector<uint32_t> FindWanted(const manifest::ShardView& view) const {
    std::vector<uint32_t> wanted;
    for (const v1::ExtractedFile& file : view.kernels->files()) {
      const auto number = plan_.ListFiles(view.source).find(file.path());
      if (number != plan_.ListFiles(view.source).end()) wanted.push_back(number->second);
    }
    return wanted;
  }

  // O_EXCL and O_NOFOLLOW: paths come from repositories; a file is never written over another one
  // or through a link.
  absl::Status Write(const SeenFile& seen) const {
    const fs::path path = fs::path(root_) / seen.file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return ErrnoStatus(error.value(), path.parent_path().string());
    const FileDescriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file.is_open()) return ErrnoStatus(errno, path.string());
    return WriteAll(file.get(), seen.text, path.string());
  }

  cas::BlobStore& store_;
  const DatasetIndex& index_;
  const std::string root_;
  Plan& plan_;
};

}  // namespace

absl::StatusOr<TreeFiles> WriteOrganisedTree(cas::BlobStore& store, const DatasetIndex& index,
                                             const std::string& root, int threads) {
  std::error_code error;
  fs::create_directories(root, error);
  if (error) return ErrnoStatus(error.value(), root);
  Plan plan(index);
  TreeWriter writer(store, index, root, &plan);
  RETURN_IF_ERROR(manifest::WalkDataset(store, index.manifest, writer, threads));
  return std::move(plan.files());
}

}  // namespace kernelmill::dataset
