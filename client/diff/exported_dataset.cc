// The reader of an export for `kernelmill diff`. It reads four files: report.json for the sums,
// stages and sources; ledger.jsonl for every kernel; kernels.jsonl for what only kept kernels have;
// and job.lock.yaml for the settings. Each is read in pieces, so that memory holds 128 bytes for
// each kernel and each different text once.

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
#include "client/diff/published_rows.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/yaml_message.h"
#include "common/words/enum_words.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/lines.h"
#include "dataset/rows/row_reader.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::json;

absl::Status NoExport(absl::string_view file, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", what, "; is it of an export?"));
}

// Calls visit(line) for each line of the file.
template <typename Visit>
absl::Status ForEachLine(const std::string& path, const Visit& visit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NoExport(path, "cannot be read");
  std::string line;
  for (int64_t number = 1;; ++number) {
    const std::string where = absl::StrCat(path, ":", number);
    const absl::StatusOr<bool> more = dataset::ReadLine(file, &line);
    RETURN_IF_ERROR(Annotate(more.status(), where));
    if (!*more) return absl::OkStatus();
    RETURN_IF_ERROR(Annotate(visit(line), where));
  }
}

// Sets `bytes` if the text is hexadecimal with exactly that many bytes, and returns whether it is.
template <size_t size>
bool FromHex(const std::string& hex, std::array<char, size>* bytes) {
  if (!IsHex(hex, 2 * size)) return false;
  const std::string raw = absl::HexStringToBytes(hex);
  std::copy(raw.begin(), raw.end(), bytes->begin());
  return true;
}

