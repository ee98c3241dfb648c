#include "client/catalog/entries/kernel_row.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "dataset/output/dataset_files.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::json;

// A member of an object; null where there is none, or no object.
const Json& At(const Json& object, const char* key) {
  static const Json* const kNull = new Json();
  if (!object.is_object()) return *kNull;
  const auto at = object.find(key);
  return at == object.end() ? *kNull : *at;
}

std::string Text(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

int64_t Number(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

int Int(const Json& object, const char* key) {
  return static_cast<int>(std::clamp<int64_t>(Number(object, key), 0, INT32_MAX));
}

double Real(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

bool Flag(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::optional<int64_t> OptionalNumber(const Json& object, const char* key) {
  const Json& value = At(object, key);
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<int64_t>();
}

// A list of objects as pairs of two of their texts.
NamedValues Pairs(const Json& list, const char* name, const char* value) {
  NamedValues pairs;
  if (!list.is_array()) return pairs;
  for (const Json& entry : list) pairs.emplace_back(Text(entry, name), Text(entry, value));
  return pairs;
}

std::vector<std::string> Texts(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const Json& list = At(object, key);
  if (!list.is_array()) return texts;
  for (const Json& entry : list) {
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  }
  return texts;
}

template <typename Value, typename Read>
std::vector<Value> List(const Json& list, const Read& read) {
  std::vector<Value> values;
  if (!list.is_array()) return values;
  for (const Json& entry : list) values.push_back(read(entry));
  return values;
}

CatalogParameter Parameter(const Json& json) {
  return {.name = Text(json, "name"),
          .annotation = Text(json, "annotation"),
          .default_value = Text(json, "default"),
          .role = Text(json, "role"),
          .rule = Text(json, "rule")};
}

std::optional<CatalogAutotune> Autotune(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return CatalogAutotune{.resolved = Flag(json, "resolved"),
                         .expression = Text(json, "expression"),
                         .configs = List<CatalogConfig>(
                             At(json, "configs"),
                             [](const Json& config) {
                               return CatalogConfig{Pairs(At(config, "kwargs"), "name", "value"),
                                                    Pairs(At(config, "options"), "name", "value")};
                             }),
                         .key = Texts(json, "key")};
}

std::optional<CatalogLauncher> Launcher(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return CatalogLauncher{.path = Text(json, "path"),
                         .qualname = Text(json, "qualname"),
                         .text = Text(json, "text"),
                         .first_line = Int(json, "first_line"),
                         .last_line = Int(json, "last_line"),
                         .count = Int(json, "count")};
}

CatalogLicense License(const Json& json) {
  return {.expression = Text(json, "expression"),
          .evidence = Text(json, "evidence"),
          .confidence = Real(json, "confidence"),
          .vendored = Text(json, "vendored"),
          .copyrights = Texts(json, "copyrights"),
          .notices = Texts(json, "notices"),
          .found = List<CatalogLicense::Found>(At(json, "found"),
                                               [](const Json& found) {
                                                 return CatalogLicense::Found{
                                                     Text(found, "expression"), Text(found, "rule"),
                                                     Text(found, "path"), Int(found, "first_line"),
                                                     Int(found, "last_line")};
                                               }),
          .adapted_from =
              List<CatalogLicense::Origin>(At(json, "adapted_from"), [](const Json& origin) {
                return CatalogLicense::Origin{Text(origin, "origin"), Text(origin, "path"),
                                              Int(origin, "line")};
              })};
}

CompileResult Result(const Json& json) {
  return {.toolchain = Text(json, "toolchain"),
          .target = Text(json, "target"),
          .status = Text(json, "status"),
          .stage = Text(json, "stage"),
          .message = Text(json, "message"),
          .missing = Text(json, "missing"),
          .line = OptionalNumber(json, "line"),
          .registers = OptionalNumber(json, "registers"),
          .shared_bytes = OptionalNumber(json, "shared_bytes"),
          .spill_bytes = OptionalNumber(json, "spill_bytes"),
          .instructions = OptionalNumber(json, "instructions")};
}

// What a kernel was compiled with, on one line: "x_ptr: *fp32 (guess:float), BLOCK=64 (launch)".
std::string SignatureText(const Json& json) {
  std::vector<std::string> parts;
  for (const auto& [list, value, sign] :
       {std::tuple("arguments", "type", ": "), std::tuple("constexprs", "value", "="),
        std::tuple("options", "value", "=")}) {
    for (const Json& entry : At(json, list)) {
      parts.push_back(absl::StrCat(Text(entry, "name"), sign, Text(entry, value), " (",
                                   Text(entry, "rule"), ")"));
    }
  }
  return absl::StrJoin(parts, ", ");
}

std::optional<CompileEvidence> Compile(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return CompileEvidence{
      .not_attempted = Text(json, "not_attempted"),
      .imports = List<CompileImport>(At(json, "imports"),
                                     [](const Json& import) {
                                       return CompileImport{
                                           Text(import, "toolchain"), Flag(import, "ok"),
                                           Text(import, "error"), OptionalNumber(import, "line")};
                                     }),
      .signatures = List<std::string>(At(json, "signatures"), SignatureText),
      .results = List<CompileResult>(At(json, "results"), Result)};
}

void ReadPlace(const Json& row, CatalogKernel& kernel) {
  kernel.id = Text(row, "id");
  kernel.repository = Text(row, "repository");
  kernel.repository_url = Text(row, "repository_url");
  kernel.url = Text(row, "url");
  kernel.commit = Text(row, "commit");
  kernel.path = Text(row, "path");
  kernel.json_pointer = Text(row, "json_pointer");
  kernel.sha256 = Text(row, "sha256");
  kernel.first_line = Int(row, "first_line");
  kernel.last_line = Int(row, "last_line");
  kernel.dsl = Text(row, "dsl");
  kernel.role = Text(row, "role");
  kernel.form = Text(row, "form");
  kernel.found_by = Text(row, "found_by");
  kernel.kind = Text(row, "kind");
  kernel.target = Text(row, "target");
  kernel.category = Text(row, "category");
  kernel.split = Text(row, "split");
  kernel.name = Text(row, "name");
  kernel.qualname = Text(row, "qualname");
  kernel.duplicates = Texts(row, "duplicates");
}

void ReadText(const Json& row, CatalogKernel& kernel) {
  kernel.source = Text(row, "source");
  kernel.module = Text(row, "module");
  kernel.signature = Text(row, "signature");
  kernel.docstring = Text(row, "docstring");
  kernel.decorators = Texts(row, "decorators");
  kernel.calls = Texts(row, "calls");
  kernel.self_contained = Flag(row, "self_contained");
  kernel.unresolved_names = Pairs(At(row, "unresolved_names"), "name", "reason");
}

void ReadDerived(const Json& row, CatalogKernel& kernel) {
  kernel.parameters = List<CatalogParameter>(At(row, "parameters"), Parameter);
  kernel.autotune = Autotune(At(row, "autotune"));
  kernel.heuristics = Texts(At(row, "heuristics"), "names");
  kernel.launcher = Launcher(At(row, "launcher"));
  kernel.requires_triton = Text(row, "requires_triton");
  kernel.requires_triton_path = Text(row, "requires_triton_path");
  kernel.tags = Texts(row, "tags");
  kernel.tag_rules = Pairs(At(row, "tag_rules"), "name", "rule");
  kernel.features = Texts(row, "features");
  kernel.tokens = Number(At(row, "tokens"), "cl100k_base");
  kernel.compile = Compile(At(row, "compile"));
}

void ReadVerdict(const Json& row, CatalogKernel& kernel) {
  kernel.license = License(At(row, "license"));
  const Json& checks = At(row, "checks");
  if (checks.is_object()) {
    for (const auto& [check, outcome] : checks.items()) {
      if (outcome.is_string()) kernel.checks.emplace_back(check, outcome.get<std::string>());
    }
  }
  kernel.check_reasons = Pairs(At(row, "check_reasons"), "check", "reason");
  const Json& quality = At(row, "quality");
  kernel.score = Real(quality, "score");
  kernel.tier = Int(quality, "tier");
  kernel.loads = Int(quality, "loads");
  kernel.masked_loads = Int(quality, "masked_loads");
  kernel.stores = Int(quality, "stores");
  kernel.masked_stores = Int(quality, "masked_stores");
  kernel.comment_ratio = Real(quality, "comment_ratio");
  kernel.generated = Text(quality, "generated");
}

// Whether a file or a folder of the path is of tests.
bool IsTestPath(absl::string_view path) {
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "test" || part == "tests" || absl::StartsWith(part, "test_") ||
        absl::EndsWith(part, "_test.py")) {
      return true;
    }
  }
  return false;
}

// An id names files of the site, so nothing else may pass for one.
bool IsId(const std::string& id) { return IsLowerHex(id, 32); }

std::string KernelsFile(const std::string& dataset) {
  return absl::StrCat(dataset, "/", dataset::kKernelsFile);
}

absl::StatusOr<std::ifstream> OpenKernels(const std::string& dataset) {
  std::ifstream file(KernelsFile(dataset), std::ios::binary);
  if (!file) {
    return absl::InvalidArgumentError(
        absl::StrCat(KernelsFile(dataset), " cannot be read; is it of an export?"));
  }
  return file;
}

}  // namespace

bool CatalogKernel::HasTag(const std::string& tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

absl::StatusOr<CatalogKernel> ParseKernelRow(absl::string_view line) {
  const Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  CatalogKernel kernel;
  ReadPlace(row, kernel);
  ReadText(row, kernel);
  if (!IsId(kernel.id) || kernel.source.empty() || kernel.last_line < kernel.first_line) {
    return absl::InvalidArgumentError("no row of a kernel");
  }
  ReadDerived(row, kernel);
  ReadVerdict(row, kernel);
  if (kernel.launcher.has_value() && IsTestPath(kernel.launcher->path)) {
    kernel.tests.push_back(kernel.launcher->path);
  }
  return kernel;
}

absl::Status ForEachKernel(
    const std::string& dataset,
    const std::function<absl::Status(const CatalogKernel&, RowOffset)>& visit) {
  ASSIGN_OR_RETURN(std::ifstream file, OpenKernels(dataset));
  std::string line;
  RowOffset offset = 0;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    const absl::StatusOr<CatalogKernel> kernel = ParseKernelRow(line);
    if (!kernel.ok()) {
      return Annotate(kernel.status(), absl::StrCat(KernelsFile(dataset), ":", number));
    }
    RETURN_IF_ERROR(visit(*kernel, offset));
    offset += static_cast<RowOffset>(line.size()) + 1;
  }
  if (file.bad()) {
    return absl::DataLossError(absl::StrCat(KernelsFile(dataset), ": cannot be read to its end"));
  }
  return absl::OkStatus();
}

absl::StatusOr<CatalogKernel> ReadKernelAt(const std::string& dataset, RowOffset offset) {
  ASSIGN_OR_RETURN(std::ifstream file, OpenKernels(dataset));
  std::string line;
  if (!file.seekg(offset) || !std::getline(file, line)) {
    return absl::DataLossError(absl::StrCat(KernelsFile(dataset), ": changed while it was read"));
  }
  return ParseKernelRow(line);
}

}  // namespace kernelmill::client
