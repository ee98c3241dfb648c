#include "dataset/parquet/tables.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/in_order.h"
#include "common/base/status.h"
#include "dataset/output/dataset_files.h"
#include "dataset/output/files.h"
#include "dataset/parquet/columns.h"
#include "dataset/parquet/file.h"
#include "dataset/parquet/first_lines.h"
#include "dataset/parquet/row_group.h"
#include "dataset/rows/row_json.h"

namespace kernelmill::dataset {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;

constexpr size_t kReadBytes = 1 << 20;
constexpr std::array<absl::string_view, 3> kSplits = {"train", "validation", "test"};

// Returns the place in kSplits. Rows without a split are of train.
absl::StatusOr<size_t> FindSplit(const std::string& name) {
  if (name.empty()) return 0;
  const auto* const found = std::find(kSplits.begin(), kSplits.end(), name);
  if (found == kSplits.end()) {
    return absl::InternalError(absl::StrCat("a row has the unknown split \"", name, "\""));
  }
  return static_cast<size_t>(found - kSplits.begin());
}

// Reads the file again: hashing while writing would take the writer's time, which all threads wait
// for.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  Sha256Stream hash;
  std::string bytes(kReadBytes, '\0');
  while (true) {
    const ssize_t n = ::read(file.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, path);
    if (n == 0) return hash.FinishHex();
    hash.Update(absl::string_view(bytes).substr(0, static_cast<size_t>(n)));
  }
}

// Appends bytes of a file to another one.
absl::Status Copy(const FileDescriptor& from, int64_t offset, int64_t size, FileWriter* to) {
  std::string bytes;
  while (size > 0) {
    bytes.resize(static_cast<size_t>(std::min(size, static_cast<int64_t>(kReadBytes))));
    const ssize_t n = ::pread(from.get(), bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoStatus(n < 0 ? errno : EIO, "reading lines");
    RETURN_IF_ERROR(to->Append(absl::string_view(bytes).substr(0, static_cast<size_t>(n))));
    offset += n;
    size -= n;
  }
  return absl::OkStatus();
}

// Writes a file of lines anew, with some of them first. The old one is gone meanwhile.
absl::Status MoveToFront(const std::string& path, const FirstLines& lines,
                         const std::vector<FirstLines::Line>& first) {
  const FileDescriptor old(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!old.is_open() || ::unlink(path.c_str()) != 0) return ErrnoStatus(errno, path);
  ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(path));
  for (const FirstLines::Line& line : first) {
    RETURN_IF_ERROR(Copy(old, line.offset, line.size, &file));
  }
  int64_t offset = 0;
  for (const FirstLines::Line& line : first) {
    RETURN_IF_ERROR(Copy(old, offset, line.offset - offset, &file));
    offset = line.offset + line.size;
  }
  RETURN_IF_ERROR(Copy(old, offset, lines.bytes() - offset, &file));
  return file.Close();
}

// Rows of one split that become a row group.
struct Piece {
  size_t split = 0;
  bool ends_file = false;
  int64_t rows = 0;
  int64_t json_bytes = 0;
  std::vector<TempFile::Extent> extents = {};  // the places of the framed messages

  // Neighbouring rows of a split share an extent, so that a piece of one split's rows has only one.
  void Add(const TempFile::Extent& extent, int64_t json_size) {
    ++rows;
    json_bytes += json_size;
    if (!extents.empty() && extents.back().offset + extents.back().size == extent.offset) {
      extents.back().size += extent.size;
    } else {
      extents.push_back(extent);
    }
  }
};

// The memory in which a thread reads and encodes a piece.
struct Workbench {
  std::string framed;
  RowGroupEncoder encoder;
};

// Workbenches that are in no thread's hands: as many as there were threads at work at a time.
// Thread-safe.
class Workbenches {
 public:
  std::unique_ptr<Workbench> Take() {
    const absl::MutexLock lock(&mutex_);
    if (free_.empty()) return std::make_unique<Workbench>();
    std::unique_ptr<Workbench> bench = std::move(free_.back());
    free_.pop_back();
    return bench;
  }

