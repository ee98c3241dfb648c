#include "dataset/export/graph_files.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/hash.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/job/source_spec.h"
#include "common/manifest/ledger.h"
#include "common/sensitive/sensitive.h"
#include "dataset/export/fill_rows.h"
#include "dataset/export/place.h"
#include "dataset/export/redact.h"
#include "dataset/output/files.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/rows.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {
namespace {

constexpr char kAboutFile[] = "graph.json";
constexpr char kGraphFile[] = "graph.py";
constexpr char kWrapperFile[] = "output_code.py";
constexpr char kModelFile[] = "model.py";
constexpr size_t kMaxAboutBytes = 1 << 20;
constexpr char kNotRun[] = "not_run";
constexpr absl::string_view kDocstring = "\"\"\"";
// The strictest first: where a source has a kernel of test, its rows must not be in train.
constexpr absl::string_view kSplits[] = {"test", "validation", "train"};

using Files = std::map<std::string, std::string>;  // a source's, by path

// A kernel of a wrapper: its number, and the number of the kept kernel that stands for it.
struct Found {
  uint32_t number = 0;
  std::optional<uint32_t> kept;
};
using KernelsByPath = std::map<std::string, std::map<std::string, Found>>;  // by path and name

// All that rows are made of, for one source.
struct SourceParts {
  int source = 0;  // its index
  Files files;
  KernelsByPath kernels;
  std::map<std::string, std::string> licenses;  // by path
};

absl::StatusOr<Files> ReadFiles(cas::BlobStore& store, const v1::ManifestSource& source) {
  Files files;
  for (const cas::Digest& digest : source.files()) {
    ASSIGN_OR_RETURN(auto shard, cas::GetMessage<v1::FileShard>(store, digest));
    for (v1::SourceFile& file : *shard.mutable_files()) {
      files[file.path()] = std::move(*file.mutable_content());
    }
  }
  return files;
}

// Returns the licence of each file with kernels, as the verdicts on them say.
absl::StatusOr<std::map<std::string, std::string>> ReadLicenses(cas::BlobStore& store,
                                                                const v1::ManifestSource& source) {
  std::map<std::string, std::string> licenses;
  for (int i = 0; i < source.kernels_size(); ++i) {
    ASSIGN_OR_RETURN(const auto kernels,
                     cas::GetMessage<v1::KernelShard>(store, source.kernels(i)));
    ASSIGN_OR_RETURN(const auto verdicts,
                     cas::GetMessage<v1::VerdictShard>(store, source.verdicts(i)));
    for (int k = 0; k < std::min(kernels.kernels_size(), verdicts.verdicts_size()); ++k) {
      licenses.try_emplace(kernels.kernels(k).path(), verdicts.verdicts(k).license().expression());
    }
  }
  return licenses;
}

// Returns the kept kernel that stands for a kernel: itself, or the one that it repeats.
std::optional<uint32_t> FindKept(const DatasetIndex& index, uint32_t number) {
  const v1::Decision& decision = index.DecisionOn(number);
  if (decision.fate() == v1::FATE_KEPT) return number;
  if (decision.fate() != v1::FATE_DUPLICATE) return std::nullopt;
  const auto leader = static_cast<uint32_t>(decision.leader());
  return index.DecisionOn(leader).fate() == v1::FATE_KEPT ? std::optional(leader) : std::nullopt;
}

// The wrappers' kernels of every source that keeps graphs, by the source's index.
absl::flat_hash_map<int, KernelsByPath> FindKernels(const DatasetIndex& index) {
  absl::flat_hash_map<int, KernelsByPath> found;
  for (const uint32_t number : index.candidates) {
    const FileEntry& file = index.GetFile(number);
    if (!job::KeepsGraphs(index.manifest.sources(file.source).source())) continue;
    if (index.IsFile(number)) continue;
    found[file.source][file.path].try_emplace(index.kernels[number].name,
                                              Found{number, FindKept(index, number)});
  }
  return found;
}

// Returns the strictest split that a kernel of the source has.
std::string FindSplit(const DatasetIndex& index, const KernelsByPath& kernels) {
  std::set<absl::string_view> splits;
  for (const auto& [path, by_name] : kernels) {
    for (const auto& [name, found] : by_name) {
      if (found.kept) splits.insert(index.GetSplit(*found.kept));
    }
  }
  for (const absl::string_view split : kSplits) {
    if (splits.contains(split)) return std::string(split);
  }
  return "train";
}

// The reason why nothing of the row may be seen, and the row with what policies redact written
// over. Texts are looked through as those of a kernel.
absl::string_view Redact(const v1::QualityPolicy& policy, v1::GraphRow* row) {
  v1::Kernel texts;
  texts.set_source(row->pytorch());
  texts.set_module(row->wrapper());
  texts.mutable_launcher()->set_text(row->model_source());
  v1::Quality quality;
  for (v1::Sensitive& finding : sensitive::FindSensitive(texts)) {
    const bool email = finding.kind() == "email";
    const v1::SensitivePolicy asked = email ? policy.emails() : policy.secrets();
    if (asked == v1::SENSITIVE_POLICY_REJECT) return "sensitive";
    *quality.add_sensitive() = std::move(finding);
  }
  if (quality.sensitive().empty()) return "";
  v1::Kernel redacted = Redacted(std::move(texts), quality, policy);
  row->set_pytorch(std::move(*redacted.mutable_source()));
  row->set_wrapper(std::move(*redacted.mutable_module()));
  row->set_model_source(std::move(*redacted.mutable_launcher()->mutable_text()));
  return "";
}

// Makes the rows of one source. Refers to its arguments.
class SourceGraphs {
 public:
  SourceGraphs(const DatasetIndex& index, const ReferenceGuard& guard, const SourceParts& parts)
      : index_(index),
        source_(index.sources[static_cast<size_t>(parts.source)]),
        guard_(guard),
        files_(parts.files),
        kernels_(parts.kernels),
        licenses_(parts.licenses),
        split_(FindSplit(index, parts.kernels)) {
    for (const auto& [number, reason] : index.withheld) {
      if (index.files[number].source == parts.source) withheld_.insert(index.files[number].path);
    }
  }

