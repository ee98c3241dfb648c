#include "dataset/export/kernel_json.h"

#include <google/protobuf/repeated_field.h>

#include "dataset/output/json.h"

namespace kernelmill::dataset {
namespace {

// Of what the module is made, the kernel's own piece the last.
void WritePieces(const v1::Kernel& kernel, RowWriter& row) {
  row.StructList("pieces", kernel.pieces(), [&](const v1::ModulePiece& piece) {
    row.LineOrNull("first_line", piece.first_line());
    row.LineOrNull("last_line", piece.last_line());
    row.Text("kind", EnumWord(v1::Definition::Kind_Name(piece.kind()), "KIND_"));
    row.Boolean("generated", piece.generated());
    row.TextOrNull("used_source", piece.used_source());
    row.ExactTextOrNull("path", piece.path());
  });
}

// What the texts lost or got on the way into the module.
void WriteChanges(const v1::Kernel& kernel, RowWriter& row) {
  row.StructList("unresolved_names", kernel.unresolved_names(),
                 [&](const v1::UnresolvedName& unresolved) {
                   row.Text("name", unresolved.name());
                   row.Text("reason", unresolved.reason());
                 });
  row.StructList("dropped_decorators", kernel.dropped_decorators(),
                 [&](const v1::DroppedDecorator& dropped) {
                   row.Text("text", dropped.text());
                   row.Text("function", dropped.function());
                   row.Integer("first_line", dropped.first_line());
                   row.Integer("last_line", dropped.last_line());
                   row.Text("reason", dropped.reason());
                 });
  row.StructList("replaced_texts", kernel.replaced_texts(), [&](const v1::ReplacedText& replaced) {
    row.Text("original", replaced.original());
    row.Text("replacement", replaced.replacement());
    row.Integer("first_line", replaced.first_line());
    row.Integer("last_line", replaced.last_line());
    row.Text("reason", replaced.reason());
  });
}

void WriteParameters(const v1::Kernel& kernel, RowWriter& row) {
  row.StructList("parameters", kernel.parameters(), [&](const v1::Parameter& parameter) {
    row.TextOrNull("name", parameter.name());
    row.TextOrNull("annotation", parameter.annotation());
    row.TextOrNull("default", parameter.default_value());
    row.Text("role", EnumWord(v1::ParameterRole_Name(parameter.role()), "PARAMETER_ROLE_"));
    row.Text("rule", parameter.rule());
  });
}

void WriteNamedTexts(absl::string_view name,
                     const google::protobuf::RepeatedPtrField<v1::NamedText>& entries,
                     RowWriter& row) {
  row.StructList(name, entries, [&](const v1::NamedText& entry) {
    row.Text("name", entry.name());
    row.Text("value", entry.text());
  });
}

void WriteAutotune(const v1::Kernel& kernel, RowWriter& row) {
  const v1::Autotune& autotune = kernel.autotune();
  row.StructOrNull("autotune", kernel.has_autotune(), [&] {
    row.Text("decorator", autotune.decorator());
    row.StructList("configs", autotune.configs(), [&](const v1::Autotune::Config& config) {
      WriteNamedTexts("kwargs", config.kwargs(), row);
      WriteNamedTexts("options", config.options(), row);
    });
    row.Boolean("resolved", autotune.resolved());
    row.TextOrNull("expression", autotune.expression());
    row.TextList("key", autotune.key());
    row.TextOrNull("key_expression", autotune.key_expression());
  });
}

void WriteHeuristics(const v1::Kernel& kernel, RowWriter& row) {
  row.StructOrNull("heuristics", kernel.has_heuristics(), [&] {
    row.TextList("names", kernel.heuristics().names());
    row.TextList("expressions", kernel.heuristics().expressions());
  });
}

void WriteLauncher(const v1::Kernel& kernel, RowWriter& row) {
  const v1::Launcher& launcher = kernel.launcher();
  row.StructOrNull("launcher", kernel.has_launcher(), [&] {
    row.TextOrNull("qualname", launcher.qualname());
    row.Integer("first_line", launcher.first_line());
    row.Integer("last_line", launcher.last_line());
    row.Integer("count", launcher.count());
    row.ExactText("path", launcher.path());
    row.ExactTextOrNull("text", launcher.text());
  });
}

void WriteTags(const v1::Kernel& kernel, RowWriter& row) {
  row.TextList("tags", kernel.tags(), [](const v1::Tag& tag) { return tag.name(); });
  row.StructList("tag_rules", kernel.tags(), [&](const v1::Tag& tag) {
    row.Text("name", tag.name());
    row.Text("rule", tag.rule());
  });
}

// What TorchInductor's files do not tell is null.
void WriteInductor(const v1::Kernel& kernel, RowWriter& row) {
  const v1::InductorOrigin& origin = kernel.inductor();
  row.StructOrNull("inductor", kernel.has_inductor(), [&] {
    row.TextOrNull("model", origin.model());
    row.TextOrNull("graph", origin.graph());
    row.TextOrNull("kernel_path", origin.kernel_path());
    row.TextOrNull("source_node", origin.source_node());
    row.Boolean("in_string", kernel.form() == v1::KERNEL_FORM_STRING);
  });
}

void WriteCuda(const v1::Kernel& kernel, RowWriter& row) {
  const v1::CudaFunction& cuda = kernel.cuda();
  row.StructOrNull("cuda", kernel.has_cuda(), [&] {
    row.TextList("template_parameters", cuda.template_parameters());
    row.TextOrNull("launch_bounds", cuda.launch_bounds());
    row.StructList("launches", cuda.launches(), [&](const v1::CudaLaunch& launch) {
      row.Integer("first_line", launch.first_line());
      row.Integer("last_line", launch.last_line());
      row.TextOrNull("text", launch.text());
      row.TextOrNull("host_function", launch.host_function());
      row.LineOrNull("host_first_line", launch.host_first_line());
      row.LineOrNull("host_last_line", launch.host_last_line());
    });
  });
}

}  // namespace

void WriteTexts(const v1::Kernel& kernel, RowWriter& row) {
  row.ExactText("source", kernel.source());
  row.ExactText("module", kernel.module());
  row.ExactTextOrNull("prompt_context", kernel.prompt_context());
  WritePieces(kernel, row);
  row.Boolean("self_contained", kernel.self_contained());
  row.TextList("free_names", kernel.free_names());
  WriteChanges(kernel, row);
  row.Text("signature", kernel.signature());
  row.TextOrNull("docstring", kernel.docstring());
  row.TextList("decorators", kernel.decorators());
  row.TextList("calls", kernel.calls());
}

void WriteDerivedFields(const v1::Kernel& kernel, RowWriter& row) {
  WriteParameters(kernel, row);
  WriteAutotune(kernel, row);
  WriteHeuristics(kernel, row);
  WriteLauncher(kernel, row);
  row.TextOrNull("requires_triton", kernel.requires_triton());
  row.TextOrNull("requires_triton_path", kernel.requires_triton_path());
  WriteTags(kernel, row);
  row.TextList("features", kernel.features());
  row.Integer("lexical_tokens", kernel.tokens());
  WriteInductor(kernel, row);
  WriteCuda(kernel, row);
}

}  // namespace kernelmill::dataset
