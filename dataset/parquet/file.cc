#include "dataset/parquet/file.h"

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "dataset/parquet/encodings.h"

// A Parquet file is the magic "PAR1", the row groups, the footer, its size in 32 bits, and the
// magic again. The footer (FileMetaData, in Thrift) has the schema and the place of every column,
// so it is written last, and the file is hashed on the way. The numbers below are the ids of fields
// in parquet.thrift.
namespace kernelmill::dataset {
namespace {

// Returns the storage type. Strings are byte arrays; structs have no column of their own.
parquet::Type PhysicalType(Field::Type type) {
  switch (type) {
    case Field::Type::kInteger:
      return parquet::kInt64;
    case Field::Type::kNumber:
      return parquet::kDouble;
    case Field::Type::kBoolean:
      return parquet::kBoolean;
    case Field::Type::kString:
    case Field::Type::kStruct:  // has none
      break;
  }
  return parquet::kByteArray;
}

// The schema is a list: each field, then those that it holds.
class SchemaWriter {
 public:
  explicit SchemaWriter(ThriftWriter* out) : out_(*out) {}

  // Counts the elements of the schema below the root: a list has two groups more than a plain
  // field.
  static size_t Count(const std::vector<ColumnNode>& nodes) {
    size_t count = 0;
    for (const ColumnNode& node : nodes) {
      count += 1 + (node.field->list ? 2 : 0) + Count(node.nodes);
    }
    return count;
  }

  // The root is a group with the columns; its name does not matter to readers.
  void Write(const Columns& columns) {
    out_.BeginStructs(2, 1 + Count(columns.nodes()));
    out_.BeginStruct();
    out_.Binary(4, "schema");
    out_.I32(5, static_cast<int32_t>(columns.nodes().size()));
    out_.End();
    for (const ColumnNode& node : columns.nodes()) WriteNode(node);
  }

 private:
  // A list is three levels: a group marked as LIST, a repeated group "list", and the value
  // "element".
  void WriteNode(const ColumnNode& node) {
    if (!node.field->list) return WriteValue(node, node.field->name);
    WriteGroup(parquet::kRequired, node.field->name, 1, /*list=*/true);
    WriteGroup(parquet::kRepeated, "list", 1, /*list=*/false);
    WriteValue(node, "element");
  }

  void WriteValue(const ColumnNode& node, absl::string_view name) {
    const parquet::Repetition repetition =
        node.field->nullable ? parquet::kOptional : parquet::kRequired;
    if (node.field->type != Field::Type::kStruct) return WriteLeaf(*node.field, repetition, name);
    WriteGroup(repetition, name, node.nodes.size(), /*list=*/false);
    for (const ColumnNode& inner : node.nodes) WriteNode(inner);
  }

  void WriteGroup(parquet::Repetition repetition, absl::string_view name, size_t fields,
                  bool list) {
    out_.BeginStruct();
    out_.I32(3, repetition);
    out_.Binary(4, name);
    out_.I32(5, static_cast<int32_t>(fields));
    if (list) {
      out_.I32(6, parquet::kList);
      WriteLogicalType(3);
    }
    out_.End();
  }

  // Strings and integers have a converted type for old readers and a logical type for new ones;
  // doubles and booleans need none.
  void WriteLeaf(const Field& field, parquet::Repetition repetition, absl::string_view name) {
    out_.BeginStruct();
    out_.I32(1, PhysicalType(field.type));
    out_.I32(3, repetition);
    out_.Binary(4, name);
    if (field.type == Field::Type::kString) {
      out_.I32(6, parquet::kUtf8);
      WriteLogicalType(1);
    } else if (field.type == Field::Type::kInteger) {
      out_.I32(6, parquet::kConvertedInt64);
      out_.BeginStruct(10);  // LogicalType
      out_.BeginStruct(10);  // IntType
      out_.Byte(1, 64);      // bits
      out_.Bool(2, true);    // signed
      out_.End();
      out_.End();
    }
    out_.End();
  }

  // A LogicalType whose kind says all: 1 is a string, 3 a list.
  void WriteLogicalType(int kind) {
    out_.BeginStruct(10);
    out_.BeginStruct(kind);
    out_.End();
    out_.End();
  }

