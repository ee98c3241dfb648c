#include "dataset/export/compile_json.h"

#include <algorithm>

#include "dataset/output/json.h"

namespace kernelmill::dataset {
namespace {

// Constexprs and options alike.
template <typename Values>
void WriteValues(absl::string_view name, const Values& values, RowWriter& row) {
  row.StructList(name, values, [&](const auto& value) {
    row.Text("name", value.name());
    row.Text("value", value.value());
    row.Text("rule", value.rule());
  });
}

void WriteSignature(const v1::KernelSignature& signature, RowWriter& row) {
  row.Integer("attempt", signature.attempt());
  row.StructList("arguments", signature.arguments(), [&](const v1::ArgumentType& argument) {
    row.Text("name", argument.name());
    row.Text("type", argument.type());
    row.Text("rule", argument.rule());
    row.Boolean("divisible_by_16", argument.divisible_by_16());
  });
  WriteValues("constexprs", signature.constexprs(), row);
  WriteValues("options", signature.options(), row);
}

// Whether its signature has a place: not where the module could not be loaded or no signature was
// told, since nothing was compiled by one then.
bool HasSignature(const v1::CompileResult& result, const v1::CompiledKernel& compiled) {
  const bool loaded = std::any_of(compiled.imports().begin(), compiled.imports().end(),
                                  [&](const v1::ModuleImport& import) {
                                    return import.ok() && import.toolchain() == result.toolchain();
                                  });
  return loaded && result.signature() >= 0 && result.signature() < compiled.signatures_size();
}

void WriteResult(const v1::CompileResult& result, const v1::CompiledKernel& compiled,
                 RowWriter& row) {
  const bool ok = result.status() == v1::COMPILE_STATUS_OK;
  row.Text("toolchain", result.toolchain());
  row.Text("target", result.target());
  row.Text("status", StatusWord(result.status()));
  row.IntegerOrNull("signature", HasSignature(result, compiled), result.signature());
  row.TextOrNull("stage", result.stage());
  row.TextOrNull("message", result.message());
  row.LineOrNull("line", result.line());
  row.TextOrNull("missing", result.missing());
  row.IntegerOrNull("registers", ok, result.registers());
  row.IntegerOrNull("shared_bytes", ok, result.shared_bytes());
  row.IntegerOrNull("spill_bytes", ok, result.spill_bytes());
  row.IntegerOrNull("instructions", ok, result.instructions());
  row.Boolean("limited", result.limited());
  row.StructList("forms", result.forms(), [&](const v1::IrForm& form) {
    row.Text("form", form.form());
    row.Integer("size_bytes", form.size_bytes());
    row.Text("sha256", form.sha256());
  });
}

}  // namespace

std::string StatusWord(v1::CompileStatus status) {
  return EnumWord(v1::CompileStatus_Name(status), "COMPILE_STATUS_");
}

void WriteCompile(const v1::Verdict& verdict, RowWriter& row) {
  const v1::CompiledKernel& compiled = verdict.compiled();
  row.StructOrNull("compile", verdict.has_compiled(), [&] {
    row.TextOrNull("not_attempted", compiled.not_attempted());
    row.StructList("imports", compiled.imports(), [&](const v1::ModuleImport& import) {
      row.Text("toolchain", import.toolchain());
      row.Boolean("ok", import.ok());
      row.TextOrNull("error", import.error());
      row.LineOrNull("line", import.line());
    });
    row.StructList("signatures", compiled.signatures(),
                   [&](const v1::KernelSignature& signature) { WriteSignature(signature, row); });
    row.StructList("results", compiled.results(),
                   [&](const v1::CompileResult& result) { WriteResult(result, compiled, row); });
  });
}

}  // namespace kernelmill::dataset
