#include "services/exporter/core/file_manifest.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "services/exporter/core/output/output_dir.h"
#include "services/exporter/core/records.h"

namespace kernelmill::exporter {
namespace {

std::string Created(const DatasetIndex& index) {
  int64_t newest = 0;
  for (const SourceEntry& source : index.sources) newest = std::max(newest, source.commit_time);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(newest), absl::UTCTimeZone());
}

// `in_tree` is null without a tree.
Json FileJson(const FileEntry& file, const SourceEntry& source, const TreeFile* in_tree) {
  Json json = Json::object();
  if (in_tree == nullptr) {
    SetText(json, "/path", file.path);
    json["hash_sha256"] = file.sha256;
  } else {
    json["path"] = in_tree->path;
    SetText(json, "/source_path", file.path);
    json["hash_sha256"] = in_tree->sha256;
    json["source_sha256"] = file.sha256;
    json["redacted"] = in_tree->redacted;
  }
  json["repository"] = Text(source.repository);
  json["commit"] = source.commit;
  json["size_bytes"] = file.size_bytes;
  json["lines"] = file.lines;
  json["has_triton_jit"] = file.has_triton_jit;
  return json;
}

Json LeftOutJson(const FileEntry& file, const SourceEntry& source, const std::string& reason) {
  Json json = {{"repository", Text(source.repository)},
               {"commit", source.commit},
               {"category", Text(source.category)},
               {"reason", reason}};
  SetText(json, "/source_path", file.path);
  return json;
}

// Sums over files.
struct FileTotals {
  int64_t files = 0;
  int64_t size_bytes = 0;
  int64_t lines = 0;

  void Add(const FileEntry& file) {
    ++files;
    size_bytes += file.size_bytes;
    lines += file.lines;
  }
  void Write(Json& json) const {
    json["total_files"] = files;
    json["total_size_bytes"] = size_bytes;
    json["total_lines"] = lines;
  }
};

}  // namespace

Json FileManifest(const DatasetIndex& index, const cas::Digest& dataset, const TreeFiles* tree) {
  Json categories = Json::object();
  Json left_out = Json::array();
  std::map<std::string, FileTotals> totals;
  FileTotals all;
  for (const uint32_t number : index.ListedFiles()) {
    const FileEntry& file = index.files[number];
    const SourceEntry& source = index.sources[static_cast<size_t>(file.source)];
    const TreeFile* in_tree = tree == nullptr ? nullptr : &tree->at(number);
    if (in_tree != nullptr && !in_tree->left_out.empty()) {
      left_out.push_back(LeftOutJson(file, source, in_tree->left_out));
      continue;
    }
    const std::string category = Text(source.category);
    categories[category]["files"].push_back(FileJson(file, source, in_tree));
    totals[category].Add(file);
    all.Add(file);
  }
  for (const auto& [category, sums] : totals) sums.Write(categories[category]);
  Json json = {{"created", Created(index)},
               {"extraction_dir", tree == nullptr ? "." : kTreeFolder},
               {"categories", std::move(categories)},
               {"dataset", cas::ToString(dataset)},
               {"stages", StagesJson(index.manifest)}};
  if (tree != nullptr) json["left_out"] = std::move(left_out);
  all.Write(json);
  return json;
}

}  // namespace kernelmill::exporter
