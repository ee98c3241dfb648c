#include "dataset/tasks/observation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/unsafe_text.h"
#include "dataset/tasks/evidence_json.h"

// Reads the rows that kernelmill.execution writes (docs/execution.md). Each reader names the fields
// that it takes; what is left of a row is unknown and is said. A wrong field is an error with its
// name, and no field is guessed.
namespace kernelmill::dataset {
namespace {

using Kind = EvidenceValue::Kind;

constexpr size_t kMaxName = 256;
constexpr size_t kMaxText = 4096;
constexpr size_t kMaxEntries = 1024;  // arguments, storages, options of a case
constexpr size_t kMaxRank = 32;
constexpr double kMaxNumber = std::numeric_limits<double>::max();  // JSON has no infinity
constexpr double kMaxCount = 9007199254740992.0;  // 2^53: a JSON number has no more whole ones

absl::Status Wrong(absl::string_view field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

bool IsSafe(absl::string_view text) {
  while (!text.empty()) {
    const Utf8Character character = DecodeUtf8(text);
    if (character.size == 0 || IsUnsafeCodePoint(character.code)) return false;
    text.remove_prefix(character.size);
  }
  return true;
}

absl::Status CheckSafe(absl::string_view field, absl::string_view text, size_t most) {
  if (text.size() > most) return Wrong(field, absl::StrCat("must have at most ", most, " bytes"));
  if (!IsSafe(text)) return Wrong(field, "has a character that hides or reorders text");
  return absl::OkStatus();
}

// Takes the fields of a row one by one.
class Fields {
 public:
  explicit Fields(const EvidenceValue& row, std::string where = "")
      : row_(row), where_(std::move(where)) {}

  std::string Name(absl::string_view field) const { return absl::StrCat(where_, field); }

  // Returns null if the row does not have the field.
  const EvidenceValue* Take(absl::string_view field) {
    taken_.insert(std::string(field));
    return row_.Find(field);
  }

  absl::StatusOr<const EvidenceValue*> Need(absl::string_view field, Kind kind) {
    const EvidenceValue* value = Take(field);
    if (value == nullptr) return Wrong(Name(field), "is missing");
    if (value->kind != kind) return Wrong(Name(field), KindProblem(kind));
    return value;
  }

  absl::StatusOr<std::string> NeedText(absl::string_view field, size_t most = kMaxName) {
    ASSIGN_OR_RETURN(const EvidenceValue* value, Need(field, Kind::kString));
    RETURN_IF_ERROR(CheckSafe(Name(field), value->text, most));
    if (value->text.empty()) return Wrong(Name(field), "must not be empty");
    return value->text;
  }

  // Empty if the row does not have the field, or null for it.
  absl::StatusOr<std::string> FindText(absl::string_view field, size_t most = kMaxName) {
    const EvidenceValue* value = Take(field);
    if (value == nullptr || value->kind == Kind::kNull) return std::string();
    if (!value->IsString()) return Wrong(Name(field), KindProblem(Kind::kString));
    RETURN_IF_ERROR(CheckSafe(Name(field), value->text, most));
    return value->text;
  }

  // False if the row does not have the field.
  absl::StatusOr<bool> FindFlag(absl::string_view field) {
    const EvidenceValue* value = Take(field);
    if (value == nullptr) return false;
    if (value->kind != Kind::kBoolean) return Wrong(Name(field), "must be true or false");
    return value->number != 0;
  }

  absl::StatusOr<std::string> NeedSha256(absl::string_view field) {
    ASSIGN_OR_RETURN(std::string text, NeedText(field));
    if (!IsLowerHex(text, 64)) {
      return Wrong(Name(field), "must be 64 lowercase hexadecimal digits");
    }
    return text;
  }

  // Returns nothing if the row does not have the field, or null for it.
  absl::StatusOr<std::optional<double>> FindNumber(absl::string_view field,
                                                   double most = kMaxNumber) {
    const EvidenceValue* value = Take(field);
    if (value == nullptr || value->kind == Kind::kNull) return std::nullopt;
    if (!value->IsNumber() || !(value->number >= 0 && value->number <= most)) {
      return Wrong(Name(field), most == kMaxNumber
                                    ? "must be a number from 0"
                                    : absl::StrCat("must be a number from 0 to ", most));
    }
    return value->number;
  }

  absl::StatusOr<double> NeedNumber(absl::string_view field, double most = kMaxNumber) {
    ASSIGN_OR_RETURN(const std::optional<double> number, FindNumber(field, most));
    if (!number.has_value()) return Wrong(Name(field), "is missing");
    return *number;
  }

  // Returns nothing if the row does not have the field, or null for it.
  absl::StatusOr<std::optional<int64_t>> FindWhole(absl::string_view field) {
    ASSIGN_OR_RETURN(const std::optional<double> number, FindNumber(field, kMaxCount));
    if (!number.has_value()) return std::nullopt;
    if (!Take(field)->IsInteger()) return Wrong(Name(field), "must be a whole number");
    return static_cast<int64_t>(*number);
  }

  // 0 if the row does not have the field.
  absl::StatusOr<int64_t> FindCount(absl::string_view field) {
    ASSIGN_OR_RETURN(const std::optional<int64_t> number, FindWhole(field));
    return number.value_or(0);
  }

  absl::StatusOr<ObservedKernel> NeedKernel() {
    ObservedKernel kernel;
    ASSIGN_OR_RETURN(kernel.module_sha256, NeedSha256("module_sha256"));
    ASSIGN_OR_RETURN(kernel.qualname, NeedText("kernel"));
    return kernel;
  }

  // Adds the fields that were not taken, in a form that may be shown.
  void AddUnknown(std::vector<std::string>* unknown) const {
    for (const EvidenceValue::Member& member : row_.members) {
      if (taken_.contains(member.name)) continue;
      const bool safe = CheckSafe("", member.name, kMaxName).ok();
      unknown->push_back(Name(safe ? member.name : "(unsafe name)"));
    }
  }

 private:
  static absl::string_view KindProblem(Kind kind) {
    switch (kind) {
      case Kind::kString:
        return "must be a text";
      case Kind::kList:
        return "must be a list";
      case Kind::kObject:
        return "must be an object";
      default:
        return "has the wrong type";
    }
  }

  const EvidenceValue& row_;
  const std::string where_;
  std::set<std::string> taken_;
};

// Returns a list of whole numbers as "[4, 128]".
absl::StatusOr<std::string> ReadSizes(const std::string& field, const EvidenceValue& list,
                                      bool negative) {
  if (list.elements.size() > kMaxRank) {
    return Wrong(field, absl::StrCat("must have at most ", kMaxRank, " numbers"));
  }
  std::vector<std::string> numbers;
  for (const EvidenceValue& element : list.elements) {
    const double least = negative ? -kMaxCount : 0;
    if (!element.IsInteger() || element.number < least || element.number > kMaxCount) {
      return Wrong(field, negative ? "must be whole numbers" : "must be whole numbers from 0");
    }
    numbers.push_back(element.text);
  }
  return absl::StrCat("[", absl::StrJoin(numbers, ", "), "]");
}

// Returns a value of an argument or an option as text: of a text its content, else its JSON.
absl::StatusOr<std::string> ReadValue(const std::string& field, const EvidenceValue& value) {
  std::string text = value.IsString() ? value.text : Canonical(value);
  RETURN_IF_ERROR(CheckSafe(field, text, kMaxText));
  return text;
}

// Returns packages with their versions as text, by name.
absl::StatusOr<std::string> ReadToolchain(Fields& row) {
  const EvidenceValue* toolchain = row.Take("toolchain");
  if (toolchain == nullptr) return std::string();
  if (toolchain->IsString()) return ReadValue(row.Name("toolchain"), *toolchain);
  if (!toolchain->IsObject()) return Wrong(row.Name("toolchain"), "must be an object");
  std::map<std::string, std::string> versions;
  for (const auto& [name, value] : toolchain->members) {
    RETURN_IF_ERROR(CheckSafe("toolchain", name, kMaxName));
    ASSIGN_OR_RETURN(versions[name], ReadValue("toolchain", value));
  }
  if (versions.size() > kMaxRank) return Wrong("toolchain", "has too many packages");
  return absl::StrJoin(versions, ", ", absl::PairFormatter(" "));
}

// The storages of a launch, by their places.
struct Storages {
  size_t count = 0;
  std::set<size_t> written;  // the launch changes them
  std::set<size_t> unread;   // they begin as poison
};

absl::Status ReadTensor(const std::string& where, const EvidenceValue& value,
                        const Storages& storages, CaseArgument* argument) {
  if (!value.IsObject()) return Wrong(where, "must be an object");
  Fields tensor(value, where + ".");
  ASSIGN_OR_RETURN(argument->dtype, tensor.NeedText("dtype"));
  ASSIGN_OR_RETURN(const EvidenceValue* shape, tensor.Need("shape", Kind::kList));
  ASSIGN_OR_RETURN(const EvidenceValue* strides, tensor.Need("strides", Kind::kList));
  ASSIGN_OR_RETURN(argument->shape, ReadSizes(where + ".shape", *shape, /*negative=*/false));
  ASSIGN_OR_RETURN(argument->strides, ReadSizes(where + ".strides", *strides, /*negative=*/true));
  if (shape->elements.size() != strides->elements.size()) {
    return Wrong(where + ".strides", "must have as many numbers as shape");
  }
  ASSIGN_OR_RETURN(const int64_t storage, tensor.FindCount("storage"));
  const auto place = static_cast<size_t>(storage);
  if (place >= storages.count) {
    return Wrong(where + ".storage", absl::StrCat("must be one of ", storages.count, " storages"));
  }
  argument->written = storages.written.contains(place);
  argument->in_place = argument->written && !storages.unread.contains(place);
  argument->storage = storage;
  ASSIGN_OR_RETURN(argument->offset, tensor.FindCount("offset"));
  return absl::OkStatus();
}

// The member that says what an argument is. The first one counts.
constexpr std::array<absl::string_view, 6> kArgumentKinds = {"tensor", "scalar",     "constexpr",
                                                             "tuple",  "descriptor", "none"};

absl::StatusOr<CaseArgument> ReadArgument(const std::string& where, const EvidenceValue& value,
                                          const Storages& storages) {
  if (!value.IsObject()) return Wrong(where, "must be an object");
  Fields fields(value, where + ".");
  CaseArgument argument;
  if (fields.Take("name") != nullptr) {
    ASSIGN_OR_RETURN(argument.name, fields.NeedText("name"));
  }
  argument.kind = value.members.size() == (argument.name.empty() ? 0 : 1) ? "none" : "other";
  const EvidenceValue* given = nullptr;
  for (const absl::string_view kind : kArgumentKinds) {
    given = value.Find(kind);
    if (given == nullptr) continue;
    argument.kind = std::string(kind);
    break;
  }
  const std::string inner = where + "." + argument.kind;
  if (argument.kind == "tensor") {
    RETURN_IF_ERROR(ReadTensor(inner, *given, storages, &argument));
  } else if (argument.kind == "scalar" && given->IsObject()) {
    Fields scalar(*given, inner + ".");
    ASSIGN_OR_RETURN(argument.dtype, scalar.NeedText("type"));
    const EvidenceValue* number = scalar.Take("value");
    if (number == nullptr) return Wrong(inner + ".value", "is missing");
    ASSIGN_OR_RETURN(argument.value, ReadValue(inner + ".value", *number));
  } else if (given != nullptr && argument.kind != "none") {
    ASSIGN_OR_RETURN(argument.value, ReadValue(inner, *given));
  }
  return argument;
}

// Returns the places of the storages that the launch changes.
absl::StatusOr<std::set<size_t>> ReadOutputs(const EvidenceValue& outputs, size_t storages) {
  std::set<size_t> written;
  if (outputs.elements.empty()) return Wrong("outputs", "must not be empty");
  for (const EvidenceValue& output : outputs.elements) {
    if (!output.IsObject()) return Wrong("outputs", "must be objects");
    Fields fields(output, "outputs.");
    RETURN_IF_ERROR(fields.NeedSha256("sha256").status());
    ASSIGN_OR_RETURN(const int64_t storage, fields.FindCount("storage"));
    if (static_cast<size_t>(storage) >= storages) {
      return Wrong("outputs.storage", absl::StrCat("must be one of ", storages, " storages"));
    }
    written.insert(static_cast<size_t>(storage));
  }
  return written;
}

// Returns the places of the storages that begin as poison.
std::set<size_t> FindPoison(const EvidenceValue& storages) {
  std::set<size_t> found;
  for (size_t i = 0; i < storages.elements.size(); ++i) {
    const EvidenceValue* recipe = storages.elements[i].Find("recipe");
    const EvidenceValue* kind = recipe == nullptr ? nullptr : recipe->Find("kind");
    if (kind != nullptr && kind->IsString() && kind->text == "poison") found.insert(i);
  }
  return found;
}

// Returns members by name, each a text.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadOptions(Fields& row) {
  std::vector<std::pair<std::string, std::string>> options;
  const EvidenceValue* given = row.Take("options");
  if (given == nullptr || given->kind == Kind::kNull) return options;
  if (!given->IsObject()) return Wrong("options", "must be an object");
  for (const auto& [name, value] : given->members) {
    RETURN_IF_ERROR(CheckSafe("options", name, kMaxName));
    ASSIGN_OR_RETURN(std::string text, ReadValue("options." + name, value));
    options.emplace_back(name, std::move(text));
  }
  std::sort(options.begin(), options.end());
  return options;
}

absl::StatusOr<std::map<std::string, double>> ReadTolerances(Fields& row) {
  std::map<std::string, double> tolerances;
  const EvidenceValue* given = row.Take("tolerance");
  if (given == nullptr || given->kind == Kind::kNull) return tolerances;
  if (!given->IsObject()) return Wrong("tolerance", "must be an object");
  Fields types(*given, "tolerance.");
  for (const auto& [dtype, value] : given->members) {
    RETURN_IF_ERROR(CheckSafe("tolerance", dtype, kMaxName));
    ASSIGN_OR_RETURN(tolerances[dtype], types.NeedNumber(dtype));
  }
  return tolerances;
}

absl::StatusOr<std::string> ReadOrigin(Fields& row) {
  const EvidenceValue* origin = row.Take("origin");
  if (origin == nullptr || origin->kind == Kind::kNull) return std::string();
  if (!origin->IsObject()) return Wrong("origin", "must be an object");
  for (const char* word : {"recorded", "made"}) {
    if (origin->Find(word) != nullptr) return std::string(word);
  }
  return Wrong("origin", "must be recorded or made");
}

absl::StatusOr<Observation> ReadCase(const EvidenceValue& value, Fields& row) {
  ObservedCase found;
  ASSIGN_OR_RETURN(found.id, row.NeedSha256("id"));
  ASSIGN_OR_RETURN(found.kernel, row.NeedKernel());
  const std::string id = Sha256Hex(Canonical(value, {"id", "origin"}));
  if (id != found.id) return Wrong("id", absl::StrCat("is not that of its content, ", id));
  ASSIGN_OR_RETURN(const EvidenceValue* storages, row.Need("storages", Kind::kList));
  ASSIGN_OR_RETURN(const EvidenceValue* outputs, row.Need("outputs", Kind::kList));
  ASSIGN_OR_RETURN(const EvidenceValue* arguments, row.Need("arguments", Kind::kList));
  for (const EvidenceValue* list : {storages, outputs, arguments}) {
    if (list->elements.size() > kMaxEntries) {
      return Wrong("case", absl::StrCat("must have at most ", kMaxEntries,
                                        " arguments, storages and outputs"));
    }
  }
  Storages places = {storages->elements.size(), {}, FindPoison(*storages)};
  ASSIGN_OR_RETURN(places.written, ReadOutputs(*outputs, places.count));
  for (size_t i = 0; i < arguments->elements.size(); ++i) {
    const std::string where = absl::StrCat("arguments[", i, "]");
    ASSIGN_OR_RETURN(CaseArgument argument, ReadArgument(where, arguments->elements[i], places));
    found.arguments.push_back(std::move(argument));
  }
  ASSIGN_OR_RETURN(const EvidenceValue* grid, row.Need("grid", Kind::kList));
  if (grid->elements.size() != 3) return Wrong("grid", "must be three numbers");
  ASSIGN_OR_RETURN(found.grid, ReadSizes("grid", *grid, /*negative=*/false));
  row.Take("environment");  // a part of the content; those who run it read it
  ASSIGN_OR_RETURN(found.options, ReadOptions(row));
  ASSIGN_OR_RETURN(found.tolerances, ReadTolerances(row));
  ASSIGN_OR_RETURN(found.ragged, row.FindFlag("ragged"));
  ASSIGN_OR_RETURN(found.origin, ReadOrigin(row));
  found.line = EscapeUnsafeJson(Canonical(value));
  return found;
}

absl::StatusOr<Outcome> ReadOutcome(Fields& row) {
  constexpr std::array<absl::string_view, 5> kWords = {"exact", "close", "different", "error",
                                                       "unknown"};
  ASSIGN_OR_RETURN(const std::string word, row.NeedText("outcome"));
  const auto at = std::find(kWords.begin(), kWords.end(), word);
  if (at == kWords.end()) {
    return Wrong("outcome", "must be exact, close, different, error or unknown");
  }
  return static_cast<Outcome>(at - kWords.begin());
}

absl::StatusOr<Observation> ReadResult(Fields& row) {
  ObservedResult found;
  ASSIGN_OR_RETURN(found.case_id, row.NeedSha256("case"));
  ASSIGN_OR_RETURN(found.module_sha256, row.NeedSha256("module_sha256"));
  ASSIGN_OR_RETURN(found.device, row.NeedText("device"));
  ASSIGN_OR_RETURN(found.toolchain, ReadToolchain(row));
  ASSIGN_OR_RETURN(found.outcome, ReadOutcome(row));
  ASSIGN_OR_RETURN(const std::optional<double> absolute, row.FindNumber("absolute"));
  ASSIGN_OR_RETURN(const std::optional<double> relative, row.FindNumber("relative"));
  ASSIGN_OR_RETURN(found.out_of_bounds, row.FindCount("out_of_bounds"));
  found.absolute = absolute.value_or(0);
  found.relative = relative.value_or(0);
  for (const char* other : {"kernel", "environment", "message", "share"}) row.Take(other);
  return found;
}

// Returns nothing if the kernel has no mutants, so that nothing was measured: its score is null.
absl::StatusOr<std::optional<Observation>> ReadAdequacy(Fields& row) {
  ObservedAdequacy found;
  ASSIGN_OR_RETURN(found.kernel, row.NeedKernel());
  ASSIGN_OR_RETURN(const std::optional<double> score, row.FindNumber("score", 1));
  const EvidenceValue* mutants = row.Take("mutants");
  for (const char* other : {"cases", "device", "toolchain", "environment", "recorded_score",
                            "missed", "options", "seen_by_interpreter"}) {
    row.Take(other);
  }
  if (!score.has_value()) return std::nullopt;
  found.score = *score;
  if (mutants == nullptr) return found;
  if (!mutants->IsObject()) return Wrong("mutants", "must be an object");
  for (const auto& [kind, value] : mutants->members) {
    RETURN_IF_ERROR(CheckSafe("mutants", kind, kMaxName));
    if (!value.IsObject()) return Wrong("mutants." + kind, "must be an object");
    Fields counts(value, "mutants." + kind + ".");
    ObservedAdequacy::Mutants& of_kind = found.mutants[kind];
    ASSIGN_OR_RETURN(of_kind.total, counts.FindCount("total"));
    ASSIGN_OR_RETURN(of_kind.caught, counts.FindCount("caught"));
    ASSIGN_OR_RETURN(of_kind.equivalent, counts.FindCount("equivalent"));
    if (of_kind.caught + of_kind.equivalent > of_kind.total) {
      return Wrong("mutants." + kind, "must not have more caught and equivalent ones than all");
    }
  }
  return found;
}

absl::Status ReadClocks(Fields& row, ObservedSpeed* speed) {
  const EvidenceValue* clocks = row.Take("clocks");
  if (clocks == nullptr || !clocks->IsObject()) return absl::OkStatus();
  Fields fields(*clocks, "clocks.");
  ASSIGN_OR_RETURN(speed->sm_mhz, fields.FindWhole("sm_mhz"));
  ASSIGN_OR_RETURN(speed->memory_mhz, fields.FindWhole("memory_mhz"));
  return absl::OkStatus();
}

absl::StatusOr<Observation> ReadSpeed(Fields& row) {
  ObservedSpeed found;
  ASSIGN_OR_RETURN(found.kernel, row.NeedKernel());
  ASSIGN_OR_RETURN(found.device, row.NeedText("device"));
  ASSIGN_OR_RETURN(found.toolchain, ReadToolchain(row));
  ASSIGN_OR_RETURN(found.median, row.NeedNumber("median_us"));
  ASSIGN_OR_RETURN(found.spread, row.FindNumber("spread_us"));
  ASSIGN_OR_RETURN(found.eager, row.FindNumber("eager_us"));
  ASSIGN_OR_RETURN(found.compiled, row.FindNumber("compiled_us"));
  ASSIGN_OR_RETURN(found.eager_spread, row.FindNumber("eager_spread_us"));
  ASSIGN_OR_RETURN(found.compiled_spread, row.FindNumber("compiled_spread_us"));
  ASSIGN_OR_RETURN(found.roofline, row.FindNumber("roofline"));
  if (const EvidenceValue* of = row.Take("case"); of != nullptr && of->kind != Kind::kNull) {
    ASSIGN_OR_RETURN(found.case_id, row.NeedSha256("case"));
  }
  ASSIGN_OR_RETURN(found.hardware, row.FindText("hardware"));
  ASSIGN_OR_RETURN(found.sizes, row.FindText("sizes", kMaxText));
  ASSIGN_OR_RETURN(found.reason, row.FindText("reason"));
  ASSIGN_OR_RETURN(found.fills, row.FindFlag("fills"));
  ASSIGN_OR_RETURN(found.checked, row.FindFlag("checked"));
  ASSIGN_OR_RETURN(found.noisy, row.FindFlag("noisy"));
  ASSIGN_OR_RETURN(found.launches, row.FindCount("launches"));
  ASSIGN_OR_RETURN(found.bytes, row.FindWhole("bytes"));
  ASSIGN_OR_RETURN(found.operations, row.FindWhole("operations"));
  ASSIGN_OR_RETURN(found.bound, row.FindText("bound"));
  if (!found.bound.empty() && found.bound != "memory" && found.bound != "compute") {
    return Wrong("bound", "must be memory or compute");
  }
  RETURN_IF_ERROR(ReadClocks(row, &found));
  if (const EvidenceValue* grown = row.Take("grown");
      grown != nullptr && !grown->elements.empty()) {
    found.grown = Canonical(*grown);
    RETURN_IF_ERROR(CheckSafe("grown", found.grown, kMaxText));
  }
  for (const char* other : {"environment", "flushed"}) row.Take(other);
  return found;
}

}  // namespace

absl::StatusOr<EvidenceLine> ReadEvidenceLine(absl::string_view line) {
  ASSIGN_OR_RETURN(const EvidenceValue value, ParseEvidence(line));
  if (!value.IsObject()) return absl::InvalidArgumentError("must be an object");
  Fields row(value);
  EvidenceLine read;
  ASSIGN_OR_RETURN(read.type, row.NeedText("type", 64));
  read.known = true;
  if (read.type == "case") {
    ASSIGN_OR_RETURN(read.observation, ReadCase(value, row));
  } else if (read.type == "result") {
    ASSIGN_OR_RETURN(read.observation, ReadResult(row));
  } else if (read.type == "adequacy") {
    ASSIGN_OR_RETURN(read.observation, ReadAdequacy(row));
  } else if (read.type == "speed") {
    ASSIGN_OR_RETURN(read.observation, ReadSpeed(row));
  } else {
    // Recordings say what the tests of a repository did as a whole, and changes are of a kernel's
    // history: no task needs them.
    read.known = read.type == "recording" || read.type == "change";
    return read;
  }
  row.AddUnknown(&read.unknown_fields);
  return read;
}

}  // namespace kernelmill::dataset