  ThriftWriter& out_;
};

// Writes a ColumnChunk, whose first page is at `offset` of the file.
void WriteColumn(const Column& type, const ColumnChunk& chunk, int64_t offset, ThriftWriter& out) {
  out.BeginStruct();
  out.I64(2, 0);       // file_offset: deprecated
  out.BeginStruct(3);  // ColumnMetaData
  out.I32(1, PhysicalType(type.type));
  out.BeginI32s(2, chunk.dictionary ? 3 : 2);
  out.I32Element(parquet::kPlain);
  out.I32Element(parquet::kRle);
  if (chunk.dictionary) out.I32Element(parquet::kRleDictionary);
  out.BeginBinaries(3, type.path.size());
  for (const std::string& name : type.path) out.BinaryElement(name);
  out.I32(4, parquet::kZstd);
  out.I64(5, chunk.levels);
  out.I64(6, chunk.uncompressed_size);
  out.I64(7, chunk.compressed_size);
  out.I64(9, offset + chunk.dictionary_size);
  if (chunk.dictionary) out.I64(11, offset);
  out.BeginStruct(12);  // Statistics
  out.I64(3, chunk.nulls);
  if (chunk.range) {
    out.Binary(5, chunk.range->second);  // max_value
    out.Binary(6, chunk.range->first);   // min_value
  }
  out.End();
  out.End();
  out.End();
}

// Writes a RowGroup. Columns follow each other without gaps, so their offsets are sums.
void WriteRowGroup(const Columns& columns, const RowGroup& group, int64_t offset, size_t ordinal,
                   ThriftWriter& out) {
  int64_t uncompressed = 0;
  int64_t at = offset;
  out.BeginStruct();
  out.BeginStructs(1, group.columns.size());
  for (size_t i = 0; i < group.columns.size(); ++i) {
    WriteColumn(columns.columns()[i], group.columns[i], at, out);
    uncompressed += group.columns[i].uncompressed_size;
    at += group.columns[i].compressed_size;
  }
  out.I64(2, uncompressed);
  out.I64(3, group.rows);
  out.I64(5, offset);
  out.I64(6, at - offset);
  if (ordinal <= INT16_MAX) out.I16(7, static_cast<int16_t>(ordinal));
  out.End();
}

}  // namespace

absl::StatusOr<ParquetFile> ParquetFile::Create(const std::string& path, const Columns* columns) {
  ASSIGN_OR_RETURN(FileWriter writer, FileWriter::Create(path));
  ParquetFile file(std::move(writer), columns);
  RETURN_IF_ERROR(file.Write(parquet::kMagic));
  return file;
}

absl::Status ParquetFile::Write(absl::string_view bytes) {
  hash_->Update(bytes);
  size_ += static_cast<int64_t>(bytes.size());
  return file_.Append(bytes);
}

// Writes the bytes at once and keeps only what the footer needs.
absl::Status ParquetFile::Append(RowGroup group) {
  const int64_t offset = size_;
  RETURN_IF_ERROR(Write(group.bytes));
  group.bytes = std::string();
  rows_ += group.rows;
  groups_.emplace_back(offset, std::move(group));
  return absl::OkStatus();
}

// Writes the footer. The hash covers the whole file, so it is known only now.
absl::Status ParquetFile::Close() {
  std::string footer;
  ThriftWriter out(&footer);
  out.BeginStruct();  // FileMetaData
  out.I32(1, 2);      // version
  SchemaWriter(&out).Write(*columns_);
  out.I64(3, rows_);
  out.BeginStructs(4, groups_.size());
  for (size_t i = 0; i < groups_.size(); ++i) {
    WriteRowGroup(*columns_, groups_[i].second, groups_[i].first, i, out);
  }
  out.Binary(6, "kernelmill");  // created_by
  // The order of each column's values that the ranges are of: its type's own.
  out.BeginStructs(7, columns_->columns().size());
  for (size_t i = 0; i < columns_->columns().size(); ++i) {
    out.BeginStruct();
    out.BeginStruct(1);
    out.End();
    out.End();
  }
  out.End();
  const uint32_t size = static_cast<uint32_t>(footer.size());
  footer.append(reinterpret_cast<const char*>(&size), sizeof(size));
  RETURN_IF_ERROR(Write(absl::StrCat(footer, parquet::kMagic)));
  RETURN_IF_ERROR(file_.Close());
  sha256_ = hash_->FinishHex();
  return absl::OkStatus();
}

}  // namespace kernelmill::dataset
