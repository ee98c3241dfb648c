// A file of decisions is appended to by `kernelmill review`, one JSON object a line, and is kept in
// version control beside the job. So lines are written in a fixed order of keys and in ASCII, and a
// changed decision is a new line instead of an edit. Reading ignores what it does not know;
// CheckReview then refuses an incomplete decision.
#include "common/job/review_list.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/field_check.h"

namespace kernelmill::job {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kMaxReviewListBytes = 64 << 20;

// Returns whether the text has the form YYYY-MM-DD; the calendar is not checked.
bool IsDate(absl::string_view text) {
  if (text.size() != 10) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool bar = i == 4 || i == 7;
    if (bar ? text[i] != '-' : !absl::ascii_isdigit(text[i])) return false;
  }
  return true;
}

// Returns the text at `key`; empty if there is no such text.
std::string TextAt(const OrderedJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void ReadReference(const OrderedJson& object, const char* key, v1::KernelReference* reference) {
  const OrderedJson& kernel = object[key];
  reference->set_id(TextAt(kernel, "id"));
  reference->set_repository(TextAt(kernel, "repository"));
  reference->set_path(TextAt(kernel, "path"));
  reference->set_name(TextAt(kernel, "name"));
  const auto line = kernel.find("line");
  if (line != kernel.end() && line->is_number_integer()) reference->set_line(line->get<int32_t>());
}

// An unknown word for the decision leaves it unspecified, which CheckReview refuses.
v1::Review ReadReview(const OrderedJson& object) {
  v1::Review review;
  const auto has = [&](const char* key) { return object.contains(key) && object[key].is_object(); };
  if (has("kernel")) ReadReference(object, "kernel", review.mutable_kernel());
  if (has("cuda")) ReadReference(object, "cuda", review.mutable_cuda());
  if (has("triton")) ReadReference(object, "triton", review.mutable_triton());
  const std::string decision = TextAt(object, "decision");
  if (decision == "accept") review.set_decision(v1::REVIEW_DECISION_ACCEPT);
  if (decision == "reject") review.set_decision(v1::REVIEW_DECISION_REJECT);
  review.set_flag(TextAt(object, "flag"));
  review.set_who(TextAt(object, "who"));
  review.set_why(TextAt(object, "why"));
  review.set_date(TextAt(object, "date"));
  return review;
}

OrderedJson ReferenceJson(const v1::KernelReference& reference) {
  OrderedJson json = OrderedJson::object();
  if (!reference.id().empty()) json["id"] = reference.id();
  if (!reference.repository().empty()) json["repository"] = reference.repository();
  if (!reference.path().empty()) json["path"] = reference.path();
  if (!reference.name().empty()) json["name"] = reference.name();
  if (reference.line() > 0) json["line"] = reference.line();
  return json;
}

}  // namespace

// A kernel is named by its id, by the hash of its source, or by its place. A path alone would name
// all kernels of a file.
absl::Status CheckReference(const std::string& where, const v1::KernelReference& kernel) {
  RETURN_IF_ERROR(CheckText(where + ".repository", kernel.repository()));
  RETURN_IF_ERROR(CheckText(where + ".path", kernel.path()));
  RETURN_IF_ERROR(CheckText(where + ".name", kernel.name()));
  absl::string_view id = kernel.id();
  const size_t digits = absl::ConsumePrefix(&id, kSha256Prefix) ? 64 : 32;
  if (!kernel.id().empty() && !IsLowerHex(id, digits)) {
    return FieldError(where + ".id",
                      absl::StrCat("must be ", digits, " lowercase hexadecimal digits"));
  }
  if (kernel.line() < 0) return FieldError(where + ".line", "must not be negative");
  const bool placed = !kernel.path().empty() && (!kernel.name().empty() || kernel.line() > 0);
  if (kernel.id().empty() && !placed) {
    return FieldError(where, "must name a kernel by an id, or by a path and a name or line");
  }
  return absl::OkStatus();
}

