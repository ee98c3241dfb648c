#include "dataset/tasks/fixed_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace kernelmill::dataset {
namespace {

constexpr char kGrid[] = "grid";
constexpr char kTensor[] = "tensor";
constexpr char kConstexpr[] = "constexpr";
constexpr size_t kMaxValueBytes = 200;  // bytes of a value in the text
constexpr size_t kMaxOptions = 8;       // values of an option
constexpr double kLeastSize = 8;        // a number from here on is a size and no option

// The values of a parameter, or of an axis of the grid, in all cases.
struct Parameter {
  std::string name;
  std::set<std::string> kinds;
  std::set<std::string> values;
  size_t cases = 0;
};

// The parameters in the order in which cases have them.
class Parameters {
 public:
  void Add(const std::string& name, const std::string& kind, const std::string& value) {
    const auto [at, added] = places_.try_emplace(name, list_.size());
    if (added) list_.push_back({name, {}, {}, 0});
    Parameter& parameter = list_[at->second];
    parameter.kinds.insert(kind);
    parameter.values.insert(value);
    ++parameter.cases;
  }

  const std::vector<Parameter>& list() const { return list_; }

 private:
  std::map<std::string, size_t> places_;
  std::vector<Parameter> list_;
};

// Returns the part of an argument that may be fixed. Shapes and strides are left out: kernels see
// them only in parameters.
std::string GetFixable(const v1::TaskRow::Argument& argument) {
  if (argument.kind() == kTensor) return argument.dtype();
  return argument.kind() == "none" ? "None" : argument.value();
}

void AddCase(const v1::TaskRow::Case& one, Parameters* parameters, Parameters* axes) {
  for (const v1::TaskRow::Argument& argument : one.arguments()) {
    parameters->Add(argument.name(), argument.kind(), GetFixable(argument));
  }
  const absl::string_view grid = absl::StripSuffix(absl::StripPrefix(one.grid(), "["), "]");
  size_t axis = 0;
  for (const absl::string_view length : absl::StrSplit(grid, ", ")) {
    axes->Add(absl::StrCat(kGrid, "[", axis++, "]"), kGrid, std::string(length));
  }
}

// Returns whether a constexpr's value looks like an option: a text, or a number too small for a
// size. Which sizes a hidden case has is not told.
bool IsOption(const std::string& value) {
  double number = 0;
  if (absl::SimpleAtod(value, &number)) return std::abs(number) < kLeastSize;
  return absl::StartsWith(value, "'") || absl::StartsWith(value, "\"") || value == "None";
}

bool IsFixed(const Parameter& parameter, size_t cases) {
  if (parameter.cases != cases || parameter.kinds.size() != 1) return false;
  if (parameter.values.size() == 1) return true;
  return *parameter.kinds.begin() == kConstexpr && parameter.values.size() <= kMaxOptions &&
         std::all_of(parameter.values.begin(), parameter.values.end(), IsOption);
}

// "`x`", "`x` and `y`", "`x`, `y` and `z`".
std::string JoinWords(const std::vector<std::string>& words, absl::string_view last) {
  if (words.size() == 1) return words[0];
  const std::vector<std::string> first(words.begin(), words.end() - 1);
  return absl::StrCat(absl::StrJoin(first, ", "), " ", last, " ", words.back());
}

std::string ValuesText(const v1::TaskRow::Fixed& fixed) {
  std::vector<std::string> values;
  for (const std::string& value : fixed.values()) {
    values.push_back(value.size() <= kMaxValueBytes ? value : "(long)");
  }
  return JoinWords(values, "or");
}

}  // namespace

void FillFixed(v1::TaskRow* row) {
  row->clear_fixed();
  Parameters parameters, axes;
  for (const v1::TaskRow::Case& one : row->cases()) AddCase(one, &parameters, &axes);
  for (const v1::TaskRow::Case& one : row->hidden_cases()) AddCase(one, &parameters, &axes);
  const auto cases = static_cast<size_t>(row->cases_size() + row->hidden_cases_size());
  for (const Parameters* all : {&parameters, &axes}) {
    for (const Parameter& parameter : all->list()) {
      if (!IsFixed(parameter, cases)) continue;
      v1::TaskRow::Fixed* fixed = row->add_fixed();
      fixed->set_name(parameter.name);
      fixed->set_kind(*parameter.kinds.begin());
      for (const std::string& value : parameter.values) fixed->add_values(value);
    }
  }
}

std::string FixedText(const v1::TaskRow& row) {
  if (row.fixed().empty()) return "";
  std::string text = "\nIn all launches, also those that are not shown:\n\n";
  std::map<std::string, std::vector<std::string>> tensors;  // names by element type
  for (const v1::TaskRow::Fixed& fixed : row.fixed()) {
    if (fixed.kind() == kTensor) {
      tensors[fixed.values(0)].push_back(absl::StrCat("`", fixed.name(), "`"));
    } else if (fixed.kind() == kGrid) {
      const std::string axis = fixed.name().substr(sizeof(kGrid), 1);
      absl::StrAppend(&text, "- the grid is always ", ValuesText(fixed), " along axis ", axis,
                      "\n");
    } else {
      absl::StrAppend(&text, "- `", fixed.name(), "` is always ", ValuesText(fixed), "\n");
    }
  }
  for (const auto& [dtype, names] : tensors) {
    absl::StrAppend(&text, "- ", JoinWords(names, "and"), names.size() == 1 ? " is" : " are",
                    " always ", dtype, "\n");
  }
  return text;
}

}  // namespace kernelmill::dataset
