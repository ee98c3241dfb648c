// The reader of generations: outputs of harnesses in many forms. It works in three steps:
//
//   1. ForEachAnswer reads the file as JSON lines or as one JSON list, row by row, or the Python
//   files
//      of a folder.
//   2. ParseGenerationRow finds the task, the prompt, the samples and the reference of a row under
//      the keys that harnesses use.
//   3. TaskBuilder joins the rows of one task, and takes the code out of each answer.
//
// The files come from models and other programs, so sizes, numbers and depths are bounded, and each
// error names the file and the row.

#include "client/evaluate/generations.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/console/format.h"
#include "client/evaluate/answer_code.h"
#include "client/evaluate/answer_files.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/words/suggestion.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::json;
using Keys = std::initializer_list<const char*>;

constexpr int kMaxDepth = 8;  // nested lists and objects around a text

constexpr Keys kTaskKeys = {"task_id", "custom_id", "doc_id", "question_id", "name"};
constexpr Keys kPromptKeys = {"prompt", "instruction", "question",
                              "input",  "messages",    "arguments"};
constexpr Keys kSampleKeys = {"samples", "completions", "generations",    "outputs",  "choices",
                              "resps",   "completion",  "output",         "response", "generation",
                              "predict", "solution",    "generated_text", "text"};
constexpr Keys kReferenceKeys = {"reference", "canonical_solution", "label", "target"};
constexpr Keys kTextKeys = {"text",           "content", "completion", "output",
                            "generated_text", "message", "body",       "choices"};

// Returns the value of the first key that the object has, and sets `found` to the key; null without
// one.
const Json* Find(const Json& object, Keys keys, std::string* found = nullptr) {
  for (const char* key : keys) {
    const auto at = object.find(key);
    if (at == object.end()) continue;
    if (found != nullptr) *found = key;
    return &*at;
  }
  return nullptr;
}

// The limit also holds for a prompt that is joined from many messages.
absl::Status CheckSize(const std::string& text) {
  if (static_cast<int64_t>(text.size()) <= kMaxGenerationBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a text has ", text.size(), " bytes; the limit is ", kMaxGenerationBytes));
}

// Appends the texts in a value, in order. Harnesses nest texts in lists and objects, which this
// walks up to kMaxDepth deep.
absl::Status CollectTexts(const Json& value, int depth, std::vector<std::string>* texts) {
  if (depth > kMaxDepth)
    return absl::InvalidArgumentError(
        absl::StrCat("lists are nested more than ", kMaxDepth, " deep"));
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
      absl::StrCat("must be a text, not of type ", value.type_name()));
}

// Returns the prompt: a text, the texts of messages, or the first text in lm-eval's arguments.
absl::StatusOr<std::string> ReadPrompt(const Json& row) {
  std::string key;
  const Json* value = Find(row, kPromptKeys, &key);
  if (value == nullptr || value->is_null()) return "";
  // lm-eval nests arguments in lists or objects; the first of them is the prompt.
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

absl::StatusOr<std::string> ReadTask(const Json& row) {
  std::string key;
  const Json* value = Find(row, kTaskKeys, &key);
  if (value == nullptr || value->is_null()) return "";
  if (value->is_number_integer()) return value->dump();
  if (!value->is_string() || value->get_ref<const std::string&>().size() > 1000) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, ": must be an integer or a text of at most 1000 bytes"));
  }
  return value->get<std::string>();
}

// Returns an error for a row that has none of the keys: which they are, which the row has, and
// which of these was likely meant.
std::string ExplainKeys(const Json& row, Keys keys) {
  constexpr size_t kMostNamed = 10;
  const std::vector<std::string> known(keys.begin(), keys.end());
  std::vector<std::string> has;
  for (const auto& [key, value] : row.items()) {
    if (has.size() == kMostNamed) break;
    const bool is_other =
        absl::c_linear_search(kTaskKeys, key) || absl::c_linear_search(kPromptKeys, key);
    has.push_back(CutTo(OneLine(key), 40) + (is_other ? "" : DidYouMean(key, known)));
  }
  return absl::StrCat("has no text under one of ", absl::StrJoin(known, ", "), "; the row has ",
                      has.empty() ? "no key" : absl::StrJoin(has, ", "));
}

// Appends the texts under the first key of `first` that the row has; without one, of `then`.
absl::Status CollectSamples(const Json& row, Keys first, Keys then, std::vector<std::string>* out) {
  std::string key;
  const Json* value = Find(row, first, &key);
  if (value == nullptr) value = Find(row, then, &key);
  if (value == nullptr) {
    return absl::InvalidArgumentError(ExplainKeys(row, first));
  }
  return Annotate(CollectTexts(*value, 0, out), key);
}

