#include "services/exporter/core/kernel_json.h"

#include <google/protobuf/repeated_field.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kernelmill::exporter {
namespace {

// Of what the module is made, the kernel's own piece the last.
void SetPieces(const v1::Kernel& kernel, Json& row) {
  row["pieces"] = Json::array();
  for (int i = 0; i < kernel.pieces_size(); ++i) {
    const v1::ModulePiece& piece = kernel.pieces(i);
    row["pieces"].push_back({{"first_line", LineOrNull(piece.first_line())},
                             {"last_line", LineOrNull(piece.last_line())},
                             {"kind", EnumWord(v1::Definition::Kind_Name(piece.kind()), "KIND_")},
                             {"generated", piece.generated()},
                             {"used_source", TextOrNull(piece.used_source())}});
    SetTextOrNull(row, absl::StrCat("/pieces/", i, "/path"), piece.path());
  }
}

Json UnresolvedNamesJson(const v1::Kernel& kernel) {
  Json list = Json::array();
  for (const v1::UnresolvedName& unresolved : kernel.unresolved_names()) {
    list.push_back({{"name", Text(unresolved.name())}, {"reason", unresolved.reason()}});
  }
  return list;
}

Json DroppedDecoratorsJson(const v1::Kernel& kernel) {
  Json list = Json::array();
  for (const v1::DroppedDecorator& dropped : kernel.dropped_decorators()) {
    list.push_back({{"text", Text(dropped.text())},
                    {"function", Text(dropped.function())},
                    {"first_line", dropped.first_line()},
                    {"last_line", dropped.last_line()},
                    {"reason", dropped.reason()}});
  }
  return list;
}

Json ReplacedTextsJson(const v1::Kernel& kernel) {
  Json list = Json::array();
  for (const v1::ReplacedText& replaced : kernel.replaced_texts()) {
    list.push_back({{"original", Text(replaced.original())},
                    {"replacement", Text(replaced.replacement())},
                    {"first_line", replaced.first_line()},
                    {"last_line", replaced.last_line()},
                    {"reason", replaced.reason()}});
  }
  return list;
}

Json ParametersJson(const v1::Kernel& kernel) {
  Json list = Json::array();
  for (const v1::Parameter& parameter : kernel.parameters()) {
    list.push_back({{"name", TextOrNull(parameter.name())},
                    {"annotation", TextOrNull(parameter.annotation())},
                    {"default", TextOrNull(parameter.default_value())},
                    {"role", EnumWord(v1::ParameterRole_Name(parameter.role()), "PARAMETER_ROLE_")},
                    {"rule", parameter.rule()}});
  }
  return list;
}

Json NamedTexts(const google::protobuf::RepeatedPtrField<v1::NamedText>& entries) {
  Json list = Json::array();
  for (const v1::NamedText& entry : entries) {
    list.push_back({{"name", Text(entry.name())}, {"value", Text(entry.text())}});
  }
  return list;
}

Json AutotuneJson(const v1::Kernel& kernel) {
  if (!kernel.has_autotune()) return nullptr;
  const v1::Autotune& autotune = kernel.autotune();
  Json configs = Json::array();
  for (const v1::Autotune::Config& config : autotune.configs()) {
    configs.push_back(
        {{"kwargs", NamedTexts(config.kwargs())}, {"options", NamedTexts(config.options())}});
  }
  return {{"decorator", Text(autotune.decorator())},
          {"configs", std::move(configs)},
          {"resolved", autotune.resolved()},
          {"expression", TextOrNull(autotune.expression())},
          {"key", TextList(autotune.key())},
          {"key_expression", TextOrNull(autotune.key_expression())}};
}

Json HeuristicsJson(const v1::Kernel& kernel) {
  if (!kernel.has_heuristics()) return nullptr;
  return {{"names", TextList(kernel.heuristics().names())},
          {"expressions", TextList(kernel.heuristics().expressions())}};
}

void SetLauncher(const v1::Kernel& kernel, Json& row) {
  row["launcher"] = nullptr;
  if (!kernel.has_launcher()) return;
  const v1::Launcher& launcher = kernel.launcher();
  row["launcher"] = {{"qualname", TextOrNull(launcher.qualname())},
                     {"first_line", launcher.first_line()},
                     {"last_line", launcher.last_line()},
                     {"count", launcher.count()}};
  SetText(row, "/launcher/path", launcher.path());
  SetTextOrNull(row, "/launcher/text", launcher.text());
}

void SetTags(const v1::Kernel& kernel, Json& row) {
  row["tags"] = Json::array();
  row["tag_rules"] = Json::array();
  for (const v1::Tag& tag : kernel.tags()) {
    row["tags"].push_back(tag.name());
    row["tag_rules"].push_back({{"name", tag.name()}, {"rule", tag.rule()}});
  }
}

// What TorchInductor's files do not tell is null.
Json InductorJson(const v1::Kernel& kernel) {
  if (!kernel.has_inductor()) return nullptr;
  const v1::InductorOrigin& origin = kernel.inductor();
  return {{"model", TextOrNull(origin.model())},
          {"graph", TextOrNull(origin.graph())},
          {"kernel_path", TextOrNull(origin.kernel_path())},
          {"source_node", TextOrNull(origin.source_node())},
          {"in_string", kernel.form() == v1::KERNEL_FORM_STRING}};
}

Json CudaJson(const v1::Kernel& kernel) {
  if (!kernel.has_cuda()) return nullptr;
  const v1::CudaFunction& cuda = kernel.cuda();
  Json launches = Json::array();
  for (const v1::CudaLaunch& launch : cuda.launches()) {
    launches.push_back({{"first_line", launch.first_line()},
                        {"last_line", launch.last_line()},
                        {"text", TextOrNull(launch.text())},
                        {"host_function", TextOrNull(launch.host_function())},
                        {"host_first_line", LineOrNull(launch.host_first_line())},
                        {"host_last_line", LineOrNull(launch.host_last_line())}});
  }
  return {{"template_parameters", TextList(cuda.template_parameters())},
          {"launch_bounds", TextOrNull(cuda.launch_bounds())},
          {"launches", std::move(launches)}};
}

}  // namespace

