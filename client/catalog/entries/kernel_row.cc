// Questions that pages, descriptions and the search ask about a row of kernels.jsonl.

#include "client/catalog/entries/kernel_row.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/text.h"
#include "common/words/enum_words.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::client {
namespace {

// Returns whether a file or a folder of the path belongs to tests.
bool IsTestPath(absl::string_view path) {
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "test" || part == "tests" || absl::StartsWith(part, "test_") ||
        absl::EndsWith(part, "_test.py")) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::Status CheckKernelRow(const v1::KernelRow& row) {
  // The id names a file of the site: anything else could name a file outside of it.
  if (!IsLowerHex(row.id(), 32)) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernels.jsonl: id must be 32 hexadecimal digits: ", row.id().substr(0, 40)));
  }
  if (row.source().empty() || row.last_line() < row.first_line()) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernels.jsonl: kernel ", row.id(), " must have a source and its lines"));
  }
  return absl::OkStatus();
}

int CountLines(const v1::KernelRow& row) { return row.last_line() - row.first_line() + 1; }

bool HasTag(const v1::KernelRow& row, absl::string_view tag) {
  return std::find(row.tags().begin(), row.tags().end(), tag) != row.tags().end();
}

std::vector<std::string> ListTestFiles(const v1::KernelRow& row) {
  if (!row.has_launcher() || !IsTestPath(row.launcher().path())) return {};
  return {row.launcher().path()};
}

// Each field of CheckOutcomes is one check, so that a new check needs no change here.
std::vector<std::pair<std::string, std::string>> ListChecks(const v1::KernelRow& row) {
  std::vector<std::pair<std::string, std::string>> checks;
  const google::protobuf::Descriptor& fields = *v1::KernelRow::CheckOutcomes::descriptor();
  const google::protobuf::Reflection& reflection = *row.checks().GetReflection();
  for (int i = 0; i < fields.field_count(); ++i) {
    std::string outcome = ToWord(static_cast<v1::RuleResult::Outcome>(
        reflection.GetEnumValue(row.checks(), fields.field(i))));
    if (!outcome.empty()) checks.emplace_back(fields.field(i)->name(), std::move(outcome));
  }
  std::sort(checks.begin(), checks.end());
  return checks;
}

bool FailsToCompile(const v1::KernelRow& row) {
  return row.checks().compiles() == v1::RuleResult::OUTCOME_FAIL;
}

// Arguments come first, then constants, then options of the compiler.
std::string ToText(const v1::KernelRow::Compile::Signature& signature) {
  std::vector<std::string> parts;
  const auto add = [&parts](absl::string_view name, absl::string_view sign, absl::string_view value,
                            absl::string_view rule) {
    parts.push_back(absl::StrCat(name, sign, value, " (", rule, ")"));
  };
  for (const auto& argument : signature.arguments()) {
    add(argument.name(), ": ", argument.type(), argument.rule());
  }
  for (const auto* values : {&signature.constexprs(), &signature.options()}) {
    for (const auto& value : *values) add(value.name(), "=", value.value(), value.rule());
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace kernelmill::client