// Reads the parts that rows of generations and of references have in common.
absl::StatusOr<GenerationRow> ParseHead(const Json& row) {
  if (!row.is_object()) return absl::InvalidArgumentError("must be an object or a list");
  GenerationRow parsed;
  ASSIGN_OR_RETURN(parsed.task_id, ReadTask(row));
  ASSIGN_OR_RETURN(parsed.prompt, ReadPrompt(row));
  return parsed;
}

constexpr int64_t kMaxFileBytes = int64_t{1} << 30;
constexpr size_t kMaxLineBytes = 32 << 20;
constexpr size_t kMaxSamples = 200000;

// Called with each row and its number, from 1.
using OnRow = std::function<absl::Status(const Json&, int64_t)>;

absl::StatusOr<Json> ParseJson(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) return json;
  return absl::InvalidArgumentError("must be JSON in UTF-8");
}

// A list has no lines to read it by, so the whole file is in memory.
absl::Status ForEachOfList(const std::string& path, std::ifstream& file, const OnRow& on_row) {
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  absl::StatusOr<Json> list = ParseJson(text);
  RETURN_IF_ERROR(Annotate(list.status(), path));
  int64_t number = 0;
  for (const Json& row : *list) {
    ++number;
    RETURN_IF_ERROR(Annotate(on_row(row, number), absl::StrCat(path, ", row ", number)));
  }
  return absl::OkStatus();
}

// Calls on_row for each line that is not blank. Memory holds one line.
absl::Status ForEachLine(const std::string& path, std::ifstream& file, const OnRow& on_row) {
  std::string line;
  const auto read_row = [&](int64_t number) -> absl::Status {
    if (line.size() > kMaxLineBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("the line has ", line.size(), " bytes; the limit is ", kMaxLineBytes));
    }
    ASSIGN_OR_RETURN(const Json row, ParseJson(line));
    return on_row(row, number);
  };
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    RETURN_IF_ERROR(Annotate(read_row(number), absl::StrCat(path, ":", number)));
  }
  return absl::OkStatus();
}

// Returns whether the file is one JSON list and not JSON lines, whose lines may be lists too: it
// has a single line, or its first line is not a complete value.
bool IsOneList(std::ifstream& file) {
  char first = 0;
  file >> std::ws;
  file.get(first);
  file.seekg(0);
  if (first != '[') return false;
  std::string line;
  std::getline(file, line);
  // Start again at the beginning for the reader. clear() resets the end of the file.
  const bool alone = file.peek() == std::ifstream::traits_type::eof();
  file.clear();
  file.seekg(0);
  return alone || !Json::accept(line);
}

// Calls on_row for each row. Errors have the file and the row in front.
absl::Status ForEachRow(const std::string& path, const OnRow& on_row) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return absl::NotFoundError(absl::StrCat(path, ": ", error.message()));
  if (static_cast<int64_t>(size) > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has ", size, " bytes; the limit is ", kMaxFileBytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  RETURN_IF_ERROR(IsOneList(file) ? ForEachOfList(path, file, on_row)
                                  : ForEachLine(path, file, on_row));
  if (file.bad()) return absl::DataLossError(absl::StrCat(path, ": cannot be read completely"));
  return absl::OkStatus();
}

// Reads a row, as ParseGenerationRow does.
using ParseRow = absl::StatusOr<GenerationRow> (*)(const Json&);
using OnAnswer = std::function<absl::Status(GenerationRow, int64_t)>;

// Calls on_answer for each row, or for each Python file.
absl::Status ForEachAnswer(const std::string& path, ParseRow parse, const OnAnswer& on_answer) {
  if (!HoldsAnswerFiles(path)) {
    return ForEachRow(path, [&](const Json& json, int64_t number) -> absl::Status {
      ASSIGN_OR_RETURN(GenerationRow row, parse(json));
      return on_answer(std::move(row), number);
    });
  }
  ASSIGN_OR_RETURN(const std::vector<AnswerFile> files, ListAnswerFiles(path, kMaxSamples));
  int64_t number = 0;
  for (const AnswerFile& file : files) {
    GenerationRow row;
    row.task_id = file.task;
    row.whole_file = true;
    ASSIGN_OR_RETURN(row.samples.emplace_back(), ReadFile(file.path, kMaxGenerationBytes));
    RETURN_IF_ERROR(Annotate(on_answer(std::move(row), ++number), file.path));
  }
  return absl::OkStatus();
}

// Returns the task's id; without one a name from the prompt, so that rows with the same prompt are
// one task; without both the number of the row.
std::string MakeTaskId(const GenerationRow& row, int64_t number) {
  if (!row.task_id.empty()) return row.task_id;
  if (row.prompt.empty()) return absl::StrCat("row-", number);
  return absl::StrCat("prompt-", Sha256Hex(row.prompt).substr(0, 12));
}