  void Return(std::unique_ptr<Workbench> bench) {
    const absl::MutexLock lock(&mutex_);
    free_.push_back(std::move(bench));
  }

 private:
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Workbench>> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

// Appends to two texts at once and notes both sizes, so that the writer can cut them by rows.
void RenderedRows::Add(const RowSchema& schema, const Message& row, absl::string_view serialized) {
  const size_t lines = lines_.size();
  const size_t framed = framed_.size();
  AppendRowJson(schema, row, &lines_);
  lines_.push_back('\n');
  AppendFramed(serialized, &framed_);
  rows_.push_back({StableHash64(absl::string_view(lines_).substr(lines)),
                   static_cast<uint32_t>(lines_.size() - lines),
                   static_cast<uint32_t>(framed_.size() - framed),
                   schema.split == nullptr ? "" : row.GetReflection()->GetString(row, schema.split),
                   GetFilledFields(schema, row)});
}

void RenderedRows::Add(const RowSchema& schema, Message* row) {
  FillNotUtf8(schema, row);
  Add(schema, *row, row->SerializeAsString());
}

// A table that is being written: its lines, its waiting messages, and its Parquet files.
class TableWriter::Writing {
 public:
  static absl::StatusOr<std::unique_ptr<Writing>> Create(const std::string& dir,
                                                         const RowSchema& schema,
                                                         const TableLimits& limits) {
    const std::string folder = absl::StrCat(kTablesFolder, "/", GetConfig(schema));
    std::error_code error;
    std::filesystem::create_directories(absl::StrCat(dir, "/", folder), error);
    if (error) return ErrnoStatus(error.value(), folder);
    ASSIGN_OR_RETURN(FileWriter lines, FileWriter::Create(absl::StrCat(dir, "/", schema.file)));
    ASSIGN_OR_RETURN(TempFile waiting, TempFile::Create(dir));
    return std::unique_ptr<Writing>(
        new Writing(dir, schema, limits, std::move(lines), std::move(waiting)));
  }

