#include "dataset/tasks/task_row.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "dataset/output/json.h"
#include "dataset/tasks/fixed_values.h"
#include "dataset/training/conversations.h"

namespace kernelmill::dataset {
namespace {

constexpr size_t kMaxSpeeds = 256;
constexpr size_t kMaxTextCases = 8;              // in the text; the row has them all
constexpr size_t kMaxTextArguments = 64;         // of a case in the text
constexpr size_t kMaxTextValue = 200;            // bytes of a value in the text
constexpr char kLibraryPath[] = "library_path";  // a kind of reference, and what it verifies by

// Evidence without names of arguments gives them in the order of the parameters.
std::string NameArgument(const CaseArgument& argument, size_t place, const v1::Kernel& kernel) {
  if (!argument.name.empty()) return argument.name;
  const auto at = static_cast<int>(place);
  return at < kernel.parameters_size() ? kernel.parameters(at).name() : absl::StrCat(place);
}

void FillCase(const ObservedCase& of, const v1::Kernel& kernel, v1::TaskRow::Case* to) {
  to->set_id(of.id);
  for (size_t i = 0; i < of.arguments.size(); ++i) {
    const CaseArgument& argument = of.arguments[i];
    v1::TaskRow::Argument* added = to->add_arguments();
    added->set_name(NameArgument(argument, i, kernel));
    added->set_kind(argument.kind);
    added->set_dtype(argument.dtype);
    added->set_shape(argument.shape);
    added->set_strides(argument.strides);
    added->set_value(argument.value);
    added->set_written(argument.written);
    added->set_in_place(argument.in_place);
    if (argument.kind == "tensor") {
      added->set_storage(static_cast<int32_t>(argument.storage));
      added->set_offset(argument.offset);
    }
  }
  to->set_grid(of.grid);
  for (const auto& [name, value] : of.options) {
    v1::KernelRow::NamedValue* added = to->add_options();
    added->set_name(name);
    added->set_value(value);
  }
  to->set_ragged(of.ragged);
  to->set_origin(of.origin);
  to->set_evidence(of.line);
}

// The smaller of two tolerances for a type counts, since it holds for both cases.
void FillTolerances(const DividedCases& divided, v1::TaskRow* row) {
  std::map<std::string, double> tolerances;
  for (const auto* cases : {&divided.shown, &divided.hidden}) {
    for (const CaseEvidence* one : *cases) {
      for (const auto& [dtype, value] : one->of.tolerances) {
        const auto [at, added] = tolerances.try_emplace(dtype, value);
        if (!added) at->second = std::min(at->second, value);
      }
    }
  }
  for (const auto& [dtype, value] : tolerances) {
    v1::TaskRow::Tolerance* added = row->add_tolerances();
    added->set_dtype(dtype);
    added->set_value(value);
  }
}

void FillAdequacy(const ObservedAdequacy& adequacy, v1::TaskRow::Adequacy* to) {
  to->set_score(adequacy.score);
  for (const auto& [kind, mutants] : adequacy.mutants) {
    v1::TaskRow::Adequacy::Mutants* added = to->add_mutants();
    added->set_kind(kind);
    added->set_total(mutants.total);
    added->set_caught(mutants.caught);
    added->set_equivalent(mutants.equivalent);
  }
}

void CountOutcome(const ObservedResult& result, v1::TaskRow::Outcomes* to) {
  switch (result.outcome) {
    case Outcome::kExact:
      to->set_exact(to->exact() + 1);
      break;
    case Outcome::kClose:
      to->set_close(to->close() + 1);
      break;
    case Outcome::kDifferent:
      to->set_different(to->different() + 1);
      break;
    case Outcome::kError:
      to->set_error(to->error() + 1);
      break;
    case Outcome::kUnknown:
      to->set_unknown(to->unknown() + 1);
      break;
  }
  to->set_absolute(std::max(to->absolute(), result.absolute));
  to->set_relative(std::max(to->relative(), result.relative));
  to->set_out_of_bounds(std::max(to->out_of_bounds(), result.out_of_bounds));
}

void FillOutcomes(const KernelEvidence& evidence, v1::TaskRow* row) {
  std::map<std::pair<std::string, std::string>, v1::TaskRow::Outcomes> outcomes;
  for (const auto& [id, one] : evidence.cases) {
    for (const ObservedResult& result : one.results) {
      CountOutcome(result, &outcomes[{result.device, result.toolchain}]);
    }
  }
  for (auto& [key, counts] : outcomes) {
    counts.set_device(key.first);
    counts.set_toolchain(key.second);
    *row->add_outcomes() = std::move(counts);
  }
}

void FillSpeed(const ObservedSpeed& speed, v1::TaskRow::Speed* to) {
  to->set_device(speed.device);
  to->set_toolchain(speed.toolchain);
  to->set_case_id(speed.case_id);
  to->set_median_us(speed.median);
  if (speed.spread.has_value()) to->set_spread_us(*speed.spread);
  if (speed.eager.has_value()) to->set_eager_us(*speed.eager);
  if (speed.compiled.has_value()) to->set_compiled_us(*speed.compiled);
  if (speed.roofline.has_value()) to->set_roofline(*speed.roofline);
  if (speed.eager_spread.has_value()) to->set_eager_spread_us(*speed.eager_spread);
  if (speed.compiled_spread.has_value()) to->set_compiled_spread_us(*speed.compiled_spread);
  to->set_hardware(speed.hardware);
  to->set_fills(speed.fills);
  to->set_sizes(speed.sizes);
  to->set_grown(speed.grown);
  to->set_reason(speed.reason);
  to->set_checked(speed.checked);
  to->set_noisy(speed.noisy);
  to->set_launches(speed.launches);
  to->set_bound(speed.bound);
  if (speed.bytes.has_value()) to->set_bytes(*speed.bytes);
  if (speed.operations.has_value()) to->set_operations(*speed.operations);
  if (speed.sm_mhz.has_value()) to->set_sm_mhz(*speed.sm_mhz);
  if (speed.memory_mhz.has_value()) to->set_memory_mhz(*speed.memory_mhz);
}

// Returns one argument as the text has it: "`x` is a float32 tensor [4, 128], strides [128, 1]".
std::string ArgumentText(const v1::TaskRow::Argument& argument) {
  std::string text = absl::StrCat("`", argument.name(), "` ");
  if (argument.kind() == "tensor") {
    absl::StrAppend(&text, "is a ", argument.dtype(), " tensor ", argument.shape(), ", strides ",
                    argument.strides(),
                    argument.in_place()  ? ", updated in place"
                    : argument.written() ? ", written"
                                         : "");
  } else if (argument.kind() == "none") {
    absl::StrAppend(&text, "is None");
  } else {
    const absl::string_view value = argument.value();
    const bool whole = value.size() <= kMaxTextValue;
    absl::StrAppend(&text, "= ", whole ? value : "(long)",
                    argument.dtype().empty() ? "" : absl::StrCat(" (", argument.dtype(), ")"));
  }
  return text;
}

// Says which tensors of a launch share memory: "`x` and `y` share memory: `x` begins at its element
// 0, `y` at 64", each counted in its own type.
std::string SharedText(const v1::TaskRow::Case& of) {
  std::map<int32_t, std::vector<const v1::TaskRow::Argument*>> by_storage;
  for (const v1::TaskRow::Argument& argument : of.arguments()) {
    const bool empty =
        absl::StrContains(argument.shape(), "[0") || absl::StrContains(argument.shape(), " 0");
    if (argument.has_storage() && !empty) by_storage[argument.storage()].push_back(&argument);
  }
  std::string text;
  for (const auto& [storage, arguments] : by_storage) {
    if (arguments.size() < 2) continue;
    std::vector<std::string> names;
    std::vector<std::string> places;
    for (const v1::TaskRow::Argument* argument : arguments) {
      names.push_back(absl::StrCat("`", argument->name(), "`"));
      places.push_back(absl::StrCat(names.back(), " begins at element ", argument->offset()));
    }
    absl::StrAppend(&text, "\n  - ", absl::StrJoin(names, ", "),
                    " share memory: ", absl::StrJoin(places, ", "));
  }
  return text;
}

// Returns one launch as an element of a Markdown list.
std::string CaseText(const v1::TaskRow::Case& of) {
  std::string text = absl::StrCat("- grid ", of.grid());
  for (const v1::KernelRow::NamedValue& option : of.options()) {
    if (option.value().size() > kMaxTextValue) continue;
    absl::StrAppend(&text, ", ", option.name(), " = ", option.value());
  }
  size_t arguments = 0;
  for (const v1::TaskRow::Argument& argument : of.arguments()) {
    if (arguments++ == kMaxTextArguments) {
      absl::StrAppend(&text, "\n  - and so on");
      break;
    }
    absl::StrAppend(&text, "\n  - ", ArgumentText(argument));
  }
  return absl::StrCat(text, SharedText(of), "\n");
}

// Says how results are compared.
std::string ToleranceText(const v1::TaskRow& row) {
  std::vector<std::string> types;
  for (const v1::TaskRow::Tolerance& tolerance : row.tolerances()) {
    if (tolerance.value() == 0) continue;
    types.push_back(absl::StrCat(tolerance.value(), " for ", tolerance.dtype()));
  }
  if (types.empty()) return "\nWhat it writes must be equal to the bit.\n";
  return absl::StrCat("\nWhat it writes may differ by this share of a value's size: ",
                      absl::StrJoin(types, ", "), ". Other types must be equal to the bit.\n");
}

std::string DevicesText(const v1::TaskRow& row) {
  std::vector<std::string> devices;
  for (const v1::TaskRow::Outcomes& outcomes : row.outcomes()) {
    if (outcomes.exact() + outcomes.close() == 0) continue;
    if (devices.empty() || devices.back() != outcomes.device())
      devices.push_back(outcomes.device());
  }
  return absl::StrCat("\nIt is run on ", absl::StrJoin(devices, ", "), ".\n");
}

// The question of conversations, and the launches that the kernel must serve.
std::string MakeText(const v1::Kernel& kernel, const v1::TaskRow& row) {
  std::string text = WriteQuestion(kernel, row.target());
  if (row.has_reference()) {
    const bool library = row.reference().kind() == kLibraryPath;
    absl::StrAppend(&text, "\nIts results are compared with those of",
                    library ? " this function, which runs other kernels of its library" : "",
                    ":\n\n", Fenced(row.reference().text(), "python"), "\n");
  }
  absl::StrAppend(&text, "\nIt must serve launches such as these:\n\n");
  // Cases that differ in their numbers alone read the same.
  std::set<std::string> told;
  for (const v1::TaskRow::Case& one : row.cases()) {
    if (told.size() == kMaxTextCases) break;
    const auto [launch, added] = told.insert(CaseText(one));
    if (added) absl::StrAppend(&text, *launch);
  }
  return absl::StrCat(text, FixedText(row), ToleranceText(row), DevicesText(row));
}

}  // namespace

bool IsTask(const KernelEvidence& evidence) {
  return std::any_of(evidence.cases.begin(), evidence.cases.end(),
                     [](const auto& one) { return one.second.Replays(); });
}

void FillEvidence(const KernelEvidence& evidence, const v1::Kernel& kernel, double min_adequacy,
                  v1::TaskRow* row) {
  const DividedCases divided = DivideCases(evidence);
  for (const CaseEvidence* one : divided.shown) FillCase(one->of, kernel, row->add_cases());
  for (const CaseEvidence* one : divided.hidden) {
    FillCase(one->of, kernel, row->add_hidden_cases());
  }
  row->set_cases_total(static_cast<int64_t>(evidence.cases.size()));
  FillFixed(row);
  FillTolerances(divided, row);
  if (evidence.adequacy.has_value()) FillAdequacy(*evidence.adequacy, row->mutable_adequacy());
  FillOutcomes(evidence, row);
  for (size_t i = 0; i < std::min(evidence.speed.size(), kMaxSpeeds); ++i) {
    FillSpeed(evidence.speed[i], row->add_speed());
  }
  const absl::string_view judgement = JudgeEvidence(evidence, row->has_reference(), min_adequacy);
  row->set_verified(judgement == kVerified);
  if (row->verified()) {
    const bool library = row->reference().kind() == kLibraryPath;
    row->set_verified_by(library ? kLibraryPath : "independent");
  } else {
    row->set_not_verified(std::string(judgement));
  }
  row->set_text(MakeText(kernel, *row));
}

}  // namespace kernelmill::dataset
