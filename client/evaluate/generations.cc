#include "client/evaluate/generations.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/evaluate/generation_row.h"
#include "client/evaluate/generation_text.h"
#include "common/base/hash.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxFileBytes = int64_t{1} << 30;
constexpr size_t kMaxLineBytes = 32 << 20;
constexpr size_t kMaxSamples = 200000;

// A row and its number, from 1.
using OnRow = std::function<absl::Status(const Json&, int64_t)>;

absl::StatusOr<Json> ParseJson(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) return json;
  return absl::InvalidArgumentError("not JSON in UTF-8");
}

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

absl::Status ForEachLine(const std::string& path, std::ifstream& file, const OnRow& on_row) {
  std::string line;
  const auto read_row = [&](int64_t number) -> absl::Status {
    if (line.size() > kMaxLineBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("a line of ", line.size(), " bytes; at most ", kMaxLineBytes));
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

// One list is a file of a single line or one whose first line is no whole value: the lines of JSON
// lines may be lists too.
bool IsOneList(std::ifstream& file) {
  char first = 0;
  file >> std::ws;
  file.get(first);
  file.seekg(0);
  if (first != '[') return false;
  std::string line;
  std::getline(file, line);
  const bool alone = file.peek() == std::ifstream::traits_type::eof();
  file.clear();
  file.seekg(0);
  return alone || !Json::accept(line);
}

absl::Status ForEachRow(const std::string& path, const OnRow& on_row) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return absl::NotFoundError(absl::StrCat(path, ": ", error.message()));
  if (static_cast<int64_t>(size) > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has ", size, " bytes; at most ", kMaxFileBytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, " cannot be read"));
  RETURN_IF_ERROR(IsOneList(file) ? ForEachOfList(path, file, on_row)
                                  : ForEachLine(path, file, on_row));
  if (file.bad()) return absl::DataLossError(absl::StrCat(path, ": cannot be read to its end"));
  return absl::OkStatus();
}

std::string IdOf(const GenerationRow& row, int64_t number) {
  if (!row.task_id.empty()) return row.task_id;
  if (row.prompt.empty()) return absl::StrCat("row-", number);
  return absl::StrCat("prompt-", Sha256Hex(row.prompt).substr(0, 12));
}

Sample SampleOf(const std::string& prompt, std::string answer) {
  Sample sample;
  sample.code = CodeOf(prompt, answer);
  sample.text = WholeText(prompt, sample.code);
  sample.answer = std::move(answer);
  return sample;
}

std::string HashOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256Stream hash;
  std::string piece(1 << 20, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    hash.Update(absl::string_view(piece).substr(0, static_cast<size_t>(file.gcount())));
  }
  return hash.FinishHex();
}

// Puts rows together to tasks.
class TaskBuilder {
 public:
  explicit TaskBuilder(std::vector<Task>* tasks) : tasks_(*tasks) {}

  absl::Status Add(GenerationRow row, int64_t number) {
    const std::string id = IdOf(row, number);
    const auto [at, is_new] = places_.try_emplace(id, tasks_.size());
    if (is_new) {
      tasks_.push_back({id, row.prompt, std::nullopt, {}});
      first_rows_.push_back(number);
    }
    Task& task = tasks_[at->second];
    if (task.prompt != row.prompt) {
      return absl::InvalidArgumentError(
          absl::StrCat("task ", id, " has another prompt than in row ", first_rows_[at->second]));
    }
    if (!task.reference.has_value() && row.reference.has_value()) {
      task.reference = CodeOf(row.prompt, *row.reference);
    }
    samples_ += row.samples.size();
    if (samples_ > kMaxSamples) {
      return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxSamples, " samples"));
    }
    for (std::string& answer : row.samples) {
      task.samples.push_back(SampleOf(task.prompt, std::move(answer)));
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
  generations.file = std::filesystem::path(path).filename();
  TaskBuilder builder(&generations.tasks);
  RETURN_IF_ERROR(ForEachRow(path, [&](const Json& json, int64_t number) -> absl::Status {
    ASSIGN_OR_RETURN(GenerationRow row, ParseGenerationRow(json));
    return builder.Add(std::move(row), number);
  }));
  if (generations.tasks.empty()) return absl::InvalidArgumentError(path + " has no samples");
  generations.file_sha256 = HashOfFile(path);
  return generations;
}

absl::Status AddReferences(const std::string& path, Generations* generations) {
  std::unordered_map<std::string, std::pair<std::string, int64_t>> references;
  RETURN_IF_ERROR(ForEachRow(path, [&](const Json& json, int64_t number) -> absl::Status {
    ASSIGN_OR_RETURN(const GenerationRow row, ParseReferenceRow(json));
    const std::string id = IdOf(row, number);
    const auto [at, is_new] =
        references.try_emplace(id, CodeOf(row.prompt, row.samples[0]), number);
    if (is_new) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("task ", id, " has a reference in row ", at->second.second, " already"));
  }));
  bool any = false;
  for (Task& task : generations->tasks) {
    const auto found = references.find(task.id);
    if (found == references.end()) continue;
    task.reference = found->second.first;
    any = true;
  }
  if (any) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, " has a reference for no task of ", generations->file));
}

}  // namespace kernelmill::client
