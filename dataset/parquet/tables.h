#ifndef KERNELMILL_DATASET_PARQUET_TABLES_H_
#define KERNELMILL_DATASET_PARQUET_TABLES_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

// A file of an export.
struct WrittenFile {
  std::string path;    // from the export's root: "data/kernels/train-00000.parquet"
  int64_t size = 0;    // bytes
  std::string sha256;  // hexadecimal
};

// The rows of one split.
struct SplitFiles {
  std::string split;  // "train", "validation" or "test"
  int64_t rows = 0;
  int64_t json_bytes = 0;
  std::vector<WrittenFile> files;
};

// A file of JSON lines and the same rows as Parquet.
struct Table {
  std::string config;  // "kernels"
  WrittenFile lines;   // "kernels.jsonl"; it is there only if the table has rows
  int64_t rows = 0;
  // In the order train, validation, test: those that have rows. If no split has rows, an empty
  // train, so that the table can be loaded.
  std::vector<SplitFiles> splits;
};

// The bounds by which tables are cut. Threads have no influence.
struct TableLimits {
  int64_t group_rows = 1000;
  int64_t group_bytes = 8 << 20;  // JSON bytes in a row group; its last row may pass them
  // JSON bytes in a file on average: a row ends its file by its own hash, so that a change of rows
  // changes only the files that have them.
  int64_t mean_file_bytes = 4 << 20;
  int64_t file_bytes = 512 << 20;  // JSON bytes in a file, except if a single row group has more
};

// Rows of one file as they are written: lines of JSON, and the messages that Parquet is made of. A
// thread may render some while another one writes others.
class RenderedRows {
 public:
  // Adds a row, whose `not_utf8` must be filled. `serialized` are the row's bytes.
  void Add(const RowSchema& schema, const google::protobuf::Message& row,
           absl::string_view serialized);
  // The same, with `not_utf8` filled and the row serialized here.
  void Add(const RowSchema& schema, google::protobuf::Message* row);

 private:
  friend class TableWriter;
  struct Row {
    uint64_t hash;          // its line, hashed
    uint32_t json_bytes;    // the size of its line
    uint32_t framed_bytes;  // the size of its message, with the size in front
    std::string split;      // "" if the rows of this file have none
    FilledFields filled;
  };

  std::string lines_;
  std::string framed_;
  std::vector<Row> rows_;
};

// Writes the files of rows of a dataset: each as JSON lines while the rows come, and as Parquet
// once all are there, as data/CONFIG/SPLIT-00000.parquet and so on, by the rows' `split`, in their
// order. All rows of a schema without that field are train. Readers of JSON lines guess types: a
// few lines that show all types come first (FirstLines), and a table without rows has no lines.
//
// The basic idea: Parquet stores columns, and a row group needs all its rows at once, while the
// rows of three splits and eight files come mixed. So the serialized messages wait in a temporary
// file for each table; which of them make a row group is known when the last of them comes. In
// memory are 16 bytes for each run of rows of a split, and while Parquet is written some four row
// groups for each thread.
//
// Not thread-safe, except that threads may append to different tables. RESOURCE_EXHAUSTED: the disk
// is full.
class TableWriter {
 public:
  // Creates the files of lines in `dir`. The schemas must outlive it.
  static absl::StatusOr<TableWriter> Create(const std::string& dir,
                                            const std::vector<RowSchema>& schemas,
                                            const TableLimits& limits = {});
  TableWriter(TableWriter&&) noexcept;
  TableWriter& operator=(TableWriter&&) = delete;
  ~TableWriter();

  // Appends rows to the file of that message type. INTERNAL: no table has it, or a split is
  // unknown.
  absl::Status Append(const google::protobuf::Descriptor& type, const RenderedRows& rows);
  // Appends a single row, and fills its `not_utf8`.
  absl::Status Append(google::protobuf::Message* row);

  // Returns how many rows each table has by now, by config.
  std::map<std::string, int64_t> CountRows() const;
  // Ends the lines of that message type; no row of it can be appended after. Returns which rows
  // have their lines first, counted from 0 as they were appended.
  absl::StatusOr<std::vector<int64_t>> EndLines(const google::protobuf::Descriptor& type);

  // Ends the files of lines and writes Parquet on `threads`. Nothing can be appended after.
  absl::StatusOr<std::vector<Table>> Finish(int threads);

 private:
  class Writing;

  TableWriter() = default;
  absl::StatusOr<Writing*> FindTable(const google::protobuf::Descriptor& type);
  absl::Status HashLines(int threads);

  std::vector<std::unique_ptr<Writing>> tables_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_TABLES_H_