// Returns an answer with its code, and with the text that the services judge.
Sample MakeSample(const std::string& prompt, std::string answer, bool whole_file) {
  Sample sample;
  sample.code = whole_file ? answer : ExtractCode(prompt, answer);
  sample.text = WholeText(prompt, sample.code);
  sample.answer = std::move(answer);
  return sample;
}

// Returns the SHA-256 of a file, read in pieces; of a folder that of its files' names and hashes.
std::string HashFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    Sha256Stream hash;
    const auto files = ListAnswerFiles(path, kMaxSamples);
    for (const AnswerFile& file : files.value_or(std::vector<AnswerFile>())) {
      hash.Update(absl::StrCat(file.task, " ", file.sample, " ", HashFile(file.path), "\n"));
    }
    return hash.FinishHex();
  }
  std::ifstream file(path, std::ios::binary);
  Sha256Stream hash;
  std::string piece(1 << 20, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    hash.Update(absl::string_view(piece).substr(0, static_cast<size_t>(file.gcount())));
  }
  return hash.FinishHex();
}

// A builder of tasks from rows.
// It keeps the order of the first rows. The rows of a task must have the same prompt.
class TaskBuilder {
 public:
  explicit TaskBuilder(std::vector<Task>* tasks) : tasks_(*tasks) {}

  absl::Status Add(GenerationRow row, int64_t number) {
    const std::string id = MakeTaskId(row, number);
    // Rows of one task need not be neighbours.
    const auto [at, is_new] = places_.try_emplace(id, tasks_.size());
    if (is_new) {
      tasks_.push_back({id, row.prompt, std::nullopt, {}});
      first_rows_.push_back(number);
    }
    Task& task = tasks_[at->second];
    if (task.prompt != row.prompt) {
      return absl::InvalidArgumentError(absl::StrCat(
          "task ", id, ": the prompt differs from that in row ", first_rows_[at->second]));
    }
    // The first reference of a task counts.
    if (!task.reference.has_value() && row.reference.has_value()) {
      task.reference = ExtractCode(row.prompt, *row.reference);
    }
    samples_ += row.samples.size();
    if (samples_ > kMaxSamples) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxSamples, " samples"));
    }
    for (std::string& answer : row.samples) {
      task.samples.push_back(MakeSample(task.prompt, std::move(answer), row.whole_file));
    }
    return absl::OkStatus();
  }

 private:
  std::vector<Task>& tasks_;
  std::vector<int64_t> first_rows_;
  std::unordered_map<std::string, size_t> places_;
  size_t samples_ = 0;
};

}  // namespace

size_t Generations::samples() const {
  size_t count = 0;
  for (const Task& task : tasks) count += task.samples.size();
  return count;
}

absl::StatusOr<Generations> ReadGenerations(const std::string& path) {
  Generations generations;
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  generations.file = normal.has_filename() ? normal.filename() : normal.parent_path().filename();
  TaskBuilder builder(&generations.tasks);
  RETURN_IF_ERROR(ForEachAnswer(path, ParseGenerationRow, [&](GenerationRow row, int64_t number) {
    return builder.Add(std::move(row), number);
  }));
  if (generations.tasks.empty()) return absl::InvalidArgumentError(path + " has no samples");
  generations.file_sha256 = HashFile(path);
  return generations;
}

// References are read first and then given to the tasks, so the rows may have any order, and may be
// of tasks that the generations lack.
absl::Status AddReferences(const std::string& path, Generations* generations) {
  std::unordered_map<std::string, std::pair<std::string, int64_t>> references;
  const auto add = [&](const GenerationRow& row, int64_t number) -> absl::Status {
    const std::string id = MakeTaskId(row, number);
    const std::string code =
        row.whole_file ? row.samples[0] : ExtractCode(row.prompt, row.samples[0]);
    const auto [at, is_new] = references.try_emplace(id, code, number);
    if (is_new) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("task ", id, ": row ", at->second.second, " already has a reference"));
  };
  RETURN_IF_ERROR(ForEachAnswer(path, ParseReferenceRow, add));
  // A file without a reference for any task is most likely of another benchmark.
  bool any = false;
  for (Task& task : generations->tasks) {
    const auto found = references.find(task.id);
    if (found == references.end()) continue;
    task.reference = found->second.first;
    any = true;
  }
  if (any) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": has no reference for a task of ", generations->file));
}

// An empty or missing reference is not an error: many files have none.
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
  return absl::InvalidArgumentError("the row has no samples");
}

absl::StatusOr<GenerationRow> ParseReferenceRow(const Json& row) {
  ASSIGN_OR_RETURN(GenerationRow parsed, ParseHead(row));
  RETURN_IF_ERROR(CollectSamples(row, kReferenceKeys, kSampleKeys, &parsed.samples));
  if (parsed.samples.size() == 1) return parsed;
  return absl::InvalidArgumentError(
      absl::StrCat("must have one reference, not ", parsed.samples.size()));
}

}  // namespace kernelmill::client
