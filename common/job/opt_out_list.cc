#include "common/job/opt_out_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/csv.h"
#include "common/job/job_file_tree.h"
#include "common/job/opt_out.h"

namespace kernelmill::job {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxFileBytes = 64 << 20;

// Collects a list's entries, each once, and the first error.
class OptOutReader {
 public:
  explicit OptOutReader(absl::string_view file) : file_(file) {}

  absl::Status Add(int line, v1::OptOut entry) {
    for (std::string* text : {entry.mutable_repository(), entry.mutable_owner(),
                              entry.mutable_path(), entry.mutable_sha256()}) {
      if (!IsUtf8(*text)) return FileError(file_, line, "not UTF-8");
      absl::StripAsciiWhitespace(text);
    }
    absl::AsciiStrToLower(entry.mutable_sha256());
    const absl::Status checked = CheckOptOut("entry", entry);
    if (!checked.ok()) return FileError(file_, line, checked.message());
    if (!seen_.insert(entry.SerializeAsString()).second) return absl::OkStatus();
    if (entries_.size() == kMaxOptOuts) {
      return FileError(file_, line, absl::StrCat("more than ", kMaxOptOuts, " entries"));
    }
    entries_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<v1::OptOut>> Finish() && {
    if (entries_.empty()) return FileError(file_, 1, "lists nothing");
    return std::move(entries_);
  }

  absl::string_view file() const { return file_; }

 private:
  const absl::string_view file_;
  std::set<std::string> seen_;
  std::vector<v1::OptOut> entries_;
};

// What a line of a text file names.
v1::OptOut EntryOf(const std::string& row) {
  v1::OptOut entry;
  const std::string canonical = CanonicalRepository(row);
  if (IsHex(row, 64)) {
    entry.set_sha256(row);
  } else if (std::count(canonical.begin(), canonical.end(), '/') == 1) {
    entry.set_owner(row);  // host/owner
  } else {
    entry.set_repository(row);
  }
  return entry;
}

absl::Status ReadText(absl::string_view text, OptOutReader& out) {
  int line = 0;
  for (absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    // A '#' may be part of a URL, but never after a blank.
    row = row.substr(0, row.find(absl::StartsWith(row, "#") ? "#" : " #"));
    row = absl::StripAsciiWhitespace(row);
    if (row.empty()) continue;
    if (!IsHex(row, 64) && !absl::StrContains(row, '/')) {
      return FileError(out.file(), line, "no URL, host/owner, host/owner/name or SHA-256");
    }
    RETURN_IF_ERROR(out.Add(line, EntryOf(std::string(row))));
  }
  return absl::OkStatus();
}

// The field of that name; null where there is none.
std::string* FieldOf(v1::OptOut& entry, absl::string_view name) {
  if (name == "repository") return entry.mutable_repository();
  if (name == "owner") return entry.mutable_owner();
  if (name == "path") return entry.mutable_path();
  if (name == "sha256") return entry.mutable_sha256();
  return nullptr;
}

absl::Status ReadCsv(absl::string_view text, OptOutReader& out) {
  ASSIGN_OR_RETURN(const std::vector<CsvRecord> records, ParseCsv(text, out.file()));
  for (size_t i = 1; i < records.size(); ++i) {
    RETURN_IF_ERROR(CheckFieldCount(records[0], records[i], out.file()));
    v1::OptOut entry;
    for (size_t c = 0; c < records[i].fields.size(); ++c) {
      const absl::string_view column = absl::StripAsciiWhitespace(records[0].fields[c]);
      std::string* const field = FieldOf(entry, absl::AsciiStrToLower(column));
      if (field != nullptr) *field = records[i].fields[c];
    }
    RETURN_IF_ERROR(out.Add(records[i].line, std::move(entry)));
  }
  return absl::OkStatus();
}

absl::Status ReadJsonLines(absl::string_view text, OptOutReader& out) {
  int line = 0;
  for (absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    row = absl::StripAsciiWhitespace(row);
    if (row.empty()) continue;
    const Json value = Json::parse(row.begin(), row.end(), nullptr, /*allow_exceptions=*/false);
    if (!value.is_object()) return FileError(out.file(), line, "no JSON object");
    v1::OptOut entry;
    for (const auto& [key, text_of_key] : value.items()) {
      std::string* const field = FieldOf(entry, key);
      if (field == nullptr || text_of_key.is_null()) continue;
      if (!text_of_key.is_string()) return FileError(out.file(), line, key + ": text is needed");
      *field = text_of_key.get<std::string>();
    }
    RETURN_IF_ERROR(out.Add(line, std::move(entry)));
  }
  return absl::OkStatus();
}

absl::Status ReadRows(absl::string_view text, absl::string_view path, OptOutReader& out) {
  if (absl::EndsWithIgnoreCase(path, ".txt")) return ReadText(text, out);
  if (absl::EndsWithIgnoreCase(path, ".csv")) return ReadCsv(text, out);
  if (absl::EndsWithIgnoreCase(path, ".jsonl")) return ReadJsonLines(text, out);
  return FileError(path, 1, "a list of what is opted out is .txt, .csv or .jsonl");
}

}  // namespace

absl::StatusOr<std::vector<v1::OptOut>> ParseOptOutList(absl::string_view text,
                                                        const std::string& path) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // the mark that spreadsheets put first
  OptOutReader reader(path);
  RETURN_IF_ERROR(ReadRows(text, path, reader));
  return std::move(reader).Finish();
}

absl::StatusOr<std::vector<v1::OptOut>> ReadOptOutList(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
  return ParseOptOutList(text, path);
}

}  // namespace kernelmill::job
