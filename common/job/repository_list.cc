// Lists of repositories come from other programs (gh, GitHub's API, spreadsheets), so several keys
// are accepted, and the first one of a row that is set wins. A list is a convenience of the client
// only: the coordinator gets the sources that it expands to.
#include "common/job/repository_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/csv.h"
#include "common/job/field_check.h"
#include "common/job/source_spec.h"

namespace kernelmill::job {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxRepositoryListBytes = 64 << 20;
constexpr size_t kMaxRepositories = 100'000;
// The keys under which programs put a repository. GitHub's own answers have most of them, and their
// `url` is the API's, so it comes after the keys of git URLs.
constexpr const char* kKeys[] = {"html_url",   "clone_url", "git",      "url",
                                 "repository", "repo",      "full_name"};
constexpr char kRefKey[] = "ref";

// Collects the repositories of a list, each once, and stops at the first error.
class RepositoryReader {
 public:
  explicit RepositoryReader(absl::string_view file) : file_(file) {}

  // Adds a repository. A final slash and ".git" do not make a repository another one.
  absl::Status Add(int line, absl::string_view repository, absl::string_view ref) {
    ListedRepository listed{std::string(absl::StripAsciiWhitespace(repository)),
                            std::string(absl::StripAsciiWhitespace(ref))};
    if (IsGithubName(listed.url)) listed.url = GithubUrl(listed.url);
    if (!absl::StrContains(listed.url, "://")) {
      return FileError(file_, line,
                       absl::StrCat(JsonString(listed.url), " must be a URL or owner/name"));
    }
    RETURN_IF_ERROR(Check(line, "the repository", listed.url));
    RETURN_IF_ERROR(Check(line, "the ref", listed.ref));
    const absl::string_view same = absl::StripSuffix(absl::StripSuffix(listed.url, "/"), ".git");
    if (!seen_.emplace(same, listed.ref).second) return absl::OkStatus();
    if (listed_.size() == kMaxRepositories) {
      return FileError(file_, line,
                       absl::StrCat("must have at most ", kMaxRepositories, " repositories"));
    }
    listed_.push_back(std::move(listed));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<ListedRepository>> Finish() && {
    if (listed_.empty()) return FileError(file_, 1, "must list at least one repository");
    return std::move(listed_);
  }

  absl::string_view file() const { return file_; }

 private:
  // Checks a text as CheckText does, and names the line in an error.
  absl::Status Check(int line, absl::string_view what, absl::string_view text) const {
    if (!IsUtf8(text)) return FileError(file_, line, absl::StrCat(what, ": must be UTF-8"));
    const absl::Status checked = CheckText(what, text);
    return checked.ok() ? checked : FileError(file_, line, checked.message());
  }

  const absl::string_view file_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::vector<ListedRepository> listed_;
};

// Returns the error of a list or line without a known key.
absl::Status NoKey(absl::string_view file, int line) {
  return FileError(
      file, line, absl::StrCat("must name a repository under one of ", absl::StrJoin(kKeys, ", ")));
}

absl::Status ReadText(absl::string_view text, RepositoryReader& out) {
  int line = 0;
  for (absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    // A '#' may be part of a URL, but never after a blank.
    const size_t comment = row.find(absl::StartsWith(row, "#") ? "#" : " #");
    row = absl::StripAsciiWhitespace(row.substr(0, comment));
    if (!row.empty()) RETURN_IF_ERROR(out.Add(line, row, ""));
  }
  return absl::OkStatus();
}

// Returns the index of the column of this name, or the number of columns if it does not exist.
size_t FindColumn(const CsvRecord& header, absl::string_view name) {
  size_t at = 0;
  while (at < header.fields.size() &&
         !absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(header.fields[at]), name)) {
    ++at;
  }
  return at;
}

// The column is chosen once, by the header: the first key of kKeys that it has.
absl::Status ReadCsv(absl::string_view text, RepositoryReader& out) {
  ASSIGN_OR_RETURN(const std::vector<CsvRecord> records, ParseCsv(text, out.file()));
  if (records.empty()) return absl::OkStatus();
  const size_t columns = records[0].fields.size();
  size_t column = columns;
  for (const char* key : kKeys) {
    if (column == columns) column = FindColumn(records[0], key);
  }
  if (column == columns) return NoKey(out.file(), records[0].line);
  const size_t ref = FindColumn(records[0], kRefKey);
  for (size_t i = 1; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    RETURN_IF_ERROR(CheckFieldCount(records[0], record, out.file()));
    RETURN_IF_ERROR(out.Add(record.line, record.fields[column],
                            ref == columns ? absl::string_view() : record.fields[ref]));
  }
  return absl::OkStatus();
}

// Returns the text at a key; empty if the key is missing or null.
absl::StatusOr<std::string> TextAt(const Json& object, const char* key, absl::string_view file,
                                   int line) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (!found->is_string()) return FileError(file, line, absl::StrCat(key, ": must be a string"));
  return found->get<std::string>();
}

// A line may also be only a string, the repository.
absl::Status ReadJsonLine(absl::string_view row, int line, RepositoryReader& out) {
  const Json value = Json::parse(row.begin(), row.end(), nullptr, /*allow_exceptions=*/false);
  if (value.is_string()) return out.Add(line, value.get<std::string>(), "");
  if (!value.is_object())
    return FileError(out.file(), line, "must be a JSON object or a JSON string");
  ASSIGN_OR_RETURN(const std::string ref, TextAt(value, kRefKey, out.file(), line));
  for (const char* key : kKeys) {
    ASSIGN_OR_RETURN(const std::string repository, TextAt(value, key, out.file(), line));
    if (!repository.empty()) return out.Add(line, repository, ref);
  }
  return NoKey(out.file(), line);
}

absl::Status ReadJsonLines(absl::string_view text, RepositoryReader& out) {
  int line = 0;
  for (absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    row = absl::StripAsciiWhitespace(row);
    if (!row.empty()) RETURN_IF_ERROR(ReadJsonLine(row, line, out));
  }
  return absl::OkStatus();
}

absl::Status ReadRows(absl::string_view text, absl::string_view path, RepositoryReader& out) {
  if (absl::EndsWithIgnoreCase(path, ".txt")) return ReadText(text, out);
  if (absl::EndsWithIgnoreCase(path, ".csv")) return ReadCsv(text, out);
  if (absl::EndsWithIgnoreCase(path, ".jsonl")) return ReadJsonLines(text, out);
  return FileError(path, 1, "a list of repositories must be a .txt, .csv or .jsonl file");
}

}  // namespace

absl::StatusOr<std::vector<ListedRepository>> ParseRepositoryList(absl::string_view text,
                                                                  const std::string& path) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // the byte order mark that spreadsheets write
  RepositoryReader reader(path);
  RETURN_IF_ERROR(ReadRows(text, path, reader));
  return std::move(reader).Finish();
}

// Each repository becomes a source with everything else that the list's source says: globs,
// category, weight and so on.
absl::StatusOr<std::vector<v1::Source>> ExpandList(const v1::Source& list,
                                                   const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxRepositoryListBytes));
  ASSIGN_OR_RETURN(std::vector<ListedRepository> listed, ParseRepositoryList(text, path));
  std::vector<v1::Source> sources;
  for (ListedRepository& repository : listed) {
    v1::Source& source = sources.emplace_back(list);
    source.set_git(std::move(repository.url));
    source.set_ref(std::move(repository.ref));
  }
  return sources;
}

}  // namespace kernelmill::job
