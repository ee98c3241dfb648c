// Both kinds of lists are brought to one form first: a row of columns such as cuda_path and
// triton_name. A JSON line with objects at "cuda" and "triton" becomes such a row by Flatten.
#include "common/job/pair_list.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/csv.h"
#include "common/job/field_check.h"
#include "common/job/review_list.h"

namespace kernelmill::job {
namespace {

using Json = nlohmann::json;
// A row's values, by column.
using Row = std::map<std::string, std::string>;

constexpr int64_t kMaxPairListBytes = 64 << 20;

// Collects the pairs of a list, each once, and stops at the first error.
class PairReader {
 public:
  explicit PairReader(absl::string_view file) : file_(file) {}

  // Adds the pair of a row, unless the list has it already. Pairs are compared by their
  // serialization: the messages have no maps, and equal ones give equal bytes.
  absl::Status Add(int line, const Row& row) {
    v1::CuratedPair pair;
    RETURN_IF_ERROR(Fill(line, row, "cuda_", pair.mutable_cuda()));
    RETURN_IF_ERROR(Fill(line, row, "triton_", pair.mutable_triton()));
    const absl::Status checked = CheckPair("pair", pair);
    if (!checked.ok()) return FileError(file_, line, checked.message());
    if (!seen_.insert(pair.SerializeAsString()).second) return absl::OkStatus();
    if (pairs_.size() == kMaxPairs) {
      return FileError(file_, line, absl::StrCat("must have at most ", kMaxPairs, " pairs"));
    }
    pairs_.push_back(std::move(pair));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<v1::CuratedPair>> Finish() && {
    if (pairs_.empty()) return FileError(file_, 1, "must list at least one pair");
    return std::move(pairs_);
  }

  absl::string_view file() const { return file_; }

 private:
  // Returns the value of the side's own column, else of the column for both sides.
  static std::string Value(const Row& row, const std::string& side, const std::string& field) {
    auto found = row.find(side + field);
    if (found == row.end() || found->second.empty()) found = row.find(field);
    return found == row.end() ? "" : found->second;
  }

  // Fills in one side of a pair from its columns.
  absl::Status Fill(int line, const Row& row, const std::string& side,
                    v1::KernelReference* kernel) const {
    for (const auto& [column, value] : row) {
      if (!IsUtf8(value)) return FileError(file_, line, absl::StrCat(column, ": must be UTF-8"));
    }
    kernel->set_id(Value(row, side, "id"));
    kernel->set_repository(Value(row, side, "repository"));
    kernel->set_path(Value(row, side, "path"));
    kernel->set_name(Value(row, side, "name"));
    const std::string number = Value(row, side, "line");
    int32_t value = 0;
    if (!number.empty() && !absl::SimpleAtoi(number, &value)) {
      return FileError(file_, line, absl::StrCat(side, "line: must be a whole number"));
    }
    kernel->set_line(value);
    return absl::OkStatus();
  }

  const absl::string_view file_;
  std::set<std::string> seen_;
  std::vector<v1::CuratedPair> pairs_;
};

// The header names the columns; unknown ones are ignored when a pair is made of the row.
absl::Status ReadCsv(absl::string_view text, PairReader& out) {
  ASSIGN_OR_RETURN(const std::vector<CsvRecord> records, ParseCsv(text, out.file()));
  for (size_t i = 1; i < records.size(); ++i) {
    RETURN_IF_ERROR(CheckFieldCount(records[0], records[i], out.file()));
    Row row;
    for (size_t c = 0; c < records[i].fields.size(); ++c) {
      const absl::string_view column = absl::StripAsciiWhitespace(records[0].fields[c]);
      row[absl::AsciiStrToLower(column)] =
          std::string(absl::StripAsciiWhitespace(records[i].fields[c]));
    }
    RETURN_IF_ERROR(out.Add(records[i].line, row));
  }
  return absl::OkStatus();
}

// Adds an object's texts and numbers to the row, by key; those of an object within it as KEY_FIELD.
void Flatten(const Json& object, const std::string& prefix, bool nested, Row& row) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + key;
    if (value.is_string()) row[name] = value.get<std::string>();
    if (value.is_number_integer()) row[name] = value.dump();
    if (value.is_object() && nested) Flatten(value, name + "_", false, row);
  }
}

// Blank lines are allowed; each other line is an object.
absl::Status ReadJsonLines(absl::string_view text, PairReader& out) {
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    const Json value = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!value.is_object()) return FileError(out.file(), number, "must be a JSON object");
    Row row;
    Flatten(value, "", /*nested=*/true, row);
    RETURN_IF_ERROR(out.Add(number, row));
  }
  return absl::OkStatus();
}

absl::Status ReadRows(absl::string_view text, absl::string_view path, PairReader& out) {
  if (absl::EndsWithIgnoreCase(path, ".csv")) return ReadCsv(text, out);
  if (absl::EndsWithIgnoreCase(path, ".jsonl")) return ReadJsonLines(text, out);
  return FileError(path, 1, "a list of pairs must be a .csv or .jsonl file");
}

}  // namespace

absl::Status CheckPair(const std::string& where, const v1::CuratedPair& pair) {
  RETURN_IF_ERROR(CheckReference(where + ".cuda", pair.cuda()));
  return CheckReference(where + ".triton", pair.triton());
}

absl::StatusOr<std::vector<v1::CuratedPair>> ParsePairList(absl::string_view text,
                                                           const std::string& path) {
  absl::ConsumePrefix(&text, "\xef\xbb\xbf");  // the byte order mark that spreadsheets write
  PairReader reader(path);
  RETURN_IF_ERROR(ReadRows(text, path, reader));
  return std::move(reader).Finish();
}

absl::StatusOr<std::vector<v1::CuratedPair>> ReadPairList(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxPairListBytes));
  return ParsePairList(text, path);
}

}  // namespace kernelmill::job
