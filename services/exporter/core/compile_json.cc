#include "services/exporter/core/compile_json.h"

#include <algorithm>
#include <utility>

namespace kernelmill::exporter {
namespace {

Json ImportsJson(const v1::CompiledKernel& compiled) {
  Json list = Json::array();
  for (const v1::ModuleImport& import : compiled.imports()) {
    list.push_back({{"toolchain", import.toolchain()},
                    {"ok", import.ok()},
                    {"error", TextOrNull(import.error())},
                    {"line", LineOrNull(import.line())}});
  }
  return list;
}

// Constexprs and options alike.
template <typename Values>
Json ValuesJson(const Values& values) {
  Json list = Json::array();
  for (const auto& value : values) {
    list.push_back(
        {{"name", Text(value.name())}, {"value", Text(value.value())}, {"rule", value.rule()}});
  }
  return list;
}

Json SignatureJson(const v1::KernelSignature& signature) {
  Json arguments = Json::array();
  for (const v1::ArgumentType& argument : signature.arguments()) {
    arguments.push_back({{"name", Text(argument.name())},
                         {"type", argument.type()},
                         {"rule", argument.rule()},
                         {"divisible_by_16", argument.divisible_by_16()}});
  }
  return {{"attempt", signature.attempt()},
          {"arguments", std::move(arguments)},
          {"constexprs", ValuesJson(signature.constexprs())},
          {"options", ValuesJson(signature.options())}};
}

// The place of its signature; null where the module could not be loaded or no signature was told,
// since nothing was compiled by one then.
Json SignaturePlace(const v1::CompileResult& result, const v1::CompiledKernel& compiled) {
  const bool loaded = std::any_of(compiled.imports().begin(), compiled.imports().end(),
                                  [&](const v1::ModuleImport& import) {
                                    return import.ok() && import.toolchain() == result.toolchain();
                                  });
  const bool known = result.signature() >= 0 && result.signature() < compiled.signatures_size();
  return loaded && known ? Json(result.signature()) : Json();
}

Json ResultJson(const v1::CompileResult& result, const v1::CompiledKernel& compiled) {
  const bool ok = result.status() == v1::COMPILE_STATUS_OK;
  const auto of_ok = [&](int measure) { return ok ? Json(measure) : Json(); };
  Json forms = Json::array();
  for (const v1::IrForm& form : result.forms()) {
    forms.push_back(
        {{"form", form.form()}, {"size_bytes", form.size_bytes()}, {"sha256", form.sha256()}});
  }
  return {{"toolchain", result.toolchain()},
          {"target", result.target()},
          {"status", StatusWord(result.status())},
          {"signature", SignaturePlace(result, compiled)},
          {"stage", TextOrNull(result.stage())},
          {"message", TextOrNull(result.message())},
          {"line", LineOrNull(result.line())},
          {"missing", TextOrNull(result.missing())},
          {"registers", of_ok(result.registers())},
          {"shared_bytes", of_ok(result.shared_bytes())},
          {"spill_bytes", of_ok(result.spill_bytes())},
          {"instructions", of_ok(result.instructions())},
          {"forms", std::move(forms)}};
}

}  // namespace

std::string StatusWord(v1::CompileStatus status) {
  return EnumWord(v1::CompileStatus_Name(status), "COMPILE_STATUS_");
}

Json CompileJson(const v1::Verdict& verdict) {
  if (!verdict.has_compiled()) return nullptr;
  const v1::CompiledKernel& compiled = verdict.compiled();
  Json signatures = Json::array();
  for (const v1::KernelSignature& signature : compiled.signatures()) {
    signatures.push_back(SignatureJson(signature));
  }
  Json results = Json::array();
  for (const v1::CompileResult& result : compiled.results()) {
    results.push_back(ResultJson(result, compiled));
  }
  return {{"not_attempted", TextOrNull(compiled.not_attempted())},
          {"imports", ImportsJson(compiled)},
          {"signatures", std::move(signatures)},
          {"results", std::move(results)}};
}

}  // namespace kernelmill::exporter
