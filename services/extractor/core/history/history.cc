#include "services/extractor/core/history/history.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "services/extractor/core/extract/extract.h"
#include "services/extractor/core/history/compiled_versions.h"
#include "services/extractor/core/history/kinds.h"
#include "services/extractor/core/history/line_diff.h"
#include "services/extractor/core/history/match.h"
#include "services/extractor/core/history/message.h"
#include "services/extractor/core/link/link.h"

namespace kernelmill::extractor {
namespace {

// Says whether a kernel is a function of its file. Others, in strings and documents, have no name
// that holds over several versions.
bool IsFollowed(const v1::Kernel& kernel) {
  return kernel.form() != v1::KERNEL_FORM_FILE && kernel.form() != v1::KERNEL_FORM_TEMPLATE &&
         kernel.string_begin() == 0 && !kernel.has_json_pointer() && !kernel.has_context();
}

// A file on one side of a commit, with the files that it imports there.
struct Side {
  std::string path, id;
  std::vector<const v1::ImportedFile*> imports;

  // The same for sides whose kernels are the same.
  std::string MakeKey() const {
    const std::string zero(1, '\0');
    std::string key = absl::StrCat(path, zero, id);
    for (const v1::ImportedFile* file : imports) {
      absl::StrAppend(&key, zero, file->path(), zero, file->id());
    }
    return key;
  }
};

// The contents of versions by their ids, and their kernels as long as a commit may ask for them.
class Versions {
 public:
  Versions(const v1::SourceTree& tree, const dsl::LanguageSet& wanted,
           const python::PythonParser& parser)
      : parser_(parser), wanted_(wanted) {
    *tree_.mutable_languages() = tree.languages();
  }