  // Fills the row of the graph that a graph.json describes. Returns the reason why it gets no row;
  // empty if it gets one.
  absl::string_view Make(const std::string& about_path, v1::GraphRow* row) const {
    const std::string folder(ParentFolder(about_path));
    const std::string* const graph = Find(folder, kGraphFile);
    const std::string* const wrapper = Find(folder, kWrapperFile);
    if (graph == nullptr || wrapper == nullptr) return "incomplete";
    const std::string path = Join(folder, kWrapperFile);
    const auto kernels = kernels_.find(path);
    if (kernels == kernels_.end()) return "no_kernel";
    if (withheld_.contains(path)) return "withheld";
    v1::GraphRow told;
    if (!Parse(files_.at(about_path), &told)) return "not_readable";
    if (const std::string* const model = Find(folder, kModelFile); model != nullptr) {
      row->set_model_source(*model);
    }
    if (guard_.Withholds(*graph) || guard_.Withholds(*wrapper) ||
        guard_.Withholds(row->model_source())) {
      return "withheld";
    }
    FillIdentity(path, *graph, *wrapper, row);
    CopyTold(&told, row);
    FillCheck(row);
    FillKernels(kernels->second, row);
    const auto license = licenses_.find(path);
    row->set_license(license == licenses_.end() ? "NOASSERTION" : license->second);
    const absl::string_view problem = Redact(index_.manifest.quality(), row);
    if (problem.empty()) FillGraphTokens(row);
    return problem;
  }

 private:
  static std::string Join(const std::string& folder, absl::string_view name) {
    return folder.empty() ? std::string(name) : absl::StrCat(folder, "/", name);
  }

  const std::string* Find(const std::string& folder, absl::string_view name) const {
    const auto found = files_.find(Join(folder, name));
    return found == files_.end() ? nullptr : &found->second;
  }

  // Others wrote the text. CopyTold passes over the fields of a row that it must not set.
  static bool Parse(const std::string& text, v1::GraphRow* told) {
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    return text.size() <= kMaxAboutBytes &&
           google::protobuf::util::JsonStringToMessage(text, told, options).ok() &&
           !told->model().empty() && !told->phase().empty();
  }

  void FillIdentity(const std::string& path, const std::string& graph, const std::string& wrapper,
                    v1::GraphRow* row) const {
    row->set_pytorch_sha256(Sha256Hex(graph));
    row->set_wrapper_sha256(Sha256Hex(wrapper));
    const absl::string_view nul("\0", 1);
    row->set_id(Sha256Hex(absl::StrCat(source_.repository, nul, source_.commit, nul, path, nul,
                                       row->pytorch_sha256(), nul, row->wrapper_sha256()))
                    .substr(0, 32));
    row->set_repository(source_.repository);
    row->set_repository_url(source_.url);
    row->set_commit(source_.commit);
    row->set_path(path);
    row->set_url(WebLink(source_.url, source_.commit, path, 0, 0));
    row->set_pytorch(graph);
    row->set_wrapper(wrapper);
    row->set_graph_sha256(HashGraph(graph));
    row->set_category(source_.category);
    row->set_weight(source_.weight);
    row->set_split(split_);
  }

