#include "client/evaluate/generation_row.h"

#include <initializer_list>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::json;
using Keys = std::initializer_list<const char*>;

constexpr int kMaxDepth = 8;  // of lists and objects around a text

constexpr Keys kTaskKeys = {"task_id", "custom_id", "doc_id", "question_id", "name"};
constexpr Keys kPromptKeys = {"prompt", "instruction", "question",
                              "input",  "messages",    "arguments"};
constexpr Keys kSampleKeys = {"samples", "completions", "generations",    "outputs",  "choices",
                              "resps",   "completion",  "output",         "response", "generation",
                              "predict", "solution",    "generated_text", "text"};
constexpr Keys kReferenceKeys = {"reference", "canonical_solution", "label", "target"};
constexpr Keys kTextKeys = {"text",           "content", "completion", "output",
                            "generated_text", "message", "body",       "choices"};

const Json* Find(const Json& object, Keys keys, std::string* found = nullptr) {
  for (const char* key : keys) {
    const auto at = object.find(key);
    if (at == object.end()) continue;
    if (found != nullptr) *found = key;
    return &*at;
  }
  return nullptr;
}

absl::Status CheckSize(const std::string& text) {
  if (static_cast<int64_t>(text.size()) <= kMaxGenerationBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a text of ", text.size(), " bytes; at most ", kMaxGenerationBytes));
}

// Appends the texts that a value holds, in order.
absl::Status CollectTexts(const Json& value, int depth, std::vector<std::string>* texts) {
  if (depth > kMaxDepth) return absl::InvalidArgumentError("lists within lists without an end");
  if (value.is_null() || value.is_string()) {
    if (texts->size() == kMaxRowSamples) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxRowSamples, " samples"));
    }
    texts->push_back(value.is_null() ? "" : value.get<std::string>());
    return CheckSize(texts->back());
  }
  if (value.is_array()) {
    for (const Json& entry : value) RETURN_IF_ERROR(CollectTexts(entry, depth + 1, texts));
    return absl::OkStatus();
  }
  if (value.is_object()) {
    const Json* text = Find(value, kTextKeys);
    if (text != nullptr) return CollectTexts(*text, depth + 1, texts);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("of type ", value.type_name(), " where a text belongs"));
}

// A text, the texts of messages, or lm-eval's arguments: the first text in them.
absl::StatusOr<std::string> PromptOf(const Json& row) {
  std::string key;
  const Json* value = Find(row, kPromptKeys, &key);
  if (value == nullptr || value->is_null()) return "";
  while (key == "arguments" && value->is_structured() && !value->empty()) value = &*value->begin();
  std::vector<std::string> texts;
  RETURN_IF_ERROR(Annotate(CollectTexts(*value, 0, &texts), key));
  std::string prompt;
  for (const std::string& text : texts) {
    absl::StrAppend(&prompt, prompt.empty() ? "" : "\n\n", text);
    RETURN_IF_ERROR(CheckSize(prompt));
  }
  return prompt;
}

absl::StatusOr<std::string> TaskOf(const Json& row) {
  std::string key;
  const Json* value = Find(row, kTaskKeys, &key);
  if (value == nullptr || value->is_null()) return "";
  if (value->is_number_integer()) return value->dump();
  if (!value->is_string() || value->get_ref<const std::string&>().size() > 1000) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, " is neither a number nor a text of at most 1000 bytes"));
  }
  return value->get<std::string>();
}

absl::Status CollectSamples(const Json& row, Keys first, Keys then, std::vector<std::string>* out) {
  std::string key;
  const Json* value = Find(row, first, &key);
  if (value == nullptr) value = Find(row, then, &key);
  if (value == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("no text under any of the known keys: ", *first.begin(), ", ", *then.begin(),
                     " and so on"));
  }
  return Annotate(CollectTexts(*value, 0, out), key);
}

absl::StatusOr<GenerationRow> ParseHead(const Json& row) {
  if (!row.is_object()) return absl::InvalidArgumentError("neither an object nor a list");
  GenerationRow parsed;
  ASSIGN_OR_RETURN(parsed.task_id, TaskOf(row));
  ASSIGN_OR_RETURN(parsed.prompt, PromptOf(row));
  return parsed;
}

}  // namespace

absl::StatusOr<GenerationRow> ParseGenerationRow(const Json& row) {
  GenerationRow parsed;
  if (row.is_array()) {
    RETURN_IF_ERROR(CollectTexts(row, 0, &parsed.samples));
  } else {
    ASSIGN_OR_RETURN(parsed, ParseHead(row));
    RETURN_IF_ERROR(CollectSamples(row, kSampleKeys, kSampleKeys, &parsed.samples));
    const Json* reference = Find(row, kReferenceKeys);
    if (reference != nullptr && reference->is_string() && !reference->empty() &&
        !reference->get_ref<const std::string&>().empty()) {
      RETURN_IF_ERROR(CheckSize(parsed.reference.emplace(reference->get<std::string>())));
    }
  }
  if (!parsed.samples.empty()) return parsed;
  return absl::InvalidArgumentError("a row without samples");
}

absl::StatusOr<GenerationRow> ParseReferenceRow(const Json& row) {
  ASSIGN_OR_RETURN(GenerationRow parsed, ParseHead(row));
  RETURN_IF_ERROR(CollectSamples(row, kReferenceKeys, kSampleKeys, &parsed.samples));
  if (parsed.samples.size() == 1) return parsed;
  return absl::InvalidArgumentError(
      absl::StrCat(parsed.samples.size(), " references where one belongs"));
}

}  // namespace kernelmill::client
