#include "dataset/export/file_manifest.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "common/base/in_order.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "dataset/export/report.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/json.h"

namespace kernelmill::dataset {
namespace {

// Returns the entry of a file. With a tree, path and hash are those of the file in it, and the
// source's are kept beside them; `in_tree` is null without a tree.
Json FileJson(const FileEntry& file, const SourceEntry& source, const TreeFile* in_tree) {
  Json json = Json::object();
  if (in_tree == nullptr) {
    SetText(json, "/path", file.path);
    json["hash_sha256"] = file.sha256();
  } else {
    json["path"] = in_tree->path;
    SetText(json, "/source_path", file.path);
    json["hash_sha256"] = in_tree->sha256;
    json["source_sha256"] = file.sha256();
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

// Returns a value as text within the file, `depth` levels deep; without a newline at its end.
std::string Within(const Json& json, int depth) {
  std::string text = Pretty(json);
  text.pop_back();
  return absl::StrReplaceAll(text, {{"\n", absl::StrCat("\n", std::string(2 * depth, ' '))}});
}

// Files that are rendered as one piece of work.
constexpr size_t kFilesAtOnce = 256;

// Writes MANIFEST.json entry by entry: there may be more than memory should hold at once.
class ManifestWriter {
 public:
  // Sorts the files into categories; files that the tree leaves out are listed apart, with the
  // reason.
  ManifestWriter(const DatasetIndex& index, const TreeFiles* tree, int threads, FileWriter* out)
      : index_(index), tree_(tree), threads_(threads), out_(*out) {
    for (const uint32_t number : index.ListedFiles()) {
      const bool left_out = tree != nullptr && !tree->at(number).left_out.empty();
      (left_out ? left_out_ : by_category_[GetCategory(number)]).push_back(number);
    }
  }

  absl::Status Write(const cas::Digest& dataset) {
    // Members are sorted by their keys, and so `left_out` comes in the midst of them.
    Json before = {{"created", Created(index_)},
                   {"dataset", cas::ToString(dataset)},
                   {"extraction_dir", tree_ == nullptr ? "." : kTreeFolder}};
    Json after = {{"stages", StagesJson(index_.manifest)}};
    RETURN_IF_ERROR(out_.Append("{\n  \"categories\": {"));
    FileTotals all;
    for (const auto& [category, numbers] : by_category_) {
      RETURN_IF_ERROR(
          out_.Append(&category == &by_category_.begin()->first ? "\n    " : ",\n    "));
      RETURN_IF_ERROR(WriteCategory(category, numbers, &all));
    }
    RETURN_IF_ERROR(out_.Append(by_category_.empty() ? "}" : "\n  }"));
    RETURN_IF_ERROR(WriteMembers(before));
    if (tree_ != nullptr) {
      RETURN_IF_ERROR(out_.Append(",\n  \"left_out\": "));
      RETURN_IF_ERROR(WriteList(left_out_, 1, [this](uint32_t number) {
        const FileEntry& file = index_.files[number];
        return LeftOutJson(file, GetSource(file), tree_->at(number).left_out);
      }));
    }
    all.Write(after);
    RETURN_IF_ERROR(WriteMembers(after));
    return out_.Append("\n}\n");
  }

 private:
  const SourceEntry& GetSource(const FileEntry& file) const {
    return index_.sources[static_cast<size_t>(file.source)];
  }
  std::string GetCategory(uint32_t number) const {
    return Text(GetSource(index_.files[number]).category);
  }

  // Writes members of the outermost object, each after a comma.
  absl::Status WriteMembers(const Json& object) {
    for (const auto& [key, value] : object.items()) {
      RETURN_IF_ERROR(out_.Append(absl::StrCat(",\n  ", JsonString(key), ": ", Within(value, 1))));
    }
    return absl::OkStatus();
  }

  // Writes the category's files, then its sums.
  absl::Status WriteCategory(const std::string& category, const std::vector<uint32_t>& numbers,
                             FileTotals* all) {
    RETURN_IF_ERROR(out_.Append(absl::StrCat(Canonical(category), ": {\n      \"files\": ")));
    RETURN_IF_ERROR(WriteList(numbers, 3, [this](uint32_t number) {
      const FileEntry& file = index_.files[number];
      return FileJson(file, GetSource(file), tree_ == nullptr ? nullptr : &tree_->at(number));
    }));
    FileTotals totals;
    for (const uint32_t number : numbers) {
      totals.Add(index_.files[number]);
      all->Add(index_.files[number]);
    }
    Json sums;
    totals.Write(sums);
    for (const auto& [key, value] : sums.items()) {
      RETURN_IF_ERROR(out_.Append(absl::StrCat(",\n      ", JsonString(key), ": ", value.dump())));
    }
    return out_.Append("\n    }");
  }

  // Writes a list, whose key is `depth` levels deep.
  absl::Status WriteList(const std::vector<uint32_t>& numbers, int depth,
                         absl::FunctionRef<Json(uint32_t)> entry) {
    if (numbers.empty()) return out_.Append("[]");
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    RETURN_IF_ERROR(InOrder<std::string>(
        threads_, (numbers.size() + kFilesAtOnce - 1) / kFilesAtOnce,
        2 * static_cast<size_t>(threads_),
        [&](size_t piece) -> absl::StatusOr<std::string> {
          std::string text;
          const size_t end = std::min(numbers.size(), (piece + 1) * kFilesAtOnce);
          for (size_t i = piece * kFilesAtOnce; i < end; ++i) {
            absl::StrAppend(&text, i == 0 ? "[\n" : ",\n", indent, "  ",
                            Within(entry(numbers[i]), depth + 1));
          }
          return text;
        },
        [&](size_t, const std::string& text) { return out_.Append(text); }));
    return out_.Append(absl::StrCat("\n", indent, "]"));
  }

  const DatasetIndex& index_;
  const TreeFiles* tree_;
  const int threads_;
  FileWriter& out_;
  std::map<std::string, std::vector<uint32_t>> by_category_;
  std::vector<uint32_t> left_out_;
};

}  // namespace

// The date of an export must not depend on the clock, or the same dataset would give other bytes.
// So it is that of the newest commit.
std::string Created(const DatasetIndex& index) {
  int64_t newest = 0;
  for (const SourceEntry& source : index.sources) newest = std::max(newest, source.commit_time);
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(newest), absl::UTCTimeZone());
}

absl::Status WriteFileManifest(const DatasetIndex& index, const cas::Digest& dataset,
                               const TreeFiles* tree, int threads, FileWriter* out) {
  return ManifestWriter(index, tree, threads, out).Write(dataset);
}

}  // namespace kernelmill::dataset
