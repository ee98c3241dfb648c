#include "services/compiler/adapters/toolchain/protocol.h"

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "nlohmann/json.hpp"
#include "services/compiler/adapters/toolchain/harness_sources.h"

namespace kernelmill::compiler {
namespace {

using Json = nlohmann::json;

constexpr size_t kMessageBytes = 1000;
constexpr size_t kImportBytes = 400;

std::string Line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json TryJson(const Try& attempt) {
  Json types = Json::array(), constexprs = Json::array(), options = Json::array();
  for (const v1::ArgumentType& type : attempt.signature.arguments()) {
    types.push_back({type.name(), type.type(), type.divisible_by_16()});
  }
  for (const v1::ConstexprValue& value : attempt.signature.constexprs()) {
    constexprs.push_back({value.name(), value.value()});
  }
  for (const v1::CompileOption& option : attempt.signature.options()) {
    options.push_back({option.name(), option.value()});
  }
  return {
      {"types", types}, {"constexprs", constexprs}, {"options", options}, {"small", attempt.small}};
}

// Fields of a row: a report that lacks one, or has one of another type, is refused as a whole.
class Row {
 public:
  explicit Row(const Json& value) : value_(value) {}

  std::string Text(const char* name, size_t max_bytes) {
    const Json* field = Field(name);
    if (field == nullptr || !field->is_string()) return Bad("");
    const std::string& text = field->get_ref<const std::string&>();
    return text.size() <= max_bytes ? text : Bad("");
  }

  int32_t Number(const char* name) {
    const Json* field = Field(name);
    if (field == nullptr || !field->is_number_integer()) return Bad(0);
    const int64_t number = field->get<int64_t>();
    return number >= 0 && number <= INT32_MAX ? static_cast<int32_t>(number) : Bad(0);
  }

  bool Flag(const char* name) {
    const Json* field = Field(name);
    return field != nullptr && field->is_boolean() ? field->get<bool>() : Bad(false);
  }

  const Json& List(const char* name) {
    static const Json empty = Json::array();
    const Json* field = Field(name);
    if (field != nullptr && field->is_array()) return *field;
    ok_ = false;
    return empty;
  }

  bool ok() const { return ok_; }

 private:
  const Json* Field(const char* name) const {
    if (!value_.is_object()) return nullptr;
    const auto found = value_.find(name);
    return found == value_.end() ? nullptr : &*found;
  }

  template <typename T>
  T Bad(T value) {
    ok_ = false;
    return value;
  }

  const Json& value_;
  bool ok_ = true;
};

bool ReadForms(const Json& rows, v1::CompileResult& result) {
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != 3 || !row[0].is_string() || !row[1].is_number_integer() ||
        !row[2].is_string()) {
      return false;
    }
    v1::IrForm& form = *result.add_forms();
    form.set_form(row[0].get<std::string>());
    form.set_size_bytes(row[1].get<int64_t>());
    form.set_sha256(row[2].get<std::string>());
  }
  return true;
}

bool IsPair(const Json& row) {
  return row.is_array() && row.size() == 2 && row[0].is_string() && row[1].is_string();
}

// What only a target that compiled has.
bool ReadCompiled(const Json& value, const KernelJob& job, TargetReport& report) {
  Row row(value);
  v1::CompileResult& result = report.result;
  result.set_registers(row.Number("registers"));
  result.set_shared_bytes(row.Number("shared_bytes"));
  result.set_spill_bytes(row.Number("spill_bytes"));
  result.set_instructions(row.Number("instructions"));
  result.set_limited(row.Flag("limited"));
  if (!ReadForms(row.List("forms"), result)) return false;
  for (const Json& kept : row.List("kept")) {
    if (!IsPair(kept)) return false;
    v1::IrText& text = report.kept.emplace_back();
    text.set_toolchain(job.toolchain);
    text.set_target(report.target);
    text.set_form(kept[0].get<std::string>());
    text.set_text(kept[1].get<std::string>());
  }
  const Json& values = row.List("constexprs");
  auto& constexprs = *report.signature.mutable_constexprs();
  if (static_cast<int>(values.size()) != constexprs.size()) return false;
  for (int i = 0; i < constexprs.size(); ++i) {
    if (!IsPair(values[i]) || values[i][0] != constexprs[i].name()) return false;
    constexprs[i].set_value(values[i][1].get<std::string>());
  }
  return row.ok();
}

bool ReadTarget(const Json& value, const KernelJob& job, const std::string& target,
                TargetReport& report) {
  Row row(value);
  report.target = target;
  if (row.Text("target", target.size()) != target) return false;
  report.attempt = row.Number("attempt");
  if (!row.ok() || report.attempt >= static_cast<int>(job.tries.size())) return false;
  report.signature = job.tries[report.attempt].signature;
  report.result.set_toolchain(job.toolchain);
  report.result.set_target(target);
  const std::string status = row.Text("status", 16);
  if (status == "ok") {
    report.result.set_status(v1::COMPILE_STATUS_OK);
    return ReadCompiled(value, job, report);
  }
  report.result.set_status(v1::COMPILE_STATUS_ERROR);
  report.result.set_stage(row.Text("stage", 16));
  report.result.set_message(row.Text("message", kMessageBytes));
  report.result.set_line(row.Number("line"));
  return row.ok() && status == "error";
}

bool ReadReport(const Json& value, const KernelJob& job, KernelReport& report) {
  Row all(value);
  if (!value.is_object() || !value.contains("import")) return false;
  Row imported(value["import"]);
  report.module_import.set_toolchain(job.toolchain);
  report.module_import.set_ok(imported.Flag("ok"));
  report.module_import.set_error(imported.Text("error", kImportBytes));
  report.module_import.set_line(imported.Number("line"));
  const Json& targets = all.List("targets");
  if (!all.ok() || !imported.ok()) return false;
  if (!report.module_import.ok() || job.tries.empty()) return targets.empty();
  if (targets.size() != job.targets.size()) return false;
  report.targets.resize(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!ReadTarget(targets[i], job, job.targets[i], report.targets[i])) return false;
  }
  return true;
}

}  // namespace

std::string HarnessLine() {
  Json modules = Json::object();
  for (const HarnessSource& source : HarnessModules()) {
    modules[std::string(source.name)] = std::string(source.text);
  }
  return Line(modules);
}

std::string JobLine(const KernelJob& job) {
  Json tries = Json::array();
  for (const Try& attempt : job.tries) tries.push_back(TryJson(attempt));
  return Line({{"module", job.module},
               {"function", job.function},
               {"gluon", job.gluon},
               {"targets", job.targets},
               {"tries", tries},
               {"keep", job.keep},
               {"max_seconds", job.max_seconds}});
}

absl::StatusOr<KernelReport> ParseReport(absl::string_view line, const KernelJob& job) {
  const Json value = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
  KernelReport report;
  if (!value.is_discarded() && ReadReport(value, job, report)) return report;
  if (value.is_object() && value.contains("machine") && value["machine"].is_string()) {
    const std::string what = absl::StrCat("could not be compiled on this machine: ",
                                          value["machine"].get<std::string>());
    if (value.value("killed", Json()) == Json(true)) return absl::AbortedError(what);
    return absl::UnavailableError(what);
  }
  return absl::InternalError("the compiler's process gave no report of its job");
}

}  // namespace kernelmill::compiler
