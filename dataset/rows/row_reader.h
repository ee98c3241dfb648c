#ifndef KERNELMILL_DATASET_ROWS_ROW_READER_H_
#define KERNELMILL_DATASET_ROWS_ROW_READER_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataset/output/lines.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

// The place of a row in its file.
struct RowPlace {
  int64_t line = 0;    // from 1
  int64_t offset = 0;  // of its first byte
};

// Choices of a RowReader.
struct RowReaderOptions {
  // Top-level fields to read; the others stay unset. Empty: all. A tool that goes through millions
  // of rows names the few that it needs.
  std::vector<std::string> fields;
  // Refuse a file without rows.
  bool require_rows = false;
  // Refuse longer lines.
  size_t max_line_bytes = kMaxLineBytes;
};

// Reads the rows of one of a dataset's files as messages: the only reader of these files in the
// client. Holds one row at a time. Not thread-safe.
//
// A field that a line lacks, as in a dataset of an older version, stays unset, and so does an enum
// whose word this version does not know; fields that the message lacks are ignored.
//
// A file without rows is not written, and report.json says so: it is read as empty.
//
// Errors name the file and the line. INVALID_ARGUMENT: the file is missing, is not a file of these
// rows, has a line that is too long, or is empty though rows are required. DATA_LOSS: the file
// cannot be read to its end, or has changed while it was read.
class RowReader {
 public:
  // Opens `schema.file` in the folder `dataset`. `schema` must outlive the reader.
  static absl::StatusOr<RowReader> Open(const std::string& dataset, const RowSchema& schema,
                                        const RowReaderOptions& options = {});

  RowReader(RowReader&&) noexcept;
  RowReader& operator=(RowReader&&) = delete;
  ~RowReader();

  // Reads the next row into `row`, a message of the schema. Returns false at the end of the file.
  absl::StatusOr<bool> Next(google::protobuf::Message* row);

  // Returns the place of the row that was read last.
  const RowPlace& place() const { return place_; }

  // Reads the row at that offset again; Next() must not follow.
  absl::Status ReadAt(int64_t offset, google::protobuf::Message* row);

 private:
  friend absl::Status ParseRow(absl::string_view line, const RowSchema& schema,
                               google::protobuf::Message* row);
  struct Parser;

  RowReader(std::string path, std::ifstream file, const RowSchema& schema,
            const RowReaderOptions& options);

  const std::string path_;
  std::ifstream file_;
  std::unique_ptr<Parser> parser_;
  const bool require_rows_;
  const size_t max_line_bytes_;
  std::string line_;
  RowPlace place_;
  int64_t next_offset_ = 0;
};

// Calls visit(row, place) for each row of the file of `Row` in the folder `dataset`, in the file's
// order, and ends at the first error of `visit`.
template <typename Row>
absl::Status ForEachRow(
    const std::string& dataset, const RowReaderOptions& options,
    const std::function<absl::Status(const Row& row, const RowPlace& place)>& visit) {
  absl::StatusOr<RowReader> reader = RowReader::Open(dataset, GetSchema<Row>(), options);
  if (!reader.ok()) return reader.status();
  Row row;
  while (true) {
    const absl::StatusOr<bool> more = reader->Next(&row);
    if (!more.ok() || !*more) return more.status();
    absl::Status status = visit(row, reader->place());
    if (!status.ok()) return status;
  }
}

// Parses one line. INVALID_ARGUMENT: it is not a row of the message.
absl::Status ParseRow(absl::string_view line, const RowSchema& schema,
                      google::protobuf::Message* row);

template <typename Row>
absl::StatusOr<Row> ParseRow(absl::string_view line) {
  Row row;
  absl::Status status = ParseRow(line, GetSchema<Row>(), &row);
  if (!status.ok()) return status;
  return row;
}

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_ROW_READER_H_
