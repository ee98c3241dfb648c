#include "services/exporter/core/parquet/tables.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
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
#include "services/exporter/core/output/output_dir.h"
#include "services/exporter/core/parquet/columns.h"
#include "services/exporter/core/parquet/file.h"
#include "services/exporter/core/parquet/row_group.h"

namespace kernelmill::exporter {
namespace {

constexpr size_t kReadBytes = 1 << 20;
constexpr std::array<absl::string_view, 3> kSplits = {"train", "validation", "test"};

// Reads a file line by line.
class LineReader {
 public:
  static absl::StatusOr<LineReader> Open(const std::string& path) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return ErrnoStatus(errno, path);
    return LineReader(std::move(file));
  }

  // The next line with its newline, until the next call; none at the end.
  absl::StatusOr<std::optional<absl::string_view>> Next() {
    for (size_t searched = begin_;;) {
      const size_t newline = buffer_.find('\n', searched);
      if (newline != std::string::npos) {
        const size_t begin = std::exchange(begin_, newline + 1);
        return absl::string_view(buffer_).substr(begin, begin_ - begin);
      }
      searched = buffer_.size() - begin_;
      buffer_.erase(0, std::exchange(begin_, 0));
      ASSIGN_OR_RETURN(const size_t read, Read());
      if (read > 0) continue;
      if (buffer_.empty()) return std::nullopt;
      return absl::InternalError("the last line has no end");
    }
  }

  int64_t size() const { return size_; }  // of what was read
  // The file, once all of it was read.
  FileDescriptor Release() { return std::move(file_); }

 private:
  explicit LineReader(FileDescriptor file) : file_(std::move(file)) {}

  absl::StatusOr<size_t> Read() {
    const size_t held = buffer_.size();
    buffer_.resize(held + kReadBytes);
    ssize_t read;
    do {
      read = ::read(file_.get(), buffer_.data() + held, kReadBytes);
    } while (read < 0 && errno == EINTR);
    if (read < 0) return ErrnoStatus(errno, "lines");
    buffer_.resize(held + static_cast<size_t>(read));
    size_ += read;
    return static_cast<size_t>(read);
  }

  FileDescriptor file_;
  std::string buffer_;
  size_t begin_ = 0;  // what is before has been given
  int64_t size_ = 0;
};

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
  FileDescriptor lines;
  Table result;
  std::array<Split, kSplits.size()> splits;
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
absl::StatusOr<size_t> SplitOf(absl::string_view line) {
  constexpr absl::string_view kKey = "\"split\":\"";
  const size_t at = line.rfind(kKey);
  if (at == absl::string_view::npos) return absl::InternalError("a row has no split");
  line.remove_prefix(at + kKey.size());
  for (size_t i = 0; i < kSplits.size(); ++i) {
    if (absl::StartsWith(line, kSplits[i]) && line[kSplits[i].size()] == '"') return i;
  }
  return absl::InternalError("a row is of a split that there is not");
}

// Writes tables in three steps: AddTables finds which rows make which row group; Write encodes
// these on the threads and appends each to its file; Finish ends the files.
class TableWriter {
 public:
  TableWriter(const std::string& dir, const TableLimits& limits) : dir_(dir), limits_(limits) {}

  absl::Status AddTables(const std::vector<RowSchema>& schemas, int threads) {
    for (const RowSchema& schema : schemas) RETURN_IF_ERROR(AddTable(schema));
    using Pieces = std::vector<Piece>;
    return InOrder<Pieces>(
        threads, tables_.size(), tables_.size(),
        [&](size_t i) -> absl::StatusOr<Pieces> {
          absl::StatusOr<Pieces> pieces =
              FindPieces(HasField(schemas[i].fields, "split"), *tables_[i]);
          if (!pieces.ok()) return Annotate(pieces.status(), schemas[i].file);
          return pieces;
        },
        [&](size_t, Pieces pieces) {
          std::move(pieces.begin(), pieces.end(), std::back_inserter(pieces_));
          return absl::OkStatus();
        });
  }

  absl::Status Write(int threads) {
    return InOrder<RowGroup>(
        threads, pieces_.size(), static_cast<size_t>(threads) + 1,
        [this](size_t i) { return Encode(pieces_[i]); },
        [this](size_t i, RowGroup group) { return Append(pieces_[i], std::move(group)); });
  }

  // The SHA-256 of each file of lines, of which a thread makes one: beside Write, of which it takes
  // nothing.
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
    table.result.config = std::string(absl::StripSuffix(schema.file, ".jsonl"));
    table.result.lines.path = schema.file;
    for (size_t i = 0; i < kSplits.size(); ++i) {
      table.splits[i].result.split = std::string(kSplits[i]);
    }
    std::error_code error;
    std::filesystem::create_directories(absl::StrCat(dir_, "/", Folder(table)), error);
    return error ? ErrnoStatus(error.value(), Folder(table)) : absl::OkStatus();
  }

  absl::StatusOr<std::vector<Piece>> FindPieces(bool has_splits, Writing& table) const {
    std::vector<Piece> pieces;
    ASSIGN_OR_RETURN(LineReader lines,
                     LineReader::Open(absl::StrCat(dir_, "/", table.result.lines.path)));
    std::array<Piece, kSplits.size()> next;
    for (size_t i = 0; i < kSplits.size(); ++i) next[i] = {&table, &table.splits[i]};
    for (int64_t offset = 0;;) {
      ASSIGN_OR_RETURN(const std::optional<absl::string_view> line, lines.Next());
      if (!line) break;
      size_t split = 0;
      if (has_splits) {
        ASSIGN_OR_RETURN(split, SplitOf(*line));
      }
      next[split].Add(offset, line->size());
      offset += static_cast<int64_t>(line->size());
      if (next[split].rows < limits_.group_rows && next[split].json_bytes < limits_.group_bytes) {
        continue;
      }
      pieces.push_back(std::exchange(next[split], {&table, &table.splits[split]}));
    }
    for (Piece& piece : next) {
      if (piece.rows > 0) pieces.push_back(std::move(piece));
    }
    table.result.lines.size = lines.size();
    table.lines = lines.Release();
    return pieces;
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
};

}  // namespace

absl::StatusOr<std::vector<Table>> WriteTables(const std::string& dir,
                                               const std::vector<RowSchema>& schemas, int threads,
                                               const TableLimits& limits) {
  TableWriter writer(dir, limits);
  RETURN_IF_ERROR(writer.AddTables(schemas, threads));
  absl::Status hashed;
  std::thread hashing([&] { hashed = writer.HashLines(std::max(1, threads / 4)); });
  const absl::Status written = writer.Write(threads);
  hashing.join();
  RETURN_IF_ERROR(written);
  RETURN_IF_ERROR(hashed);
  return writer.Finish();
}

}  // namespace kernelmill::exporter
