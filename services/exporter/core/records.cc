#include "services/exporter/core/records.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::exporter {
namespace {

// DSL_TRITON is "triton".
std::string Word(absl::string_view name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

std::string DslWord(v1::Dsl dsl) { return Word(v1::Dsl_Name(dsl), "DSL_"); }

std::string RoleWord(v1::KernelRole role) {
  return Word(v1::KernelRole_Name(role), "KERNEL_ROLE_");
}

Json Texts(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(Text(text));
  return list;
}

Json ChecksJson(const v1::Checks& checks) {
  Json json = Json::object();
  const auto& type = *v1::Checks::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    json[type.field(i)->name()] = checks.GetReflection()->GetBool(checks, type.field(i));
  }
  return json;
}

Json DuplicatesJson(const DatasetIndex& index, uint32_t number) {
  std::vector<std::string> ids;
  const auto found = index.duplicates.find(number);
  if (found != index.duplicates.end()) {
    for (const uint32_t duplicate : found->second) ids.push_back(index.kernels[duplicate].id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Where TorchInductor got the kernel from; what its files do not tell is empty.
Json InductorJson(const v1::Kernel& kernel) {
  const v1::InductorOrigin& origin = kernel.inductor();
  return {{"model", Text(origin.model())},
          {"graph", Text(origin.graph())},
          {"kernel_path", Text(origin.kernel_path())},
          {"source_node", Text(origin.source_node())},
          {"in_string", kernel.string_begin() > 0}};
}

// What every record of a kernel begins with: which it is and where it stands.
Json Provenance(const DatasetIndex& index, uint32_t number) {
  const KernelEntry& kernel = index.kernels[number];
  const SourceEntry& source = index.SourceOf(number);
  Json json = Json::object();
  json["id"] = kernel.id;
  json["repository"] = Text(source.repository);
  json["commit"] = source.commit;
  SetText(json, "path", index.FileOf(number).path);
  json["first_line"] = kernel.first_line;
  json["last_line"] = kernel.last_line;
  json["sha256"] = kernel.sha256;
  json["dsl"] = DslWord(kernel.dsl);
  json["role"] = RoleWord(kernel.role);
  return json;
}

}  // namespace

Json KernelRecord(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                  const v1::Verdict& verdict) {
  const SourceEntry& source = index.SourceOf(number);
  Json json = Provenance(index, number);
  json["name"] = Text(kernel.name());
  json["qualname"] = Text(kernel.qualname());
  SetText(json, "source", kernel.source());
  json["module"] = Text(kernel.module());
  json["signature"] = Text(kernel.signature());
  json["docstring"] = Text(kernel.docstring());
  json["decorators"] = Texts(kernel.decorators());
  json["calls"] = Texts(kernel.calls());
  json["free_names"] = Texts(kernel.free_names());
  json["category"] = Text(source.category);
  json["tier"] = source.tier;
  json["weight"] = Number(source.weight);
  json["license"] = {{"expression", verdict.license().expression()},
                     {"evidence", verdict.license().evidence()},
                     {"confidence", Number(verdict.license().confidence())}};
  json["checks"] = ChecksJson(verdict.checks());
  json["tags"] = Texts(kernel.tags());
  json["tokens"] = kernel.tokens();
  json["cluster"] = kernel.id();
  json["duplicates"] = DuplicatesJson(index, number);
  if (kernel.has_inductor()) json["inductor"] = InductorJson(kernel);
  json["contamination"] = nullptr;  // a kernel that a holdout matches is not kept
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
  return json;
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