// Reads the ledger: one kernel for each row. Then it sorts their indexes by id for Find.
absl::Status ReadLedger(const std::string& dir, Texts& texts, ExportedDataset& dataset) {
  const dataset::RowReaderOptions options = {.fields = {"id", "of", "sha256", "repository", "path",
                                                        "json_pointer", "first_line", "dsl", "fate",
                                                        "reason"}};
  const auto add = [&](const v1::LedgerRow& row, const dataset::RowPlace& place) {
    ExportedKernel kernel;
    if (!FromHex(row.id(), &kernel.id) || row.fate().empty()) {
      return NoExport(absl::StrCat(dataset::kLedgerFile, ":", place.line), "no id or no fate");
    }
    FromHex(row.of(), &kernel.of);
    FromHex(row.sha256(), &kernel.sha256);
    kernel.repository = texts.Number(row.repository());
    kernel.path = texts.Number(row.path());
    kernel.json_pointer = texts.Number(row.json_pointer());
    kernel.first_line = row.first_line();
    kernel.dsl = texts.Number(row.dsl());
    kernel.fate = texts.Number(row.fate());
    kernel.reason = texts.Number(row.reason());
    kernel.kept = row.fate() == "kept";
    dataset.kernels.push_back(kernel);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(dataset::ForEachRow<v1::LedgerRow>(dir, options, add));
  dataset.by_id.resize(dataset.kernels.size());
  for (uint32_t i = 0; i < dataset.by_id.size(); ++i) dataset.by_id[i] = i;
  std::sort(dataset.by_id.begin(), dataset.by_id.end(),
            [&](uint32_t a, uint32_t b) { return dataset.kernels[a].id < dataset.kernels[b].id; });
  return absl::OkStatus();
}

// Returns a line for each result of the compilers: "triton-3.5.1, cuda:90: ok".
std::string ListResults(const v1::KernelRow::Compile& compile) {
  std::string lines;
  for (const v1::KernelRow::Compile::Result& result : compile.results()) {
    absl::StrAppend(&lines, result.toolchain(), ", ", result.target(), ": ",
                    ToWord(result.status()), result.stage().empty() ? "" : ", ", result.stage(),
                    "\n");
  }
  return lines;
}

// Adds to the ledger's kernels what kernels.jsonl says about them. INVALID_ARGUMENT: a kernel is
// not in the ledger.
absl::Status ReadKernels(const std::string& dir, Texts& texts, ExportedDataset& dataset) {
  const dataset::RowReaderOptions options = {
      .fields = {"id", "module", "qualname", "license", "checks", "compile"}};
  const auto add = [&](const v1::KernelRow& row, const dataset::RowPlace& place) {
    const auto refuse = [&place](absl::string_view what) {
      return NoExport(absl::StrCat(dataset::kKernelsFile, ":", place.line), what);
    };
    std::array<char, 16> id{};
    if (!FromHex(row.id(), &id)) return refuse("no id");
    auto* const kernel = const_cast<ExportedKernel*>(dataset.Find(id));
    if (kernel == nullptr) return refuse("the ledger does not have this kernel");
    // A module is only compared for equality within this process, so a hash replaces its text.
    kernel->module = absl::HashOf(row.module());
    kernel->qualname = texts.Number(row.qualname());
    kernel->license = texts.Number(row.license().expression());
    if (row.checks().compiles() != v1::RuleResult::OUTCOME_UNSPECIFIED) {
      kernel->compiles = texts.Number(ToWord(row.checks().compiles()));
    }
    kernel->compiled = texts.Number(ListResults(row.compile()));
    return absl::OkStatus();
  };
  return dataset::ForEachRow<v1::KernelRow>(dir, options, add);
}

// The sums of sources and categories, which a large job's report is full of, are passed over.
Json ReadReportHead(std::ifstream& file) {
  static const auto* const kKeys =
      new std::set<std::string>{"name", "dataset", "stages", "kernels", "sources"};
  static const auto* const kSourceKeys =
      new std::set<std::string>{"repository", "commit", "failed", "role"};
  bool in_sources = false;
  // The parser calls this for each key; false drops the key with its value before it is built. Keys
  // of the report have depth 1, keys of an entry in a list such as `sources` have depth 3.
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

// Fields that an older report lacks stay empty; without a dataset's digest it is not a report.
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
  // Children of a map are keys and values in turn.
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

// Reads a lock file by its keys at the top, and its sources one by one, because there may be very
// many. It expects the layout that JobFileYaml writes.
class LockReader {
 public:
  LockReader(const std::string& path, ExportedDataset* dataset) : path_(path), dataset_(*dataset) {}

  absl::Status Add(const std::string& line) {
    // A part is one top-level key with its lines; under `sources:` one entry of the list. So the
    // YAML parser sees one source at a time.
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
    // Each part of `sources:` is a list with one entry.
    if (in_sources_) {
      for (const job::YamlNode& source : root.children) AddSource(source);
    } else {
      Flatten(root, "", &dataset_.settings);
    }
    return absl::OkStatus();
  }

  // Adds what a source takes, without its pin, which is in the report.
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
      // These are pins: they differ between any two runs, and the report has the commit. The
      // name of a source is part of the dataset, the place of its folder is not.
      if (key == "ref" || key == "sha256" || key == "path" || key == "inductor") continue;
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
  // Binary search: by_id has the indexes sorted by id.
  const auto at = std::partition_point(by_id.begin(), by_id.end(),
                                       [&](uint32_t i) { return kernels[i].id < id; });
  return at == by_id.end() || kernels[*at].id != id ? nullptr : &kernels[*at];
}

absl::StatusOr<ExportedDataset> ReadExport(const std::string& dir, Texts& texts) {
  ExportedDataset dataset;
  dataset.folder = dir;
  const auto file = [&](const char* name) { return absl::StrCat(dir, "/", name); };
  RETURN_IF_ERROR(ReadReport(file(dataset::kReportFile), dataset));
  ASSIGN_OR_RETURN(const TempDir temporary, TempDir::Create());
  const bool published = IsWithoutLines(dir);
  if (published) RETURN_IF_ERROR(WritePublishedRows(dir, temporary.path()));
  const std::string& rows = published ? temporary.path() : dir;
  RETURN_IF_ERROR(ReadLedger(rows, texts, dataset));
  RETURN_IF_ERROR(ReadKernels(rows, texts, dataset));
  RETURN_IF_ERROR(ReadLock(file(dataset::kLockFile), dataset));
  return dataset;
}

}  // namespace kernelmill::client
