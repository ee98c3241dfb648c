#ifndef KERNELMILL_DATASET_TASKS_EVIDENCE_JSON_H_
#define KERNELMILL_DATASET_TASKS_EVIDENCE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::dataset {

// A value of JSON that keeps numbers as they are written, since an id is a hash of the text.
struct EvidenceValue {
  enum class Kind : uint8_t { kNull, kBoolean, kInteger, kNumber, kString, kList, kObject };
  struct Member;

  Kind kind = Kind::kNull;
  std::string text;                     // a string's content; a number or boolean as written
  double number = 0;                    // a number's value, or 1 for true
  std::vector<EvidenceValue> elements;  // a list's
  std::vector<Member> members;          // an object's, in the file's order

  bool IsInteger() const { return kind == Kind::kInteger; }
  bool IsNumber() const { return kind == Kind::kInteger || kind == Kind::kNumber; }
  bool IsString() const { return kind == Kind::kString; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsObject() const { return kind == Kind::kObject; }
  // Returns the member of an object; null if it has none of that name.
  const EvidenceValue* Find(absl::string_view name) const;
};

struct EvidenceValue::Member {
  std::string name;
  EvidenceValue value;
};

// The longest line of evidence that is read, in bytes.
inline constexpr size_t kMaxEvidenceLine = size_t{1} << 20;

// Parses one line. INVALID_ARGUMENT: it is longer than kMaxEvidenceLine, is no JSON (as NaN and
// Infinity) or not UTF-8, names a member twice, or has too many levels.
absl::StatusOr<EvidenceValue> ParseEvidence(absl::string_view line);

// Returns the value as Python's json.dumps(sort_keys=True, separators=(",", ":"),
// ensure_ascii=False) writes it, with its numbers as they were written. The members `skipped` of
// the value itself are left out.
std::string Canonical(const EvidenceValue& value,
                      const std::vector<absl::string_view>& skipped = {});

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TASKS_EVIDENCE_JSON_H_