  // `inputs` must outlive this object. DATA_LOSS: a file imports one that the index does not have.
  absl::Status Load(const HistoryInputs& inputs) {
    index_ = &inputs.index;
    for (size_t i = 0; i < inputs.versions; ++i) {
      ASSIGN_OR_RETURN(v1::VersionShard shard, inputs.read_versions(i));
      for (v1::FileVersion& version : *shard.mutable_versions()) {
        contents_[version.id()] = std::move(*version.mutable_content());
      }
    }
    for (const v1::HistoryCommit& commit : inputs.index.commits()) {
      for (const v1::HistoryFile& file : commit.files()) {
        for (const bool after : {false, true}) {
          ASSIGN_OR_RETURN(const Side side, GetSide(file, after));
          ++uses_[side.MakeKey()];
          UseText(side.path, side.id);
          for (const v1::ImportedFile* imported : side.imports) {
            UseText(imported->path(), imported->id());
          }
        }
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Side> GetSide(const v1::HistoryFile& file, bool after) const {
    Side side = {
        after ? file.path() : file.before_path(), after ? file.after() : file.before(), {}};
    for (const int32_t place : after ? file.after_imports() : file.before_imports()) {
      if (place < 0 || place >= index_->imported_size()) {
        return absl::DataLossError("a file imports one that its history does not have");
      }
      side.imports.push_back(&index_->imported(place));
    }
    return side;
  }

  // Returns the kernels of a version, linked with what it imports; null if it has no content here.
  // The result holds until Release.
  absl::StatusOr<const VersionKernels*> Get(const Side& side) {
    const std::string key = side.MakeKey();
    const auto known = kernels_.find(key);
    if (known != kernels_.end()) return known->second.get();
    if (!contents_.contains(side.id)) return nullptr;
    ASSIGN_OR_RETURN(std::vector<v1::Kernel> kernels, Link(side));
    if (!kernels.empty()) with_kernels_.insert(side.id);
    auto& made = kernels_[key];
    made = std::make_unique<VersionKernels>(MakeVersion(std::move(kernels)));
    return made.get();
  }

  // Returns how many versions hold kernels, of those that Get has read.
  int64_t with_kernels() const { return static_cast<int64_t>(with_kernels_.size()); }

  // Ends one use of a side; after the last one its kernels are forgotten.
  void Release(const Side& side) {
    const std::string key = side.MakeKey();
    if (--uses_[key] == 0) kernels_.erase(key);
    ReleaseText(side.path, side.id);
    for (const v1::ImportedFile* file : side.imports) ReleaseText(file->path(), file->id());
  }

 private:
  static std::string MakeTextKey(const std::string& path, const std::string& id) {
    return absl::StrCat(path, std::string(1, '\0'), id);
  }

  void UseText(const std::string& path, const std::string& id) {
    ++text_uses_[MakeTextKey(path, id)];
    ++content_uses_[id];
  }

  void ReleaseText(const std::string& path, const std::string& id) {
    const std::string key = MakeTextKey(path, id);
    if (--text_uses_[key] == 0) extracted_.erase(key);
    if (--content_uses_[id] == 0) contents_.erase(id);
  }

  // Returns what is extracted of a text as a file of that path; null if it has no content here.
  absl::StatusOr<const v1::KernelShard*> Extract(const std::string& path, const std::string& id) {
    const std::string key = MakeTextKey(path, id);
    const auto known = extracted_.find(key);
    if (known != extracted_.end()) return known->second.get();
    const auto content = contents_.find(id);
    if (id.empty() || content == contents_.end()) return nullptr;
    v1::FileShard file;
    file.add_files()->set_path(path);
    file.mutable_files(0)->set_content(content->second);
    ASSIGN_OR_RETURN(v1::KernelShard shard, ExtractKernels(file, parser_, {.languages = wanted_}));
    auto& extracted = extracted_[key];
    extracted = std::make_unique<v1::KernelShard>(std::move(shard));
    return extracted.get();
  }

  // Links the file as if the source had what it imports and no other file.
  absl::StatusOr<std::vector<v1::Kernel>> Link(const Side& side) {
    v1::SourceTree tree = tree_;
    tree.add_files()->set_path(side.path);
    std::vector<const v1::KernelShard*> shards;
    ASSIGN_OR_RETURN(shards.emplace_back(), Extract(side.path, side.id));
    for (const v1::ImportedFile* imported : side.imports) {
      v1::FileEntry& file = *tree.add_files();
      file.set_path(imported->path());
      file.set_support(true);
      ASSIGN_OR_RETURN(const v1::KernelShard* const shard,
                       Extract(imported->path(), imported->id()));
      if (shard != nullptr) shards.push_back(shard);
    }
    std::vector<v1::Kernel> kernels;
    const auto write = [&](size_t, v1::KernelShard linked) {
      for (v1::Kernel& kernel : *linked.mutable_kernels()) {
        if (IsFollowed(kernel)) kernels.push_back(std::move(kernel));
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(
        LinkSource(tree, {shards.size(), [&](size_t i) { return *shards[i]; }}, {}, write)
            .status());
    return kernels;
  }

  const python::PythonParser& parser_;
  const dsl::LanguageSet wanted_;
  v1::SourceTree tree_;  // without files
  const v1::HistoryIndex* index_ = nullptr;
  absl::flat_hash_set<std::string> with_kernels_;                                 // ids
  absl::flat_hash_map<std::string, std::string> contents_;                        // by id
  absl::flat_hash_map<std::string, int64_t> uses_, text_uses_;                    // by key
  absl::flat_hash_map<std::string, int64_t> content_uses_;                        // by id
  absl::flat_hash_map<std::string, std::unique_ptr<v1::KernelShard>> extracted_;  // by text key
  absl::flat_hash_map<std::string, std::unique_ptr<VersionKernels>> kernels_;     // by key
};

struct Lineage {
  std::string id;
  std::optional<int64_t> head;
};

// Which lineage each kernel has, by the path and key that it has at the commit where the walk is.
class Lineages {
 public:
  explicit Lineages(std::string repository) : repository_(std::move(repository)) {}

  absl::Status LoadHead(const HistoryInputs& inputs) {
    int64_t number = 0;
    for (size_t i = 0; i < inputs.kernels; ++i) {
      ASSIGN_OR_RETURN(const v1::KernelShard shard, inputs.read_kernels(i));
      std::map<std::pair<std::string, std::string>, int> seen;
      for (const v1::Kernel& kernel : shard.kernels()) {
        if (IsFollowed(kernel)) {
          const int nth = seen[{kernel.path(), kernel.qualname()}]++;
          std::string key =
              nth == 0 ? kernel.qualname() : absl::StrCat(kernel.qualname(), "#", nth);
          by_path_[kernel.path()][key] = {MakeId(kernel.path(), key, ""), number};
        }
        ++number;
      }
    }
    return absl::OkStatus();
  }

  // Returns the lineage of a kernel as it is after the commit.
  const Lineage& Get(const std::string& path, const std::string& key, const std::string& commit) {
    auto [found, is_new] = by_path_[path].try_emplace(key);
    if (is_new) found->second.id = MakeId(path, key, commit);
    return found->second;
  }

  // Takes out all kernels of a path.
  std::map<std::string, Lineage> Take(const std::string& path) {
    const auto node = by_path_.extract(path);
    return node.empty() ? std::map<std::string, Lineage>() : std::move(node.mapped());
  }

  void Set(const std::string& path, const std::string& key, Lineage lineage) {
    by_path_[path][key] = std::move(lineage);
  }

 private:
  std::string MakeId(const std::string& path, const std::string& key,
                     const std::string& commit) const {
    const std::string zero(1, '\0');
    return Sha256Hex(absl::StrCat(repository_, zero, path, zero, key, zero, commit)).substr(0, 32);
  }

  const std::string repository_;
  std::map<std::string, std::map<std::string, Lineage>> by_path_;
};

class ChangeFinder {
 public:
  ChangeFinder(const v1::SourceTree& tree, const dsl::LanguageSet& wanted,
               const HistoryInputs& inputs, const python::PythonParser& parser,
               const HistoryOptions& options)
      : inputs_(inputs),
        options_(options),
        versions_(tree, wanted, parser),
        lineages_(tree.repository()),
        compiled_(options.compile) {}

  absl::Status Run(const HistoryOutputs& outputs) {
    RETURN_IF_ERROR(versions_.Load(inputs_));
    RETURN_IF_ERROR(lineages_.LoadHead(inputs_));
    sums_.set_commits_seen(inputs_.index.commits_seen());
    sums_.set_lost_versions(inputs_.index.lost_versions());
    sums_.set_end(inputs_.index.end());
    for (const v1::HistoryCommit& commit : inputs_.index.commits()) {
      RETURN_IF_ERROR(ReadCommit(commit));
    }
    sums_.set_versions(versions_.with_kernels());
    sums_.set_changes(static_cast<int64_t>(changes_.size()));
    absl::flat_hash_set<absl::string_view> lineages;
    for (const v1::KernelChange& change : changes_) lineages.insert(change.lineage());
    sums_.set_kernels(static_cast<int64_t>(lineages.size()));
    FindReverts();
    RETURN_IF_ERROR(WriteChanges(outputs));
    return compiled_.Write(outputs.write_kernels, options_.compiled);
  }

 private:
  absl::Status ReadCommit(const v1::HistoryCommit& commit) {
    std::vector<FileSides> files;
    for (const v1::HistoryFile& file : commit.files()) {
      FileSides sides = {file.before_path(), file.path(), nullptr, nullptr};
      ASSIGN_OR_RETURN(const Side before, versions_.GetSide(file, false));
      ASSIGN_OR_RETURN(const Side after, versions_.GetSide(file, true));
      ASSIGN_OR_RETURN(sides.before, versions_.Get(before));
      ASSIGN_OR_RETURN(sides.after, versions_.Get(after));
      files.push_back(std::move(sides));
    }
    const std::vector<KernelMatch> matches = MatchKernels(files);
    const size_t known = changes_.size();
    for (const KernelMatch& match : matches) AddChange(commit, files, match);
    if (changes_.size() > known) sums_.set_commits_with_changes(sums_.commits_with_changes() + 1);
    for (size_t i = known; i < changes_.size(); ++i) {
      changes_[i].set_commit_kernels(static_cast<int32_t>(changes_.size() - known));
    }
    CountSides(files, matches);
    GoBack(commit, files, matches);
    for (const v1::HistoryFile& file : commit.files()) {
      for (const bool after : {false, true}) {
        ASSIGN_OR_RETURN(const Side side, versions_.GetSide(file, after));
        versions_.Release(side);
      }
    }
    return absl::OkStatus();
  }

  void CountSides(const std::vector<FileSides>& files, const std::vector<KernelMatch>& matches) {
    std::set<std::pair<size_t, size_t>> before, after;
    for (const KernelMatch& match : matches) {
      before.insert({match.before.file, match.before.kernel});
      after.insert({match.after.file, match.after.kernel});
      const FileSides& of_before = files[match.before.file];
      const FileSides& of_after = files[match.after.file];
      if (of_before.before_path != of_after.path ||
          of_before.before->keys[match.before.kernel] != of_after.after->keys[match.after.kernel]) {
        sums_.set_moved(sums_.moved() + 1);
      }
    }
    int64_t all_before = 0, all_after = 0;
    for (const FileSides& file : files) {
      if (file.before != nullptr) all_before += static_cast<int64_t>(file.before->kernels.size());
      if (file.after != nullptr) all_after += static_cast<int64_t>(file.after->kernels.size());
    }
    if (all_before + all_after > 0) {
      sums_.set_commits_with_kernels(sums_.commits_with_kernels() + 1);
    }
    sums_.set_removed(sums_.removed() + all_before - static_cast<int64_t>(before.size()));
    sums_.set_added(sums_.added() + all_after - static_cast<int64_t>(after.size()));
  }

  // Gives the kernels before the commit the lineages of those that they became.
  void GoBack(const v1::HistoryCommit& commit, const std::vector<FileSides>& files,
              const std::vector<KernelMatch>& matches) {
    std::vector<Lineage> carried;
    for (const KernelMatch& match : matches) {
      const FileSides& file = files[match.after.file];
      carried.push_back(
          lineages_.Get(file.path, file.after->keys[match.after.kernel], commit.commit()));
    }
    for (const FileSides& file : files) {
      // A version whose content is lost says nothing of the file's kernels.
      if (file.before == nullptr && file.after == nullptr) continue;
      lineages_.Take(file.path);
    }
    for (size_t i = 0; i < matches.size(); ++i) {
      const KernelMatch& match = matches[i];
      if (absl::string_view(match.match) == "split") continue;  // its origin has its own
      const FileSides& file = files[match.before.file];
      lineages_.Set(file.before_path, file.before->keys[match.before.kernel],
                    std::move(carried[i]));
    }
  }

  void AddChange(const v1::HistoryCommit& commit, const std::vector<FileSides>& files,
                 const KernelMatch& match) {
    const FileSides& of_before = files[match.before.file];
    const FileSides& of_after = files[match.after.file];
    const v1::Kernel& before = of_before.before->kernels[match.before.kernel];
    const v1::Kernel& after = of_after.after->kernels[match.after.kernel];
    if (before.source() == after.source()) return;
    v1::KernelChange& change = changes_.emplace_back();
    change.set_commit(commit.commit());
    change.set_parent(commit.parent());
    change.set_parents(commit.parents());
    change.set_author_time(commit.author_time());
    change.set_license_files(commit.license_files());
    change.set_match(match.match);
    change.set_similarity(match.similarity);
    FillVersion(before, of_before.before_path, change.mutable_before());
    FillVersion(after, of_after.path, change.mutable_after());
    change.set_diff(UnifiedDiff({of_before.before_path, before.source(), before.first_line()},
                                {of_after.path, after.source(), after.first_line()}));
    const std::string message = CleanMessage(commit.message());
    change.set_message(message);
    const bool is_new = absl::string_view(match.match) == "split";
    ChangeKind kind = JudgeKind(message, before, after, is_new);
    change.set_kind(std::move(kind.kind));
    for (std::string& word : kind.evidence) change.add_evidence(std::move(word));
    for (v1::Claim& claim : FindClaims(message)) *change.add_claims() = std::move(claim);
    for (std::string& id : FindReverted(message)) change.add_reverts(std::move(id));
    const Lineage& lineage =
        lineages_.Get(of_after.path, of_after.after->keys[match.after.kernel], commit.commit());
    change.set_lineage(lineage.id);
    if (lineage.head.has_value()) change.set_head(*lineage.head);
  }

  void FillVersion(const v1::Kernel& kernel, const std::string& path, v1::KernelVersion* out) {
    out->set_path(path);
    out->set_name(kernel.name());
    out->set_qualname(kernel.qualname());
    out->set_first_line(kernel.first_line());
    out->set_last_line(kernel.last_line());
    out->set_source(kernel.source());
    out->set_sha256(kernel.sha256());
    if (kernel.self_contained() && kernel.module().size() <= options_.max_module_bytes) {
      out->set_module(kernel.module());
      *out->mutable_pieces() = kernel.pieces();
    }
    if (kernel.launcher().path() == kernel.path() &&
        kernel.launcher().text().size() <= options_.max_module_bytes) {
      out->set_launcher(kernel.launcher().text());
    }
    out->set_dsl(kernel.dsl());
    out->set_role(kernel.role());
    // A kernel whose module is left out has no line that an error could name.
    keys_.push_back(out->module().empty() ? "" : compiled_.Add(kernel));
  }

  // A change is undone by a later one of its lineage that turns its text back, and by a commit
  // whose message says so.
  void FindReverts() {
    using Text = std::tuple<std::string, std::string, std::string>;  // lineage, before, after
    std::map<Text, std::vector<size_t>> later;
    absl::flat_hash_map<std::string, std::vector<std::string>> said;  // by reverted commit
    for (size_t i = 0; i < changes_.size(); ++i) {
      v1::KernelChange& change = changes_[i];
      // Its undoing is the nearest later change.
      auto& undoing = later[{change.lineage(), change.after().sha256(), change.before().sha256()}];
      if (!undoing.empty()) {
        v1::KernelChange& by = changes_[undoing.back()];
        change.add_reverted_by(by.commit());
        AddOnce(change.commit(), by.mutable_reverts());
        // A message that says what the commit is for says more.
        const bool said = by.kind() != "unknown" && by.evidence_size() > 0 &&
                          !absl::StartsWith(by.evidence(0), "rule: ");
        if (!said) {
          by.set_kind("revert");
          by.clear_evidence();
          by.add_evidence("rule: gives the text back that an earlier commit changed");
        }
        undoing.pop_back();
      }
      for (const std::string& id : change.reverts()) {
        if (id.size() < 40 && absl::StartsWith(change.commit(), id)) continue;
        said[id.substr(0, 7)].push_back(absl::StrCat(id, " ", change.commit()));
      }
      const auto named = said.find(change.commit().substr(0, 7));
      if (named != said.end()) {
        for (const std::string& pair : named->second) {
          const std::pair<absl::string_view, absl::string_view> ids =
              absl::StrSplit(pair, absl::MaxSplits(' ', 1));
          if (!absl::StartsWith(change.commit(), ids.first)) continue;
          AddOnce(std::string(ids.second), change.mutable_reverted_by());
        }
      }
      later[{change.lineage(), change.before().sha256(), change.after().sha256()}].push_back(i);
    }
  }

  static void AddOnce(const std::string& id, google::protobuf::RepeatedPtrField<std::string>* ids) {
    if (std::find(ids->begin(), ids->end(), id) == ids->end()) *ids->Add() = id;
  }

  // Places are known once all kernels are.
  void SetPlace(const std::string& key, v1::KernelVersion* version) {
    if (!key.empty()) version->set_compiled(compiled_.GetPlace(key));
  }

  absl::Status WriteChanges(const HistoryOutputs& outputs) {
    const auto& write = outputs.write_changes;
    v1::ChangeShard shard;
    *shard.mutable_sums() = sums_;
    size_t bytes = 0;
    for (size_t i = 0; i < changes_.size(); ++i) {
      v1::KernelChange& change = changes_[i];
      SetPlace(keys_[2 * i], change.mutable_before());
      SetPlace(keys_[2 * i + 1], change.mutable_after());
      const size_t size = change.ByteSizeLong();
      if (bytes > 0 && bytes + size > options_.max_shard_bytes) {
        RETURN_IF_ERROR(write(std::exchange(shard, v1::ChangeShard())));
        bytes = 0;
      }
      bytes += size;
      *shard.add_changes() = std::move(change);
    }
    return write(std::move(shard));
  }

  const HistoryInputs& inputs_;
  const HistoryOptions& options_;
  Versions versions_;
  Lineages lineages_;
  v1::HistorySums sums_;
  std::vector<v1::KernelChange> changes_;
  CompiledVersions compiled_;
  std::vector<std::string> keys_;  // two for each change, before and after; empty: not compiled
};

}  // namespace

absl::Status FindChanges(const v1::SourceTree& tree, const HistoryInputs& inputs,
                         const python::PythonParser& parser, const HistoryOutputs& outputs,
                         const HistoryOptions& options) {
  ASSIGN_OR_RETURN(const dsl::LanguageSet wanted, dsl::LanguageSet::Make(tree.languages()));
  return ChangeFinder(tree, wanted, inputs, parser, options).Run(outputs);
}

}  // namespace kernelmill::extractor