  static void CopyTold(v1::GraphRow* told, v1::GraphRow* row) {
    row->set_library(told->library());
    row->set_model(told->model());
    row->set_phase(told->phase());
    row->set_graph(told->graph());
    row->set_dynamic(told->dynamic());
    row->mutable_inputs()->Swap(told->mutable_inputs());
    row->mutable_outputs()->Swap(told->mutable_outputs());
    row->mutable_operators()->Swap(told->mutable_operators());
    row->mutable_calls()->Swap(told->mutable_calls());
    row->mutable_guards()->Swap(told->mutable_guards());
    row->mutable_settings()->Swap(told->mutable_settings());
    row->mutable_versions()->Swap(told->mutable_versions());
    row->mutable_checks()->Swap(told->mutable_checks());
    row->mutable_kernels()->Swap(told->mutable_kernels());
    *row->mutable_device() = std::move(*told->mutable_device());
  }

  // A row whose wrapper no check names gets one that says so. The run of the graph's text has the
  // device cpu or cuda; a check of the wrapper has the name of the device.
  static void FillCheck(v1::GraphRow* row) {
    for (const v1::GraphRow::Check& check : row->checks()) {
      const std::string& device = check.device();
      const bool of_text = device.empty() || device == "cpu" || device == "cuda";
      if (check.status() == kNotRun || !of_text) return;
    }
    v1::GraphRow::Check* const check = row->add_checks();
    check->set_status(kNotRun);
    check->set_message("graph.json has no check of the wrapper");
  }

  // The facts in the ledger replace those that the capture states.
  void FillKernels(const std::map<std::string, Found>& known, v1::GraphRow* row) const {
    for (v1::GraphRow::Kernel& kernel : *row->mutable_kernels()) {
      kernel.clear_kernel_id();
      kernel.clear_fate();
      kernel.clear_split();
      kernel.clear_sha256();
      const auto found = known.find(kernel.name());
      if (found == known.end()) continue;
      const auto& [number, kept] = found->second;
      kernel.set_fate(std::string(manifest::FateName(index_.DecisionOn(number).fate())));
      kernel.set_sha256(index_.kernels[number].sha256());
      if (!kept) continue;
      kernel.set_kernel_id(index_.kernels[*kept].id());
      kernel.set_split(std::string(index_.GetSplit(*kept)));
    }
  }

  const DatasetIndex& index_;
  const SourceEntry& source_;
  const ReferenceGuard& guard_;
  const Files& files_;
  const KernelsByPath& kernels_;
  const std::map<std::string, std::string>& licenses_;
  const std::string split_;
  absl::flat_hash_set<std::string> withheld_;  // paths
};

// Rows that wait until all sources are read, and the duplicates that each has by then.
class WaitingRows {
 public:
  explicit WaitingRows(TempFile texts) : texts_(std::move(texts)) {}

  // Returns true if the row repeats no earlier one.
  absl::StatusOr<bool> Add(const v1::GraphRow& row) {
    const std::array<std::string, 2> keys = Keys(row);
    for (const std::string& key : keys) {
      const auto known = by_key_.find(key);
      if (known == by_key_.end()) continue;
      const size_t first = known->second;
      rows_[first].duplicates.push_back({row.repository(), row.path()});
      for (const std::string& other : keys) by_key_.emplace(other, first);
      return false;
    }
    for (const std::string& key : keys) by_key_.emplace(key, rows_.size());
    ASSIGN_OR_RETURN(const TempFile::Extent extent, texts_.Append(row.SerializeAsString()));
    rows_.push_back({extent, {}});
    return true;
  }

  absl::Status Write(TableWriter* tables) {
    RETURN_IF_ERROR(texts_.Flush());
    for (const Row& waiting : rows_) {
      ASSIGN_OR_RETURN(const std::string text, texts_.Read(waiting.extent));
      v1::GraphRow row;
      if (!row.ParseFromString(text)) return absl::DataLossError("a row of a graph is damaged");
      for (const auto& [repository, path] : waiting.duplicates) {
        v1::GraphRow::Duplicate* duplicate = row.add_duplicates();
        duplicate->set_repository(repository);
        duplicate->set_path(path);
      }
      RETURN_IF_ERROR(tables->Append(&row));
    }
    return absl::OkStatus();
  }

