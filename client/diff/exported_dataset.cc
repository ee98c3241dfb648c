#include "client/diff/exported_dataset.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/yaml_message.h"
#include "dataset/output/output_dir.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::json;

absl::Status NoExport(absl::string_view file, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", what, "; is it of an export?"));
}

// The texts and whole numbers at the top of a row, the expression of its licence and whether it
// compiles, as "license" and "checks"; of what compilers say of it each result's texts, as
// "compile.status" and so on, and after each "compile". Nothing else of it is kept.
class RowReader final : public nlohmann::json_sax<Json> {
 public:
  using OnText = std::function<void(const std::string& key, const std::string& text)>;
  RowReader(OnText on_text, std::function<void(const std::string&, int64_t)> on_number)
      : on_text_(std::move(on_text)), on_number_(std::move(on_number)) {}

  bool Read(const std::string& line) {
    depth_ = 0;
    saw_object_ = false;
    return Json::sax_parse(line, this) && saw_object_;
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return Number(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return Number(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& text) override {
    if (depth_ == 1) on_text_(key_, text);
    const bool inner = (key_ == "license" && inner_key_ == "expression") ||
                       (key_ == "checks" && inner_key_ == "compiles");
    if (depth_ == 2 && inner) on_text_(key_, text);
    if (InResult()) on_text_(absl::StrCat("compile.", result_key_), text);
    return true;
  }
  bool start_object(size_t) override {
    saw_object_ |= depth_ == 0;
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (InResult()) on_text_("compile", "");
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    depth_ += kInArray;
    return true;
  }
  bool end_array() override {
    depth_ -= kInArray;
    return true;
  }
  bool key(string_t& key) override {
    if (depth_ == 1) key_ = key;
    if (depth_ == 2) inner_key_ = key;
    if (InResult()) result_key_ = key;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  static constexpr int kInArray = 1000;  // deeper than any object that is looked into

  // In an object of the list compile.results, and in none within it.
  bool InResult() const {
    return depth_ == kInArray + 3 && key_ == "compile" && inner_key_ == "results";
  }

  bool Number(int64_t value) {
    if (depth_ == 1) on_number_(key_, value);
    return true;
  }

  const OnText on_text_;
  const std::function<void(const std::string&, int64_t)> on_number_;
  int depth_ = 0;
  bool saw_object_ = false;
  std::string key_;
  std::string inner_key_;
  std::string result_key_;
};

// Calls visit(line) for each line of the file.
template <typename Visit>
absl::Status ForEachLine(const std::string& path, const Visit& visit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NoExport(path, "cannot be read");
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    RETURN_IF_ERROR(Annotate(visit(line), absl::StrCat(path, ":", number)));
  }
  if (file.bad()) return absl::DataLossError(absl::StrCat(path, ": cannot be read to its end"));
  return absl::OkStatus();
}

template <size_t size>
bool FromHex(const std::string& hex, std::array<char, size>* bytes) {
  if (!IsHex(hex, 2 * size)) return false;
  const std::string raw = absl::HexStringToBytes(hex);
  std::copy(raw.begin(), raw.end(), bytes->begin());
  return true;
}

absl::Status ReadLedger(const std::string& path, Texts& texts, ExportedDataset& dataset) {
  ExportedKernel kernel;
  bool whole = false;
  const uint32_t kept = texts.Number("kept");
  RowReader reader(
      [&](const std::string& key, const std::string& text) {
        if (key == "id") whole = FromHex(text, &kernel.id);
        if (key == "of") FromHex(text, &kernel.of);
        if (key == "sha256") FromHex(text, &kernel.sha256);
        if (key == "repository") kernel.repository = texts.Number(text);
        if (key == "path") kernel.path = texts.Number(text);
        if (key == "json_pointer") kernel.json_pointer = texts.Number(text);
        if (key == "dsl") kernel.dsl = texts.Number(text);
        if (key == "fate") kernel.fate = texts.Number(text);
        if (key == "reason") kernel.reason = texts.Number(text);
      },
      [&](const std::string& key, int64_t value) {
        if (key == "first_line") kernel.first_line = static_cast<int32_t>(value);
      });
  RETURN_IF_ERROR(ForEachLine(path, [&](const std::string& line) {
    kernel = ExportedKernel();
    whole = false;
    if (!reader.Read(line) || !whole || kernel.fate == 0) {
      return absl::InvalidArgumentError("no row of a ledger");
    }
    kernel.kept = kernel.fate == kept;
    dataset.kernels.push_back(kernel);
    return absl::OkStatus();
  }));
  dataset.by_id.resize(dataset.kernels.size());
  for (uint32_t i = 0; i < dataset.by_id.size(); ++i) dataset.by_id[i] = i;
  std::sort(dataset.by_id.begin(), dataset.by_id.end(),
            [&](uint32_t a, uint32_t b) { return dataset.kernels[a].id < dataset.kernels[b].id; });
  return absl::OkStatus();
}

absl::Status ReadKernels(const std::string& path, Texts& texts, ExportedDataset& dataset) {
  std::array<char, 16> id{};
  bool whole = false;
  uint64_t module = 0;
  uint32_t qualname = 0;
  uint32_t license = 0;
  uint32_t compiles = 0;
  std::map<std::string, std::string> result;  // the texts of the one at hand
  std::string compiled;
  RowReader reader(
      [&](const std::string& key, const std::string& text) {
        if (key == "id") whole = FromHex(text, &id);
        if (key == "module") module = absl::HashOf(text);
        if (key == "qualname") qualname = texts.Number(text);
        if (key == "license") license = texts.Number(text);
        if (key == "checks") compiles = texts.Number(text);
        if (absl::StartsWith(key, "compile.")) result[key.substr(8)] = text;
        if (key != "compile") return;
        const std::string& stage = result["stage"];
        absl::StrAppend(&compiled, result["toolchain"], ", ", result["target"], ": ",
                        result["status"], stage.empty() ? "" : ", ", stage, "\n");
        result.clear();
      },
      [](const std::string&, int64_t) {});
  return ForEachLine(path, [&](const std::string& line) {
    whole = false;
    compiles = 0;
    compiled.clear();
    if (!reader.Read(line) || !whole) return absl::InvalidArgumentError("no row of a kernel");
    auto* kernel = const_cast<ExportedKernel*>(dataset.Find(id));
    if (kernel == nullptr) return absl::InvalidArgumentError("a kernel that the ledger has not");
    kernel->module = module;
    kernel->qualname = qualname;
    kernel->license = license;
    kernel->compiles = compiles;
    kernel->compiled = texts.Number(compiled);
    return absl::OkStatus();
  });
}

// The sums of sources and categories, which a large job's report is full of, are passed over.
Json ReadReportHead(std::ifstream& file) {
  static const auto* const kKeys =
      new std::set<std::string>{"name", "dataset", "stages", "kernels", "sources"};
  static const auto* const kSourceKeys =
      new std::set<std::string>{"repository", "commit", "failed", "role"};
  bool in_sources = false;
  const auto wanted = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event != Json::parse_event_t::key) return true;
    const auto& key = parsed.get_ref<const std::string&>();
    if (depth == 1) {
      in_sources = key == "sources";
      return kKeys->contains(key);
    }
    return depth != 3 || !in_sources || kSourceKeys->contains(key);
  };
  return Json::parse(file, wanted, /*allow_exceptions=*/false);
}