void SetTexts(const v1::Kernel& kernel, Json& row) {
  SetText(row, "/source", kernel.source());
  SetText(row, "/module", kernel.module());
  SetTextOrNull(row, "/prompt_context", kernel.prompt_context());
  SetPieces(kernel, row);
  row["self_contained"] = kernel.self_contained();
  row["free_names"] = TextList(kernel.free_names());
  row["unresolved_names"] = UnresolvedNamesJson(kernel);
  row["dropped_decorators"] = DroppedDecoratorsJson(kernel);
  row["replaced_texts"] = ReplacedTextsJson(kernel);
  row["signature"] = Text(kernel.signature());
  row["docstring"] = TextOrNull(kernel.docstring());
  row["decorators"] = TextList(kernel.decorators());
  row["calls"] = TextList(kernel.calls());
}

void SetDerivedFields(const v1::Kernel& kernel, Json& row) {
  row["parameters"] = ParametersJson(kernel);
  row["autotune"] = AutotuneJson(kernel);
  row["heuristics"] = HeuristicsJson(kernel);
  SetLauncher(kernel, row);
  row["requires_triton"] = TextOrNull(kernel.requires_triton());
  row["requires_triton_path"] = TextOrNull(kernel.requires_triton_path());
  SetTags(kernel, row);
  row["features"] = TextList(kernel.features());
  row["lexical_tokens"] = kernel.tokens();
  row["inductor"] = InductorJson(kernel);
  row["cuda"] = CudaJson(kernel);
}

}  // namespace kernelmill::exporter