absl::Status CheckReview(const std::string& where, const v1::Review& review) {
  const bool pair = review.has_cuda() || review.has_triton();
  if (review.has_kernel() == pair)
    return FieldError(where, "must have either kernel, or cuda and triton");
  if (pair) {
    RETURN_IF_ERROR(CheckReference(where + ".cuda", review.cuda()));
    RETURN_IF_ERROR(CheckReference(where + ".triton", review.triton()));
  } else {
    RETURN_IF_ERROR(CheckReference(where + ".kernel", review.kernel()));
  }
  const bool of_kernel = review.flag() == kFlagWordOverlap || review.flag() == kFlagLicense;
  if (pair ? review.flag() != kFlagPair : !of_kernel) {
    return FieldError(where + ".flag",
                      "must be pair for a pair, and word_overlap or license for a kernel");
  }
  if (review.decision() == v1::REVIEW_DECISION_UNSPECIFIED) {
    return FieldError(where + ".decision", "must be accept or reject");
  }
  RETURN_IF_ERROR(CheckText(where + ".who", review.who()));
  RETURN_IF_ERROR(CheckText(where + ".why", review.why()));
  if (review.who().empty()) return FieldError(where + ".who", "must not be empty");
  if (review.decision() == v1::REVIEW_DECISION_REJECT && review.why().empty()) {
    return FieldError(where + ".why", "must not be empty if the decision is reject");
  }
  if (!IsDate(review.date())) return FieldError(where + ".date", "must be YYYY-MM-DD");
  return absl::OkStatus();
}

// The person, the date and the reason are not part of the key: a later decision replaces an earlier
// one.
std::string ReviewKey(const v1::Review& review) {
  v1::Review key;
  key.set_flag(review.flag());
  if (review.has_kernel()) *key.mutable_kernel() = review.kernel();
  if (review.has_cuda()) *key.mutable_cuda() = review.cuda();
  if (review.has_triton()) *key.mutable_triton() = review.triton();
  return key.SerializeAsString();
}

// Returns the last decision on each thing, at the place of the first, so that the order of a job's
// decisions does not change when one is revised.
absl::StatusOr<std::vector<v1::Review>> ParseReviewList(absl::string_view text,
                                                        const std::string& path) {
  std::vector<v1::Review> reviews;
  std::map<std::string, size_t> places;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    const OrderedJson value =
        OrderedJson::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!value.is_object()) return FileError(path, number, "must be a JSON object");
    v1::Review review = ReadReview(value);
    const absl::Status checked = CheckReview("review", review);
    if (!checked.ok()) return FileError(path, number, checked.message());
    const auto [place, is_new] = places.try_emplace(ReviewKey(review), reviews.size());
    if (!is_new) {
      reviews[place->second] = std::move(review);
    } else if (reviews.size() == kMaxReviews) {
      return FileError(path, number, absl::StrCat("must have at most ", kMaxReviews, " decisions"));
    } else {
      reviews.push_back(std::move(review));
    }
  }
  return reviews;
}

absl::StatusOr<std::vector<v1::Review>> ReadReviewList(const std::string& path) {
  if (!absl::EndsWithIgnoreCase(path, ".jsonl")) {
    return FileError(path, 1, "a file of decisions must be a .jsonl file");
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxReviewListBytes));
  return ParseReviewList(text, path);
}

// Writes the line that ParseReviewList reads back.
std::string ReviewLine(const v1::Review& review) {
  OrderedJson json = OrderedJson::object();
  if (review.has_kernel()) json["kernel"] = ReferenceJson(review.kernel());
  if (review.has_cuda()) json["cuda"] = ReferenceJson(review.cuda());
  if (review.has_triton()) json["triton"] = ReferenceJson(review.triton());
  json["flag"] = review.flag();
  json["decision"] = review.decision() == v1::REVIEW_DECISION_ACCEPT ? "accept" : "reject";
  json["who"] = review.who();
  json["why"] = review.why();
  json["date"] = review.date();
  return json.dump(-1, ' ', /*ensure_ascii=*/true) + "\n";
}

}  // namespace kernelmill::job