  const Columns& columns() const { return columns_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::string lines_path() const { return absl::StrCat(dir_, "/", result_.lines.path); }

  // Writes the lines, and puts each row's message into the piece that its split is filling.
  absl::Status Append(const RenderedRows& rows) {
    RETURN_IF_ERROR(lines_.Append(rows.lines_));
    result_.lines.size += static_cast<int64_t>(rows.lines_.size());
    ASSIGN_OR_RETURN(TempFile::Extent extent, waiting_.Append(rows.framed_));
    for (const RenderedRows::Row& row : rows.rows_) {
      ASSIGN_OR_RETURN(const size_t split, FindSplit(row.split));
      // The messages were appended together; each row has the next part.
      extent.size = row.framed_bytes;
      first_lines_.Add(row.filled, row.json_bytes);
      AddRow(split, extent, row);
      extent.offset += extent.size;
    }
    return absl::OkStatus();
  }

  // Returns which rows have their lines first. The rows that are left of each split become a last,
  // smaller piece. Polars and `datasets` refuse a file without lines, so it goes.
  absl::StatusOr<std::vector<int64_t>> EndLines() {
    if (ended_) return first_rows_;
    ended_ = true;
    for (Piece& piece : next_) {
      if (piece.rows > 0) pieces_.push_back(std::exchange(piece, {}));
    }
    RETURN_IF_ERROR(lines_.Close());
    RETURN_IF_ERROR(waiting_.Flush());
    if (first_lines_.lines() == 0 && ::unlink(lines_path().c_str()) != 0) {
      return ErrnoStatus(errno, lines_path());
    }
    const std::vector<FirstLines::Line> first = first_lines_.Choose();
    for (const FirstLines::Line& line : first) first_rows_.push_back(line.number);
    if (!first.empty()) RETURN_IF_ERROR(MoveToFront(lines_path(), first_lines_, first));
    return first_rows_;
  }

  const std::string& config() const { return result_.config; }
  int64_t rows() const { return first_lines_.lines(); }

  void set_sha256_of_lines(std::string sha256) { result_.lines.sha256 = std::move(sha256); }

  // Thread-safe once the lines have ended, with a workbench for each thread.
  absl::StatusOr<RowGroup> Encode(const Piece& piece, Workbench* bench) const {
    bench->framed.clear();
    for (const TempFile::Extent& extent : piece.extents) {
      RETURN_IF_ERROR(waiting_.Read(extent, &bench->framed));
    }
    return bench->encoder.Encode(columns_, bench->framed);
  }

  // Begins another file if this group would make it too large, or if the group before ended its
  // file. The sizes are those of the JSON lines, so the cut does not depend on how well a column
  // compresses.
  absl::Status Append(const Piece& piece, RowGroup group) {
    Split& split = splits_[piece.split];
    if (split.file && split.file_json_bytes + piece.json_bytes > limits_.file_bytes) {
      RETURN_IF_ERROR(EndFile(split));
    }
    if (!split.file) RETURN_IF_ERROR(StartFile(split));
    split.file_json_bytes += piece.json_bytes;
    split.result.json_bytes += piece.json_bytes;
    split.result.rows += piece.rows;
    RETURN_IF_ERROR(split.file->Append(std::move(group)));
    return piece.ends_file ? EndFile(split) : absl::OkStatus();
  }

  // An empty table gets an empty file of train, so that it can be loaded.
  absl::StatusOr<Table> End() {
    for (const Split& split : splits_) result_.rows += split.result.rows;
    if (result_.rows == 0) RETURN_IF_ERROR(StartFile(splits_[0]));
    for (Split& split : splits_) {
      if (split.file) RETURN_IF_ERROR(EndFile(split));
      if (split.result.files.empty()) continue;
      result_.splits.push_back(std::move(split.result));
    }
    return std::move(result_);
  }

 private:
  struct Split {
    SplitFiles result;
    std::optional<ParquetFile> file;
    int64_t file_json_bytes = 0;
  };

  // "kernels" of kernels.jsonl.
  static std::string GetConfig(const RowSchema& schema) {
    return std::string(absl::StripSuffix(schema.file, ".jsonl"));
  }

  Writing(const std::string& dir, const RowSchema& schema, const TableLimits& limits,
          FileWriter lines, TempFile waiting)
      : dir_(dir),
        limits_(limits),
        columns_(schema),
        lines_(std::move(lines)),
        waiting_(std::move(waiting)) {
    result_.config = GetConfig(schema);
    result_.lines.path = schema.file;
    for (size_t i = 0; i < kSplits.size(); ++i) {
      splits_[i].result.split = std::string(kSplits[i]);
      next_[i].split = i;
    }
  }

  // A piece ends with the row that makes it full, by rows or by JSON bytes, and with a row that
  // ends its file. The chance of that grows with the row's size, so that the mean of the sizes of
  // files does not depend on the sizes of rows.
  void AddRow(size_t split, const TempFile::Extent& extent, const RenderedRows::Row& row) {
    Piece& piece = next_[split];
    piece.Add(extent, row.json_bytes);
    piece.ends_file = row.hash % static_cast<uint64_t>(limits_.mean_file_bytes) < row.json_bytes;
    if (!piece.ends_file && piece.rows < limits_.group_rows &&
        piece.json_bytes < limits_.group_bytes) {
      return;
    }
    pieces_.push_back(std::exchange(piece, {split}));
  }

  // Files are numbered from 0 within their split.
  absl::Status StartFile(Split& split) {
    WrittenFile file;
    file.path = absl::StrFormat("%s/%s/%s-%05d.parquet", kTablesFolder, result_.config,
                                split.result.split, split.result.files.size());
    ASSIGN_OR_RETURN(split.file,
                     ParquetFile::Create(absl::StrCat(dir_, "/", file.path), &columns_));
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

  const std::string dir_;
  const TableLimits limits_;
  const Columns columns_;
  FileWriter lines_;
  FirstLines first_lines_;
  std::vector<int64_t> first_rows_;  // once ended
  bool ended_ = false;
  TempFile waiting_;  // framed messages, in the order of the lines
  Table result_;
  std::array<Piece, kSplits.size()> next_;  // that are not full yet
  std::vector<Piece> pieces_;               // in the order in which they are written
  std::array<Split, kSplits.size()> splits_;
};

TableWriter::TableWriter(TableWriter&&) noexcept = default;
TableWriter::~TableWriter() = default;

absl::StatusOr<TableWriter> TableWriter::Create(const std::string& dir,
                                                const std::vector<RowSchema>& schemas,
                                                const TableLimits& limits) {
  TableWriter writer;
  for (const RowSchema& schema : schemas) {
    ASSIGN_OR_RETURN(std::unique_ptr<Writing> table, Writing::Create(dir, schema, limits));
    writer.tables_.push_back(std::move(table));
  }
  return writer;
}

// Finds the table by the type of its rows.
absl::StatusOr<TableWriter::Writing*> TableWriter::FindTable(const Descriptor& type) {
  for (const std::unique_ptr<Writing>& table : tables_) {
    if (table->columns().schema().prototype->GetDescriptor() == &type) return table.get();
  }
  return absl::InternalError(absl::StrCat(type.name(), " is not a row of a file"));
}

absl::Status TableWriter::Append(const Descriptor& type, const RenderedRows& rows) {
  ASSIGN_OR_RETURN(Writing * table, FindTable(type));
  return table->Append(rows);
}

// For tables with few rows, which are made one by one.
absl::Status TableWriter::Append(Message* row) {
  ASSIGN_OR_RETURN(Writing * table, FindTable(*row->GetDescriptor()));
  RenderedRows rows;
  rows.Add(table->columns().schema(), row);
  return table->Append(rows);
}

std::map<std::string, int64_t> TableWriter::CountRows() const {
  std::map<std::string, int64_t> rows;
  for (const std::unique_ptr<Writing>& table : tables_) rows[table->config()] = table->rows();
  return rows;
}

absl::StatusOr<std::vector<int64_t>> TableWriter::EndLines(const Descriptor& type) {
  ASSIGN_OR_RETURN(Writing * table, FindTable(type));
  return table->EndLines();
}

// One piece of work for each table that has lines.
absl::Status TableWriter::HashLines(int threads) {
  return InOrder<std::string>(
      threads, tables_.size(), tables_.size(),
      [this](size_t i) -> absl::StatusOr<std::string> {
        return tables_[i]->rows() == 0 ? "" : Sha256OfFile(tables_[i]->lines_path());
      },
      [this](size_t i, std::string sha256) {
        tables_[i]->set_sha256_of_lines(std::move(sha256));
        return absl::OkStatus();
      });
}

// Encodes the row groups of all tables on the threads and writes them in order, while another
// thread hashes the lines. The thread is joined before any error is returned.
absl::StatusOr<std::vector<Table>> TableWriter::Finish(int threads) {
  struct Work {
    Writing* table;
    const Piece* piece;
  };
  std::vector<Work> work;
  for (const std::unique_ptr<Writing>& table : tables_) {
    RETURN_IF_ERROR(table->EndLines().status());
    for (const Piece& piece : table->pieces()) work.push_back({table.get(), &piece});
  }
  // The hashes take nothing of what the row groups take.
  absl::Status hashed;
  std::thread hashing([&] { hashed = HashLines(std::max(1, threads / 4)); });
  Workbenches benches;
  const absl::Status written = InOrder<RowGroup>(
      threads, work.size(), static_cast<size_t>(threads) + 1,
      [&](size_t i) {
        std::unique_ptr<Workbench> bench = benches.Take();
        absl::StatusOr<RowGroup> group = work[i].table->Encode(*work[i].piece, bench.get());
        benches.Return(std::move(bench));
        return group;
      },
      [&](size_t i, RowGroup group) {
        return work[i].table->Append(*work[i].piece, std::move(group));
      });
  hashing.join();
  RETURN_IF_ERROR(written);
  RETURN_IF_ERROR(hashed);
  std::vector<Table> tables;
  for (const std::unique_ptr<Writing>& table : tables_) {
    ASSIGN_OR_RETURN(Table ended, table->End());
    tables.push_back(std::move(ended));
  }
  return tables;
}

}  // namespace kernelmill::dataset
