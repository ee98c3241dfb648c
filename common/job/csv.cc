// The grammar, RFC 4180 with LF accepted for CRLF:
//   file   := (record line-end)*
//   record := field ("," field)*
//   field  := quoted | any characters except comma, quote and line end
//   quoted := '"' (any character except quote | '""')* '"'
#include "common/job/csv.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/field_check.h"

namespace kernelmill::job {
namespace {

constexpr size_t kNone = absl::string_view::npos;

// Reads one field after the other off the front of the text that is left.
class CsvParser {
 public:
  CsvParser(absl::string_view text, absl::string_view file) : rest_(text), file_(file) {}

  // Returns the records that have text, each with the line where it begins. An error names the file
  // and the line, and nothing is returned.
  absl::StatusOr<std::vector<CsvRecord>> Parse() {
    std::vector<CsvRecord> records;
    while (!rest_.empty()) {
      if (TakeLineEnd()) continue;  // an empty line
      CsvRecord record;
      record.line = line_;
      do {
        ASSIGN_OR_RETURN(std::string field, TakeField());
        record.fields.push_back(std::move(field));
      } while (absl::ConsumePrefix(&rest_, ","));
      TakeLineEnd();
      records.push_back(std::move(record));
    }
    return records;
  }

 private:
  bool TakeLineEnd() {
    if (!absl::ConsumePrefix(&rest_, "\r\n") && !absl::ConsumePrefix(&rest_, "\n")) return false;
    ++line_;
    return true;
  }

  // A field ends at a comma, a line end or the end of the file.
  bool AtFieldEnd() const {
    return rest_.empty() || rest_[0] == ',' || rest_[0] == '\n' || absl::StartsWith(rest_, "\r\n");
  }

  // Reads a field up to the next comma or line end, without a CR before the line end.
  absl::StatusOr<std::string> TakeField() {
    if (absl::ConsumePrefix(&rest_, "\"")) return TakeQuoted();
    size_t size = std::min(rest_.find_first_of(",\n\""), rest_.size());
    if (size < rest_.size() && rest_[size] == '"') {
      return FileError(file_, line_, "a field with a quote in it must be in quotes");
    }
    // The CR of a line end is not part of the field.
    if (size > 0 && size < rest_.size() && rest_[size] == '\n' && rest_[size - 1] == '\r') --size;
    std::string field(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return field;
  }

  // Reads a quoted field, whose opening quote was taken. An error names the line of that quote,
  // since the rest of the file has been read as the field.
  absl::StatusOr<std::string> TakeQuoted() {
    const int first_line = line_;
    std::string field;
    do {
      const size_t end = rest_.find('"');
      if (end == kNone) return FileError(file_, first_line, "a quote is not closed");
      line_ += static_cast<int>(std::count(rest_.begin(), rest_.begin() + end, '\n'));
      field.append(rest_.data(), end);
      rest_.remove_prefix(end + 1);
      if (!absl::StartsWith(rest_, "\"")) break;
      field += '"';
    } while (absl::ConsumePrefix(&rest_, "\""));
    if (!AtFieldEnd())
      return FileError(file_, line_, "a comma or a line end must follow a field's closing quote");
    return field;
  }

  absl::string_view rest_;
  const absl::string_view file_;
  int line_ = 1;
};

}  // namespace

absl::StatusOr<std::vector<CsvRecord>> ParseCsv(absl::string_view text, absl::string_view file) {
  return CsvParser(text, file).Parse();
}

// A row that is too short or too long is a missing comma or quote, and would shift values into
// wrong columns.
absl::Status CheckFieldCount(const CsvRecord& header, const CsvRecord& record,
                             absl::string_view file) {
  if (record.fields.size() == header.fields.size()) return absl::OkStatus();
  return FileError(
      file, record.line,
      absl::StrCat("has ", record.fields.size(), " fields; the header has ", header.fields.size()));
}

// Quotes an empty field, so that a row with one empty field is not an empty line. So `row` is empty
// only before the first field.
std::string CsvRow(const std::vector<absl::string_view>& fields) {
  std::string row;
  for (const absl::string_view field : fields) {
    if (!row.empty()) row += ',';
    if (field.find_first_of(",\"\r\n") == absl::string_view::npos && !field.empty()) {
      absl::StrAppend(&row, field);
    } else {
      absl::StrAppend(&row, "\"", absl::StrReplaceAll(field, {{"\"", "\"\""}}), "\"");
    }
  }
  return row + "\r\n";
}

// Code in CSV has \n as line ends, and is UTF-8, since readers of CSV disagree about anything else.
std::string CsvText(absl::string_view code) {
  return absl::StrReplaceAll(ToUtf8(code), {{"\r\n", "\n"}});
}

}  // namespace kernelmill::job