 private:
  struct Row {
    TempFile::Extent extent;
    std::vector<std::pair<std::string, std::string>> duplicates;
  };

  // The graph and the kernels that it became: by their texts, and by those that kernels.jsonl has
  // for them. One text may be kept in one source and repeat another kernel in the next.
  static std::array<std::string, 2> Keys(const v1::GraphRow& row) {
    std::set<std::string> texts, kept;
    for (const v1::GraphRow::Kernel& kernel : row.kernels()) {
      texts.insert(kernel.sha256());
      kept.insert(kernel.kernel_id().empty() ? kernel.sha256() : kernel.kernel_id());
    }
    const auto hash = [&](const std::set<std::string>& kernels) {
      return Sha256Hex(absl::StrCat(row.graph_sha256(), "\n", absl::StrJoin(kernels, "\n")));
    };
    return {hash(texts), hash(kept)};
  }

  TempFile texts_;
  std::vector<Row> rows_;
  absl::flat_hash_map<std::string, size_t> by_key_;
};

}  // namespace

Json GraphCounts::ToJson() const {
  if (sources == 0) return nullptr;
  return {{"sources", sources},          {"found", found},       {"rows", rows},
          {"duplicates", duplicates},    {"left_out", left_out}, {"kernels", kernels},
          {"kept_kernels", kept_kernels}};
}

std::vector<std::string> GraphCounts::ListWarnings() const {
  std::vector<std::string> warnings;
  if (sources > 0 && found == 0) {
    warnings.push_back(
        "keep: graphs found no graph.json; kernelmill capture writes such folders, with --from "
        "also of a debug folder");
  }
  for (const auto& [reason, count] : left_out) {
    warnings.push_back(absl::StrCat(count, " graphs are left out: ", reason));
  }
  return warnings;
}

std::string HashGraph(absl::string_view text) {
  if (absl::ConsumePrefix(&text, kDocstring)) {
    const size_t end = text.find(kDocstring);
    text = end == absl::string_view::npos ? "" : text.substr(end + kDocstring.size());
  }
  std::string code;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (stripped.empty() || stripped.front() == '#') continue;
    absl::StrAppend(&code, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  return Sha256Hex(code);
}

absl::StatusOr<GraphCounts> WriteGraphs(cas::BlobStore& store, const DatasetIndex& index,
                                        const ReferenceGuard& guard, const std::string& dir,
                                        TableWriter* tables) {
  GraphCounts counts;
  absl::flat_hash_map<int, KernelsByPath> kernels = FindKernels(index);
  ASSIGN_OR_RETURN(TempFile texts, TempFile::Create(dir));
  WaitingRows waiting(std::move(texts));
  std::set<std::string> kept;
  for (int i = 0; i < index.manifest.sources_size(); ++i) {
    const v1::ManifestSource& source = index.manifest.sources(i);
    if (!job::KeepsGraphs(source.source())) continue;
    ++counts.sources;
    if (source.failed()) continue;
    SourceParts parts = {i, {}, std::move(kernels[i]), {}};
    ASSIGN_OR_RETURN(parts.files, ReadFiles(store, source));
    ASSIGN_OR_RETURN(parts.licenses, ReadLicenses(store, source));
    const SourceGraphs graphs(index, guard, parts);
    for (const auto& [path, content] : parts.files) {
      if (BaseName(path) != kAboutFile) continue;
      ++counts.found;
      v1::GraphRow row;
      const absl::string_view problem = graphs.Make(path, &row);
      if (!problem.empty()) {
        ++counts.left_out[std::string(problem)];
        continue;
      }
      ASSIGN_OR_RETURN(const bool added, waiting.Add(row));
      if (!added) {
        ++counts.duplicates;
        continue;
      }
      ++counts.rows;
      counts.kernels += row.kernels_size();
      for (const v1::GraphRow::Kernel& kernel : row.kernels()) {
        if (!kernel.kernel_id().empty()) kept.insert(kernel.kernel_id());
      }
    }
  }
  counts.kept_kernels = static_cast<int64_t>(kept.size());
  RETURN_IF_ERROR(waiting.Write(tables));
  return counts;
}

}  // namespace kernelmill::dataset
