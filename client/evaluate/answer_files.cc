#include "client/evaluate/answer_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace kernelmill::client {
namespace {

constexpr absl::string_view kEnd = ".py";

}  // namespace

AnswerFile NameAnswerFile(absl::string_view path) {
  const absl::string_view name = absl::StripSuffix(path, kEnd);
  AnswerFile file;
  file.task = std::string(name);
  absl::string_view task = absl::StripSuffix(name, "_kernel");
  size_t digits = 0;
  while (digits < task.size() && absl::ascii_isdigit(task[task.size() - digits - 1])) ++digits;
  int64_t number = 0;
  if (!absl::SimpleAtoi(task.substr(task.size() - digits), &number)) return file;
  task.remove_suffix(digits);
  const bool counted = absl::ConsumeSuffix(&task, "_sample_") ||
                       absl::ConsumeSuffix(&task, "/sample_") || absl::ConsumeSuffix(&task, "/");
  if (!counted || task.empty()) return file;
  file.task = std::string(task);
  file.sample = number;
  return file;
}

bool HoldsAnswerFiles(const std::string& path) {
  std::error_code error;
  return absl::EndsWith(path, kEnd) || std::filesystem::is_directory(path, error);
}

absl::StatusOr<std::vector<AnswerFile>> ListAnswerFiles(const std::string& path, size_t most) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<AnswerFile> files;
  if (!fs::is_directory(path, error)) {
    AnswerFile& file = files.emplace_back(NameAnswerFile(fs::path(path).filename().string()));
    file.path = path;
    return files;
  }
  fs::recursive_directory_iterator at(path, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string name = at->path().string();
    if (!absl::EndsWith(name, kEnd) || !at->is_regular_file() || at->is_symlink()) continue;
    if (files.size() == most) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": more than ", most, " samples"));
    }
    files.push_back(NameAnswerFile(fs::path(name).lexically_relative(path).generic_string()));
    files.back().path = name;
  }
  if (error) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.message()));
  if (files.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": must have files *.py with answers"));
  }
  std::sort(files.begin(), files.end(), [](const AnswerFile& a, const AnswerFile& b) {
    return std::tie(a.task, a.sample, a.path) < std::tie(b.task, b.sample, b.path);
  });
  return files;
}

}  // namespace kernelmill::client