absl::Status ReadReport(const std::string& path, ExportedDataset& dataset) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NoExport(path, "cannot be read");
  const Json report = ReadReportHead(file);
  if (!report.is_object() || !report.contains("dataset")) return NoExport(path, "is no report");
  dataset.name = report.value("name", "");
  dataset.digest = report.value("dataset", "");
  const Json stages = report.value("stages", Json::object());
  const Json sums = report.value("kernels", Json::object());
  for (const auto& [stage, version] : stages.items()) {
    if (version.is_number_integer()) dataset.stages[stage] = version.get<int64_t>();
  }
  for (const auto& [sum, value] : sums.items()) {
    if (value.is_number_integer()) dataset.sums[sum] = value.get<int64_t>();
  }
  for (const Json& source : report.value("sources", Json::array())) {
    if (!source.is_object() || !source.contains("repository"))
      return NoExport(path, "is no report");
    const auto commit = source.find("commit");
    const bool known = commit != source.end() && commit->is_string();
    dataset.sources[source.value("repository", "")] = {known ? commit->get<std::string>() : "",
                                                       source.value("failed", false)};
  }
  return absl::OkStatus();
}

// "dedup.contamination.overlap: 0.5" for each value below the node; an entry of a list is one
// value.
void Flatten(const job::YamlNode& node, const std::string& key, std::vector<std::string>* out) {
  using Kind = job::YamlNode::Kind;
  if (node.kind == Kind::kMap) {
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      Flatten(node.children[i + 1],
              absl::StrCat(key, key.empty() ? "" : ".", node.children[i].text), out);
    }
  } else if (node.kind == Kind::kList) {
    for (const job::YamlNode& entry : node.children) {
      std::vector<std::string> values;
      Flatten(entry, "", &values);
      out->push_back(absl::StrCat(key, "[]: ", absl::StrJoin(values, ", ")));
    }
  } else {
    out->push_back(absl::StrCat(key, key.empty() ? "" : ": ", node.text));
  }
}

