#include "services/exporter/core/file_manifest.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "services/exporter/core/records.h"

namespace kernelmill::exporter {
namespace {

std::string Created(const DatasetIndex& index) {
  int64_t newest = 0;
  for (const SourceEntry& source : index.sources) newest = std::max(newest, source.commit_time);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(newest), absl::UTCTimeZone());
}

Json FileJson(const FileEntry& file, const SourceEntry& source) {
  Json json = Json::object();
  SetText(json, "path", file.path);
  json["repository"] = Text(source.repository);
  json["commit"] = source.commit;
  json["size_bytes"] = file.size_bytes;
  json["lines"] = file.lines;
  json["has_triton_jit"] = file.has_triton_jit;
  json["hash_sha256"] = file.sha256;
  return json;
}

struct Totals {
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

Json FileManifest(const DatasetIndex& index, const cas::Digest& dataset) {
  std::vector<const FileEntry*> files;
  for (const FileEntry& file : index.files) {
    if (file.kept > 0) files.push_back(&file);
  }
  std::sort(files.begin(), files.end(), [](const FileEntry* a, const FileEntry* b) {
    return std::tie(a->source, a->path) < std::tie(b->source, b->path);
  });
  Json categories = Json::object();
  std::map<std::string, Totals> totals;
  Totals all;
  for (const FileEntry* file : files) {
    const SourceEntry& source = index.sources[file->source];
    const std::string category = Text(source.category);
    categories[category]["files"].push_back(FileJson(*file, source));
    totals[category].Add(*file);
    all.Add(*file);
  }
  for (const auto& [category, sums] : totals) sums.Write(categories[category]);
  Json json = {{"created", Created(index)},
               {"extraction_dir", "."},
               {"categories", std::move(categories)},
               {"dataset", cas::ToString(dataset)},
               {"stages", StagesJson(index.manifest)}};
  all.Write(json);
  return json;
}

}  // namespace kernelmill::exporter
