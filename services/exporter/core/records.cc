#include "services/exporter/core/records.h"

#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "services/exporter/core/verdict_json.h"

namespace kernelmill::exporter {
namespace {

Json DuplicatesJson(const DatasetIndex& index, uint32_t number) {
  std::vector<std::string> ids;
  const auto found = index.duplicates.find(number);
  if (found != index.duplicates.end()) {
    for (const uint32_t duplicate : found->second) ids.push_back(index.kernels[duplicate].id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

// The holdouts' kernels that a candidate matches, the gravest first: which and where each is, the
// rule, the score and whether the policy's limit is reached.
Json ContaminationJson(const DatasetIndex& index, uint32_t number) {
  Json list = Json::array();
  for (const v1::Contamination& match : index.DecisionOn(number).contamination()) {
    list.push_back({{"holdout", KernelLocation(index, match.holdout())},
                    {"rule", match.rule()},
                    {"score", Number(match.score())},
                    {"decisive", match.decisive()}});
  }
  return list;
}

// What a person should look at before the kernel is used, with the number that says so.
Json ReviewJson(const v1::Decision& decision) {
  Json json = Json::object();
  if (decision.word_overlap() > 0) json["word_overlap"] = Number(decision.word_overlap());
  return json;
}

// Where TorchInductor got the kernel from; what its files do not tell is empty.
Json InductorJson(const v1::Kernel& kernel) {
  const v1::InductorOrigin& origin = kernel.inductor();
  return {{"model", Text(origin.model())},
          {"graph", Text(origin.graph())},
          {"kernel_path", Text(origin.kernel_path())},
          {"source_node", Text(origin.source_node())},
          {"in_string", kernel.form() == v1::KERNEL_FORM_STRING}};
}

// Of what the module is made: [path, first line, last line] of each piece in order, the kernel's
// own the last; null for a line that was generated.
Json PiecesJson(const v1::Kernel& kernel) {
  Json list = Json::array();
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    if (piece.generated()) {
      list.push_back(nullptr);
    } else {
      list.push_back({Text(piece.path()), piece.first_line(), piece.last_line()});
    }
  }
  return list;
}

Json ParametersJson(const v1::Kernel& kernel) {
  Json list = Json::array();
  for (const v1::Parameter& parameter : kernel.parameters()) {
    list.push_back({{"name", Text(parameter.name())},
                    {"annotation", Text(parameter.annotation())},
                    {"default", Text(parameter.default_value())},
                    {"role", EnumWord(v1::ParameterRole_Name(parameter.role()), "PARAMETER_ROLE_")},
                    {"rule", parameter.rule()}});
  }
  return list;
}

Json NamedTexts(const google::protobuf::RepeatedPtrField<v1::NamedText>& entries) {
  Json json = Json::object();
  for (const v1::NamedText& entry : entries) json[ToUtf8(entry.name())] = Text(entry.text());
  return json;
}

// Each configuration's options stand beside its kwargs, as they do in Config(...).
Json AutotuneJson(const v1::Autotune& autotune) {
  Json configs = Json::array();
  for (const v1::Autotune::Config& config : autotune.configs()) {
    Json json = NamedTexts(config.options());
    json["kwargs"] = NamedTexts(config.kwargs());
    configs.push_back(std::move(json));
  }
  return {{"decorator", Text(autotune.decorator())},
          {"configs", std::move(configs)},
          {"resolved", autotune.resolved()},
          {"expression", Text(autotune.expression())},
          {"key", TextList(autotune.key())},
          {"key_expression", Text(autotune.key_expression())}};
}

Json HeuristicsJson(const v1::Heuristics& heuristics) {
  return {{"names", TextList(heuristics.names())},
          {"expressions", TextList(heuristics.expressions())}};
}

Json LauncherJson(const v1::Launcher& launcher) {
  Json json = {{"qualname", Text(launcher.qualname())},
               {"first_line", launcher.first_line()},
               {"last_line", launcher.last_line()},
               {"count", launcher.count()}};
  SetText(json, "path", launcher.path());
  SetText(json, "text", launcher.text());
  return json;
}

void AddTags(const v1::Kernel& kernel, Json& json) {
  json["tags"] = Json::array();
  json["tag_rules"] = Json::object();
  for (const v1::Tag& tag : kernel.tags()) {
    json["tags"].push_back(tag.name());
    json["tag_rules"][tag.name()] = tag.rule();
  }
}

// The identity of its row in fim_sft.csv; null if it has none.
Json FimSha1(const v1::Kernel& kernel) {
  const dataset::FimPair pair = dataset::MakeFimPair(kernel);
  if (!HasExample(kernel, pair)) return nullptr;
  return absl::BytesToHexString(dataset::FimPairSha1(pair));
}

// What a CUDA function has beside a Python one.
Json CudaJson(const v1::Kernel& kernel) {
  const v1::CudaFunction& cuda = kernel.cuda();
  Json launches = Json::array();
  for (const v1::CudaLaunch& launch : cuda.launches()) {
    launches.push_back({{"first_line", launch.first_line()},
                        {"last_line", launch.last_line()},
                        {"text", Text(launch.text())},
                        {"host_function", Text(launch.host_function())},
                        {"host_first_line", launch.host_first_line()},
                        {"host_last_line", launch.host_last_line()}});
  }
  return {{"template_parameters", TextList(cuda.template_parameters())},
          {"launch_bounds", Text(cuda.launch_bounds())},
          {"launches", launches}};
}

}  // namespace

std::string DslWord(v1::Dsl dsl) { return EnumWord(v1::Dsl_Name(dsl), "DSL_"); }

std::string RoleWord(v1::KernelRole role) {
  return EnumWord(v1::KernelRole_Name(role), "KERNEL_ROLE_");
}

Json KernelLocation(const DatasetIndex& index, uint32_t number) {
  const KernelEntry& kernel = index.kernels[number];
  const SourceEntry& source = index.SourceOf(number);
  Json json = {{"id", kernel.id},
               {"repository", Text(source.repository)},
               {"commit", source.commit},
               {"first_line", kernel.first_line},
               {"last_line", kernel.last_line}};
  SetText(json, "path", index.FileOf(number).path);
  if (kernel.json_pointer.has_value()) SetText(json, "json_pointer", *kernel.json_pointer);
  return json;
}

Json Provenance(const DatasetIndex& index, uint32_t number) {
  const KernelEntry& kernel = index.kernels[number];
  Json json = KernelLocation(index, number);
  json["sha256"] = kernel.sha256;
  json["dsl"] = DslWord(kernel.dsl);
  json["role"] = RoleWord(kernel.role);
  json["form"] = EnumWord(v1::KernelForm_Name(kernel.form), "KERNEL_FORM_");
  return json;
}

Json KernelRecord(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                  const v1::Verdict& verdict) {
  const SourceEntry& source = index.SourceOf(number);
  Json json = Provenance(index, number);
  json["name"] = Text(kernel.name());
  json["qualname"] = Text(kernel.qualname());
  json["found_by"] = Text(kernel.found_by());
  json["applied_by"] = Text(kernel.applied_by());
  SetText(json, "source", kernel.source());
  json["module"] = Text(kernel.module());
  json["pieces"] = PiecesJson(kernel);
  json["self_contained"] = kernel.self_contained();
  json["signature"] = Text(kernel.signature());
  json["docstring"] = Text(kernel.docstring());
  json["decorators"] = TextList(kernel.decorators());
  json["calls"] = TextList(kernel.calls());
  json["free_names"] = TextList(kernel.free_names());
  json["category"] = Text(source.category);
  json["tier"] = source.tier;
  json["weight"] = Number(source.weight);
  json["license"] = LicenseJson(verdict.license());
  json["checks"] = ChecksJson(verdict.checks());
  json["rules"] = RulesJson(verdict);
  json["quality"] = QualityJson(verdict.quality(), index.manifest.quality());
  AddTags(kernel, json);
  json["parameters"] = ParametersJson(kernel);
  json["autotune"] = kernel.has_autotune() ? AutotuneJson(kernel.autotune()) : Json();
  json["heuristics"] = kernel.has_heuristics() ? HeuristicsJson(kernel.heuristics()) : Json();
  json["features"] = TextList(kernel.features());
  json["launcher"] = kernel.has_launcher() ? LauncherJson(kernel.launcher()) : Json();
  json["requires_triton"] = kernel.requires_triton();
  json["requires_triton_path"] = Text(kernel.requires_triton_path());
  json["fim_sha1"] = FimSha1(kernel);
  json["tokens"] = TokensJson(verdict.source_tokens());
  json["module_tokens"] = TokensJson(verdict.module_tokens());
  json["lexical_tokens"] = kernel.tokens();
  json["cluster"] = kernel.id();
  json["duplicates"] = DuplicatesJson(index, number);
  if (kernel.has_inductor()) json["inductor"] = InductorJson(kernel);
  if (kernel.has_cuda()) json["cuda"] = CudaJson(kernel);
  json["contamination"] = ContaminationJson(index, number);
  json["review"] = ReviewJson(index.DecisionOn(number));
  json["stages"] = StagesJson(index.manifest);
  return json;
}

Json LedgerRecord(const DatasetIndex& index, uint32_t number) {
  const v1::Decision& decision = index.DecisionOn(number);
  Json json = Provenance(index, number);
  json["fate"] = std::string(dataset::FateName(decision.fate()));
  json["reason"] = decision.reason();
  if (decision.fate() == v1::FATE_DUPLICATE || decision.fate() == v1::FATE_CONTAMINATED) {
    json["of"] = index.kernels[decision.leader()].id;
    json["similarity"] = Number(decision.similarity());
  }
  if (!decision.contamination().empty()) json["contamination"] = ContaminationJson(index, number);
  return json;
}

Json NoticeRecord(const SourceEntry& source, const v1::SourceFile& file) {
  Json json = {{"repository", Text(source.repository)},
               {"commit", source.commit},
               {"sha256", Sha256Hex(file.content())}};
  SetText(json, "path", file.path());
  SetText(json, "text", file.content());
  return json;
}

bool HasExample(const v1::Kernel& kernel, const dataset::FimPair& pair) {
  return kernel.dsl() != v1::DSL_CUDA && kernel.role() != v1::KERNEL_ROLE_UNSPECIFIED &&
         !pair.completion.empty();
}

Json FunctionRecord(const v1::Kernel& kernel) {
  const std::string& text = kernel.module().empty() ? kernel.source() : kernel.module();
  const bool ended = !text.empty() && text.back() == '\n';
  return {{"input", Text(absl::StrCat("```python\n", text, ended ? "" : "\n", "```"))}};
}

Json StagesJson(const v1::DatasetManifest& manifest) {
  Json json = Json::object();
  for (const v1::StageVersion& stage : manifest.stages()) json[stage.stage()] = stage.version();
  return json;
}

}  // namespace kernelmill::exporter