// Reads a lock file by its keys at the top, and its sources, of which there may be very many, each
// by itself: as JobFileYaml writes them.
class LockReader {
 public:
  LockReader(const std::string& path, ExportedDataset* dataset) : path_(path), dataset_(*dataset) {}

  absl::Status Add(const std::string& line) {
    const bool at_top = !line.empty() && line[0] != ' ';
    if (at_top || (in_sources_ && absl::StartsWith(line, "  - "))) RETURN_IF_ERROR(EndPart());
    if (at_top) in_sources_ = line == "sources:";
    if (!in_sources_ || !at_top) absl::StrAppend(&part_, line, "\n");
    return absl::OkStatus();
  }

  absl::Status Finish() {
    RETURN_IF_ERROR(EndPart());
    std::sort(dataset_.settings.begin(), dataset_.settings.end());
    return absl::OkStatus();
  }

 private:
  absl::Status EndPart() {
    const std::string part = std::exchange(part_, "");
    if (part.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const job::YamlNode root, job::ParseYamlTree(part, path_));
    if (in_sources_) {
      for (const job::YamlNode& source : root.children) AddSource(source);
    } else {
      Flatten(root, "", &dataset_.settings);
    }
    return absl::OkStatus();
  }

  // What it takes: its pin is in the report.
  void AddSource(const job::YamlNode& source) {
    std::vector<std::string> values;
    Flatten(source, "", &values);
    std::string name;
    std::string settings;
    for (const std::string& value : values) {
      const std::pair<std::string, std::string> entry =
          absl::StrSplit(value, absl::MaxSplits(": ", 1));
      const auto& [key, text] = entry;
      const bool origin = key == "git" || key == "package" || key == "path" || key == "inductor";
      if (key == "name" || (origin && name.empty())) name = text;
      if (key == "ref" || key == "sha256") continue;
      absl::StrAppend(&settings, settings.empty() ? "" : ", ", value);
    }
    dataset_.source_settings[name] = settings;
  }

  const std::string& path_;
  ExportedDataset& dataset_;
  bool in_sources_ = false;
  std::string part_;
};

absl::Status ReadLock(const std::string& path, ExportedDataset& dataset) {
  LockReader reader(path, &dataset);
  RETURN_IF_ERROR(ForEachLine(path, [&](const std::string& line) { return reader.Add(line); }));
  return reader.Finish();
}

}  // namespace

uint32_t Texts::Number(absl::string_view text) {
  const auto [at, is_new] =
      numbers_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(&at->first);
  return at->second;
}

const ExportedKernel* ExportedDataset::Find(const std::array<char, 16>& id) const {
  const auto at = std::partition_point(by_id.begin(), by_id.end(),
                                       [&](uint32_t i) { return kernels[i].id < id; });
  return at == by_id.end() || kernels[*at].id != id ? nullptr : &kernels[*at];
}

absl::StatusOr<ExportedDataset> ReadExport(const std::string& dir, Texts& texts) {
  ExportedDataset dataset;
  const auto file = [&](const char* name) { return absl::StrCat(dir, "/", name); };
  RETURN_IF_ERROR(ReadReport(file(dataset::kReportFile), dataset));
  RETURN_IF_ERROR(ReadLedger(file(dataset::kLedgerFile), texts, dataset));
  RETURN_IF_ERROR(ReadKernels(file(dataset::kKernelsFile), texts, dataset));
  RETURN_IF_ERROR(ReadLock(file(dataset::kLockFile), dataset));
  return dataset;
}

}  // namespace kernelmill::client
