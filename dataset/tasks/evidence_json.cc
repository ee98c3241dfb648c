#include "dataset/tasks/evidence_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::dataset {
namespace {

using Kind = EvidenceValue::Kind;

constexpr size_t kMaxLevels = 16;
constexpr size_t kMaxMembers = 256;  // an object's; each is compared with those before it

// Builds the value from the parser's events. A member returns false to end the parse.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Add({}); }
  bool boolean(bool value) override {
    EvidenceValue added;
    added.kind = Kind::kBoolean;
    added.text = value ? "true" : "false";
    added.number = value ? 1 : 0;
    return Add(std::move(added));
  }
  bool number_integer(number_integer_t value) override { return AddInteger(value); }
  bool number_unsigned(number_unsigned_t value) override { return AddInteger(value); }
  // Integers of more than 64 bits come here as well.
  bool number_float(number_float_t value, const string_t& text) override {
    EvidenceValue added;
    added.kind = Kind::kNumber;
    added.text = text;
    added.number = value;
    return Add(std::move(added));
  }
  bool string(string_t& value) override {
    EvidenceValue added;
    added.kind = Kind::kString;
    added.text = std::move(value);
    return Add(std::move(added));
  }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(size_t) override { return Open(Kind::kObject); }
  bool key(string_t& name) override {
    EvidenceValue& object = *open_.back();
    if (object.Find(name) != nullptr) return Stop("names a member twice");
    if (object.members.size() == kMaxMembers) {
      return Stop(absl::StrCat("has an object of more than ", kMaxMembers, " members"));
    }
    object.members.push_back({std::move(name), EvidenceValue()});
    return true;
  }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(Kind::kList); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Stop(absl::StrCat("is no JSON at byte ", position));
  }

  absl::StatusOr<EvidenceValue> Take(bool parsed) {
    if (parsed) return std::move(root_);
    return absl::InvalidArgumentError(problem_.empty() ? "is no JSON" : problem_);
  }

 private:
  template <typename Integer>
  bool AddInteger(Integer value) {
    EvidenceValue added;
    added.kind = Kind::kInteger;
    added.text = absl::StrCat(value);
    added.number = static_cast<double>(value);
    return Add(std::move(added));
  }

  bool Add(EvidenceValue value) {
    Place() = std::move(value);
    return true;
  }

  // Pointers to open values stay valid: a list grows only while its last element is closed.
  bool Open(Kind kind) {
    if (open_.size() == kMaxLevels)
      return Stop(absl::StrCat("has more than ", kMaxLevels, " levels"));
    EvidenceValue& place = Place();
    place.kind = kind;
    open_.push_back(&place);
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  // Returns the place of the next value.
  EvidenceValue& Place() {
    if (open_.empty()) return root_;
    EvidenceValue& in = *open_.back();
    return in.kind == Kind::kObject ? in.members.back().value : in.elements.emplace_back();
  }

  bool Stop(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  EvidenceValue root_;
  std::vector<EvidenceValue*> open_;
  std::string problem_;
};

// As Python's json escapes with ensure_ascii=False.
void AppendString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out->push_back('\\');
        out->push_back(c);
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      case '\f':
        out->append("\\f");
        break;
      case '\b':
        out->append("\\b");
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) {
          out->push_back(c);
        } else {
          char escape[8];
          std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
          out->append(escape);
        }
    }
  }
  out->push_back('"');
}

void Append(const EvidenceValue& value, const std::vector<absl::string_view>& skipped,
            std::string* out) {
  switch (value.kind) {
    case Kind::kNull:
      out->append("null");
      return;
    case Kind::kBoolean:
    case Kind::kInteger:
    case Kind::kNumber:
      out->append(value.text);
      return;
    case Kind::kString:
      AppendString(value.text, out);
      return;
    case Kind::kList:
      out->push_back('[');
      for (size_t i = 0; i < value.elements.size(); ++i) {
        if (i > 0) out->push_back(',');
        Append(value.elements[i], {}, out);
      }
      out->push_back(']');
      return;
    case Kind::kObject:
      break;
  }
  // UTF-8 sorts as the code points do, by which Python sorts.
  std::vector<const EvidenceValue::Member*> members;
  for (const EvidenceValue::Member& member : value.members) {
    if (std::find(skipped.begin(), skipped.end(), member.name) == skipped.end()) {
      members.push_back(&member);
    }
  }
  std::sort(members.begin(), members.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  out->push_back('{');
  for (size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendString(members[i]->name, out);
    out->push_back(':');
    Append(members[i]->value, {}, out);
  }
  out->push_back('}');
}

}  // namespace

const EvidenceValue* EvidenceValue::Find(absl::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

absl::StatusOr<EvidenceValue> ParseEvidence(absl::string_view line) {
  if (line.size() > kMaxEvidenceLine) {
    return absl::InvalidArgumentError(
        absl::StrCat("must have at most ", kMaxEvidenceLine, " bytes, not ", line.size()));
  }
  Builder builder;
  const bool parsed = nlohmann::json::sax_parse(line.begin(), line.end(), &builder);
  return builder.Take(parsed);
}

std::string Canonical(const EvidenceValue& value, const std::vector<absl::string_view>& skipped) {
  std::string text;
  Append(value, skipped, &text);
  return text;
}

}  // namespace kernelmill::dataset
