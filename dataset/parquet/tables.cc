#include "dataset/parquet/tables.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/in_order.h"
#include "common/base/status.h"
#include "dataset/output/output_dir.h"
#include "dataset/parquet/columns.h"
#include "dataset/parquet/file.h"
#include "dataset/parquet/row_group.h"

namespace kernelmill::dataset {
namespace {

constexpr size_t kReadBytes = 1 << 20;
constexpr int64_t kScanBytes = 4 << 20;  // in which a thread looks for rows
constexpr std::array<absl::string_view, 3> kSplits = {"train", "validation", "test"};

// Appends `size` bytes of the file from `offset` on.
absl::Status AppendExtent(const FileDescriptor& file, int64_t offset, size_t size,
                          std::string* out) {
  const size_t begin = out->size();
  out->resize(begin + size);
  for (size_t done = 0; done < size;) {
    const ssize_t n = ::pread(file.get(), out->data() + begin + done, size - done,
                              offset + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "lines");
    if (n == 0) return absl::DataLossError("the file became shorter");
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Sha256OfFile(const FileDescriptor& file, int64_t size) {
  Sha256Stream hash;
  std::string bytes;
  for (int64_t offset = 0; offset < size; offset += static_cast<int64_t>(bytes.size())) {
    bytes.clear();
    RETURN_IF_ERROR(AppendExtent(
        file, offset, static_cast<size_t>(std::min<int64_t>(kReadBytes, size - offset)), &bytes));
    hash.Update(bytes);
  }
  return hash.FinishHex();
}

// A split of a table that is being written.
struct Split {
  SplitFiles result;
  std::optional<ParquetFile> file;
  int64_t file_json_bytes = 0;
};

// A table that is being written.
struct Writing {
  explicit Writing(const RowSchema& schema) : columns(schema.fields) {}

  Columns columns;
  bool has_splits = false;
  FileDescriptor lines;
  Table result;
  std::array<Split, kSplits.size()> splits;
};

// A row as a file of lines has it.
struct Line {
  uint32_t size = 0;  // with its newline
  uint8_t split = 0;  // of kSplits
};

// Rows of one split that become a row group.
struct Piece {
  Writing* table = nullptr;
  Split* split = nullptr;
  int64_t rows = 0;
  int64_t json_bytes = 0;
  std::vector<std::pair<int64_t, size_t>> extents = {};  // of the lines: offset and size

  void Add(int64_t offset, size_t size) {
    ++rows;
    json_bytes += static_cast<int64_t>(size);
    if (!extents.empty() &&
        extents.back().first + static_cast<int64_t>(extents.back().second) == offset) {
      extents.back().second += size;
    } else {
      extents.emplace_back(offset, size);
    }
  }
};

bool HasField(const Fields& fields, absl::string_view name) {
  return std::any_of(fields.begin(), fields.end(),
                     [name](const Field& field) { return field.name == name; });
}

// Which of kSplits a row is of. Within a JSON string a quote has a backslash before it: so what
// looks like this key is one, and the row needs no parsing here. Keys are sorted, and few come
// after it, while the long texts stand before it: so it is looked for from the end.
absl::StatusOr<uint8_t> SplitOf(absl::string_view line) {
  constexpr absl::string_view kKey = "\"split\":\"";
  const size_t at = line.rfind(kKey);
  if (at == absl::string_view::npos) return absl::InternalError("a row has no split");
  line.remove_prefix(at + kKey.size());
  for (uint8_t i = 0; i < kSplits.size(); ++i) {
    if (absl::StartsWith(line, kSplits[i]) && line[kSplits[i].size()] == '"') return i;
  }
  return absl::InternalError("a row is of a split that there is not");
}

// The rows that begin in [begin, begin + kScanBytes) of a file of `size` bytes.
class LineScanner {
 public:
  LineScanner(const FileDescriptor& file, int64_t size, int64_t begin)
      : file_(file), size_(size), begin_(std::max<int64_t>(begin - 1, 0)) {
    end_ = std::min(size, begin + kScanBytes);
    skips_first_ = begin > 0;  // the end of a row that began before, be it its newline alone
  }

  absl::StatusOr<std::vector<Line>> Run(bool has_splits) {
    std::vector<Line> lines;
    RETURN_IF_ERROR(Read(end_ - begin_));
    size_t at = 0;
    if (skips_first_) {
      ASSIGN_OR_RETURN(at, EndOfLine(0));
    }
    while (begin_ + static_cast<int64_t>(at) < end_) {
      ASSIGN_OR_RETURN(const size_t next, EndOfLine(at));
      Line line = {static_cast<uint32_t>(next - at), 0};
      if (has_splits) {
        ASSIGN_OR_RETURN(line.split, SplitOf(absl::string_view(buffer_).substr(at, line.size)));
      }
      lines.push_back(line);
      at = next;
    }
    return lines;
  }

 private:
  absl::Status Read(int64_t size) {
    return AppendExtent(file_, begin_ + static_cast<int64_t>(buffer_.size()),
                        static_cast<size_t>(size), &buffer_);
  }

  // What follows the first newline from `at` on.
  absl::StatusOr<size_t> EndOfLine(size_t at) {
    for (size_t searched = at;;) {
      const size_t newline = buffer_.find('\n', searched);
      if (newline != std::string::npos) return newline + 1;
      searched = buffer_.size();
      const int64_t left = size_ - begin_ - static_cast<int64_t>(searched);
      if (left == 0) return absl::InternalError("the last line has no end");
      RETURN_IF_ERROR(Read(std::min<int64_t>(kReadBytes, left)));
    }
  }

  const FileDescriptor& file_;
  const int64_t size_;
  const int64_t begin_;  // of the buffer
  int64_t end_ = 0;
  bool skips_first_ = false;
  std::string buffer_;
};

// Writes tables in steps: AddTables opens the files of lines; FindPieces finds which rows make
// which row group; Write encodes these on the threads and appends each to its file; Finish ends the
// files.
class TableWriter {
 public:
  TableWriter(const std::string& dir, const TableLimits& limits) : dir_(dir), limits_(limits) {}

  absl::Status AddTables(const std::vector<RowSchema>& schemas) {
    for (const RowSchema& schema : schemas) RETURN_IF_ERROR(AddTable(schema));
    return absl::OkStatus();
  }

  absl::Status FindPieces(int threads) {
    struct Scan {
      Writing* table;
      int64_t begin;
    };
    std::vector<Scan> scans;
    for (const std::unique_ptr<Writing>& table : tables_) {
      int64_t begin = 0;
      do {
        scans.push_back({table.get(), begin});
        begin += kScanBytes;
      } while (begin < table->result.lines.size);
    }
    RETURN_IF_ERROR(InOrder<std::vector<Line>>(
        threads, scans.size(), static_cast<size_t>(threads) + 1,
        [&](size_t i) -> absl::StatusOr<std::vector<Line>> {
          const Writing& table = *scans[i].table;
          LineScanner scanner(table.lines, table.result.lines.size, scans[i].begin);
          absl::StatusOr<std::vector<Line>> lines = scanner.Run(table.has_splits);
          if (!lines.ok()) return Annotate(lines.status(), table.result.lines.path);
          return lines;
        },
        [&](size_t i, const std::vector<Line>& lines) {
          if (scans[i].begin == 0) EndPieces();
          for (const Line& line : lines) AddLine(*scans[i].table, line);
          return absl::OkStatus();
        }));
    EndPieces();
    return absl::OkStatus();
  }

  absl::Status Write(int threads) {
    return InOrder<RowGroup>(
        threads, pieces_.size(), static_cast<size_t>(threads) + 1,
        [this](size_t i) { return Encode(pieces_[i]); },
        [this](size_t i, RowGroup group) { return Append(pieces_[i], std::move(group)); });
  }

  // The SHA-256 of each file of lines, of which a thread makes one: beside FindPieces and Write, of
  // which it takes nothing.
  absl::Status HashLines(int threads) {
    return InOrder<std::string>(
        threads, tables_.size(), tables_.size(),
        [this](size_t i) { return Sha256OfFile(tables_[i]->lines, tables_[i]->result.lines.size); },
        [this](size_t i, std::string sha256) {
          tables_[i]->result.lines.sha256 = std::move(sha256);
          return absl::OkStatus();
        });
  }

  absl::StatusOr<std::vector<Table>> Finish() {
    std::vector<Table> tables;
    for (const std::unique_ptr<Writing>& table : tables_) {
      RETURN_IF_ERROR(EndTable(*table));
      tables.push_back(std::move(table->result));
    }
    return tables;
  }

 private:
  static std::string Folder(const Writing& table) {
    return absl::StrCat(kTablesFolder, "/", table.result.config);
  }

  absl::Status AddTable(const RowSchema& schema) {
    tables_.push_back(std::make_unique<Writing>(schema));
    Writing& table = *tables_.back();
    table.has_splits = HasField(schema.fields, "split");
    table.result.config = std::string(absl::StripSuffix(schema.file, ".jsonl"));
    table.result.lines.path = schema.file;
    for (size_t i = 0; i < kSplits.size(); ++i) {
      table.splits[i].result.split = std::string(kSplits[i]);
    }
    std::error_code error;
    std::filesystem::create_directories(absl::StrCat(dir_, "/", Folder(table)), error);
    if (error) return ErrnoStatus(error.value(), Folder(table));
    table.lines =
        FileDescriptor(::open(absl::StrCat(dir_, "/", schema.file).c_str(), O_RDONLY | O_CLOEXEC));
    struct stat lines;
    if (!table.lines.is_open() || ::fstat(table.lines.get(), &lines) != 0) {
      return ErrnoStatus(errno, schema.file);
    }
    table.result.lines.size = lines.st_size;
    return absl::OkStatus();
  }

  // Takes the next row of the table.
  void AddLine(Writing& table, const Line& line) {
    Piece& piece = next_[line.split];
    piece.table = &table;
    piece.split = &table.splits[line.split];
    piece.Add(next_offset_, line.size);
    next_offset_ += line.size;
    if (piece.rows < limits_.group_rows && piece.json_bytes < limits_.group_bytes) return;
    pieces_.push_back(std::exchange(piece, {}));
  }

  // Ends what the table before has begun.
  void EndPieces() {
    for (Piece& piece : next_) {
      if (piece.rows > 0) pieces_.push_back(std::exchange(piece, {}));
    }
    next_offset_ = 0;
  }

  static absl::StatusOr<RowGroup> Encode(const Piece& piece) {
    std::string lines;
    for (const auto& [offset, size] : piece.extents) {
      RETURN_IF_ERROR(AppendExtent(piece.table->lines, offset, size, &lines));
    }
    absl::StatusOr<RowGroup> group = EncodeRowGroup(piece.table->columns, std::move(lines));
    if (absl::IsInvalidArgument(group.status())) {
      return absl::InternalError(
          absl::StrCat(piece.table->result.lines.path, ": ", group.status().message()));
    }
    return group;
  }

  absl::Status Append(const Piece& piece, RowGroup group) {
    Split& split = *piece.split;
    if (split.file && split.file_json_bytes + piece.json_bytes > limits_.file_bytes) {
      RETURN_IF_ERROR(EndFile(split));
    }
    if (!split.file) RETURN_IF_ERROR(StartFile(*piece.table, split));
    split.file_json_bytes += piece.json_bytes;
    split.result.json_bytes += piece.json_bytes;
    split.result.rows += piece.rows;
    return split.file->Append(std::move(group));
  }

  absl::Status StartFile(Writing& table, Split& split) {
    WrittenFile file;
    file.path = absl::StrFormat("%s/%s-%05d.parquet", Folder(table), split.result.split,
                                split.result.files.size());
    ASSIGN_OR_RETURN(split.file,
                     ParquetFile::Create(absl::StrCat(dir_, "/", file.path), &table.columns));
    split.file_json_bytes = 0;
    split.result.files.push_back(std::move(file));
    return absl::OkStatus();
  }

  static absl::Status EndFile(Split& split) {
    RETURN_IF_ERROR(split.file->Close());
    split.result.files.back().size = split.file->size();
    split.result.files.back().sha256 = split.file->sha256();
    split.file.reset();
    return absl::OkStatus();
  }

  absl::Status EndTable(Writing& table) {
    for (const Split& split : table.splits) table.result.rows += split.result.rows;
    if (table.result.rows == 0) RETURN_IF_ERROR(StartFile(table, table.splits[0]));
    for (Split& split : table.splits) {
      if (!split.file) continue;
      RETURN_IF_ERROR(EndFile(split));
      table.result.splits.push_back(std::move(split.result));
    }
    return absl::OkStatus();
  }

  const std::string& dir_;
  const TableLimits limits_;
  std::vector<std::unique_ptr<Writing>> tables_;
  std::vector<Piece> pieces_;  // in the order in which they are written
  // Of the table whose rows come: those that are not full yet, and where its next row begins.
  std::array<Piece, kSplits.size()> next_;
  int64_t next_offset_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Table>> WriteTables(const std::string& dir,
                                               const std::vector<RowSchema>& schemas, int threads,
                                               const TableLimits& limits) {
  TableWriter writer(dir, limits);
  RETURN_IF_ERROR(writer.AddTables(schemas));
  absl::Status hashed;
  std::thread hashing([&] { hashed = writer.HashLines(std::max(1, threads / 4)); });
  absl::Status written = writer.FindPieces(threads);
  if (written.ok()) written = writer.Write(threads);
  hashing.join();
  RETURN_IF_ERROR(written);
  RETURN_IF_ERROR(hashed);
  return writer.Finish();
}

}  // namespace kernelmill::dataset
