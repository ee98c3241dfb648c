#include "dataset/parquet/row_group.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/status.h"
#include "dataset/parquet/encodings.h"

// Encodes the columns of a row group: each becomes one column chunk of one data page, with a
// dictionary page before it if strings repeat. Pages are compressed with zstd. Bounds of the values
// go into the footer, so that readers can skip row groups.
namespace kernelmill::dataset {
namespace {

constexpr int kCompressionLevel = 3;
constexpr size_t kMaxRangeBytes = 64;            // a longer string is no use as a bound
constexpr size_t kMaxDictionaryBytes = 1 << 20;  // of PLAIN values

template <typename T>
T PlainValue(const char* bytes) {
  T value;
  __builtin_memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
std::string PlainBytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

// The strings of a column in PLAIN form, without their lengths.
std::vector<absl::string_view> Strings(const ColumnValues& column) {
  std::vector<absl::string_view> strings;
  strings.reserve(column.value_count);
  for (size_t at = 0; at < column.values.size();) {
    const uint32_t size = PlainValue<uint32_t>(&column.values[at]);
    strings.emplace_back(column.values.data() + at + sizeof(size), size);
    at += sizeof(size) + size;
  }
  return strings;
}

using Range = std::optional<std::pair<std::string, std::string>>;

template <typename T>
Range NumberRange(const std::string& values) {
  if (values.empty()) return std::nullopt;
  T least = PlainValue<T>(values.data());
  T greatest = least;
  for (size_t at = sizeof(T); at < values.size(); at += sizeof(T)) {
    least = std::min(least, PlainValue<T>(&values[at]));
    greatest = std::max(greatest, PlainValue<T>(&values[at]));
  }
  return {{PlainBytes(least), PlainBytes(greatest)}};
}

// Zeros of either sign are equal: as a bound each stands for both.
Range DoubleRange(const std::string& values) {
  Range range = NumberRange<double>(values);
  if (!range) return range;
  if (PlainValue<double>(range->first.data()) == 0) range->first = PlainBytes(-0.0);
  if (PlainValue<double>(range->second.data()) == 0) range->second = PlainBytes(0.0);
  return range;
}

// Strings compare as bytes, as Parquet orders UTF-8.
Range StringRange(const std::vector<absl::string_view>& strings) {
  if (strings.empty()) return std::nullopt;
  const auto [least, greatest] = std::minmax_element(strings.begin(), strings.end());
  if (std::max(least->size(), greatest->size()) > kMaxRangeBytes) return std::nullopt;
  return {{std::string(*least), std::string(*greatest)}};
}

// Each string once, in PLAIN form, in the order in which they come; and for each value its number.
struct Dictionary {
  std::string values;
  std::vector<uint32_t> numbers;
  uint32_t size = 0;
};

// Makes no dictionary if it would not save enough: more than half of the strings are new, or it is
// large.
std::optional<Dictionary> MakeDictionary(const std::vector<absl::string_view>& strings) {
  Dictionary dictionary;
  absl::flat_hash_map<absl::string_view, uint32_t> seen;
  dictionary.numbers.reserve(strings.size());
  for (const absl::string_view text : strings) {
    const auto [found, is_new] = seen.try_emplace(text, dictionary.size);
    dictionary.numbers.push_back(found->second);
    if (!is_new) continue;
    ++dictionary.size;
    const uint32_t size = static_cast<uint32_t>(text.size());
    absl::StrAppend(&dictionary.values, PlainBytes(size), text);
    if (dictionary.size > strings.size() / 2) return std::nullopt;
    if (dictionary.values.size() > kMaxDictionaryBytes) return std::nullopt;
  }
  if (dictionary.size == 0) return std::nullopt;
  return dictionary;
}

// Eight booleans a byte, the first in the lowest bit.
std::string PackBooleans(const std::string& values) {
  std::string packed((values.size() + 7) / 8, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    packed[i / 8] = static_cast<char>(packed[i / 8] | values[i] << (i % 8));
  }
  return packed;
}

// Levels as a data page has them: their size in 32 bits first. Nothing where all are 0.
void AppendLevels(const std::vector<uint8_t>& levels, int highest, std::string* page) {
  if (highest == 0) return;
  std::string encoded;
  AppendHybrid(absl::MakeConstSpan(levels), BitWidth(highest), &encoded);
  absl::StrAppend(page, PlainBytes(static_cast<uint32_t>(encoded.size())), encoded);
}

}  // namespace

// The memory of an encoder, and the group that it is making.
class RowGroupEncoder::Encoding {
 public:
  Encoding() : context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {}

  absl::StatusOr<RowGroup> Encode(const Columns& columns, absl::string_view framed) {
    RETURN_IF_ERROR(Shred(columns, framed, &rows_));
    group_ = RowGroup();
    group_.rows = rows_.rows;
    for (size_t i = 0; i < rows_.columns.size(); ++i) {
      RETURN_IF_ERROR(AddColumn(columns.columns()[i], rows_.columns[i]));
    }
    return std::move(group_);
  }

 private:
  // Adds a column: levels, then values, as one page. A column without definition levels has one
  // value a row.
  absl::Status AddColumn(const Column& type, const ColumnValues& column) {
    ColumnChunk chunk;
    chunk.levels =
        type.max_definition > 0 ? static_cast<int64_t>(column.definitions.size()) : rows_.rows;
    chunk.nulls = chunk.levels - column.value_count;
    std::optional<Dictionary> dictionary;
    if (type.type == Field::Type::kString) {
      const std::vector<absl::string_view> strings = Strings(column);
      chunk.range = StringRange(strings);
      dictionary = MakeDictionary(strings);
    } else if (type.type == Field::Type::kInteger) {
      chunk.range = NumberRange<int64_t>(column.values);
    } else if (type.type == Field::Type::kNumber) {
      chunk.range = DoubleRange(column.values);
    }
    if (dictionary) {
      RETURN_IF_ERROR(AddPage(parquet::kDictionaryPage, dictionary->values, dictionary->size,
                              parquet::kPlain, &chunk));
      chunk.dictionary = true;
      chunk.dictionary_size = chunk.compressed_size;
    }
    page_.clear();
    AppendLevels(column.repetitions, type.max_repetition, &page_);
    AppendLevels(column.definitions, type.max_definition, &page_);
    if (dictionary) {
      const int width = std::max(1, BitWidth(dictionary->size - 1));
      // The numbers of a dictionary begin with their width in a byte.
      page_.push_back(static_cast<char>(width));
      AppendHybrid(absl::MakeConstSpan(dictionary->numbers), width, &page_);
    } else if (type.type == Field::Type::kBoolean) {
      absl::StrAppend(&page_, PackBooleans(column.values));
    } else {
      absl::StrAppend(&page_, column.values);
    }
    RETURN_IF_ERROR(AddPage(parquet::kDataPage, page_, chunk.levels,
                            dictionary ? parquet::kRleDictionary : parquet::kPlain, &chunk));
    group_.columns.push_back(std::move(chunk));
    return absl::OkStatus();
  }

  // Appends a page with its header. The uncompressed size counts the header too, as the format
  // wants.
  absl::Status AddPage(parquet::PageType type, const std::string& page, int64_t values,
                       parquet::Encoding encoding, ColumnChunk* chunk) {
    // Only grows: a string that is resized is filled with zeros.
    compressed_.resize(std::max(compressed_.size(), ZSTD_compressBound(page.size())));
    const size_t size = ZSTD_compressCCtx(context_.get(), compressed_.data(), compressed_.size(),
                                          page.data(), page.size(), kCompressionLevel);
    if (ZSTD_isError(size)) {
      return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(size)));
    }
    const size_t start = group_.bytes.size();
    AppendHeader(type, page.size(), size, values, encoding);
    chunk->uncompressed_size += static_cast<int64_t>(group_.bytes.size() - start + page.size());
    group_.bytes.append(compressed_, 0, size);
    chunk->compressed_size += static_cast<int64_t>(group_.bytes.size() - start);
    return absl::OkStatus();
  }

  // A PageHeader with a DataPageHeader or a DictionaryPageHeader.
  void AppendHeader(parquet::PageType type, size_t size, size_t compressed_size, int64_t values,
                    parquet::Encoding encoding) {
    ThriftWriter header(&group_.bytes);
    header.BeginStruct();
    header.I32(1, type);
    header.I32(2, static_cast<int32_t>(size));
    header.I32(3, static_cast<int32_t>(compressed_size));
    header.BeginStruct(type == parquet::kDataPage ? 5 : 7);
    header.I32(1, static_cast<int32_t>(values));
    header.I32(2, encoding);
    if (type == parquet::kDataPage) {
      header.I32(3, parquet::kRle);  // for definition levels
      header.I32(4, parquet::kRle);  // for repetition levels
    }
    header.End();
    header.End();
  }

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  ShreddedRows rows_;
  std::string page_;
  std::string compressed_;
  RowGroup group_;
};

RowGroupEncoder::RowGroupEncoder() : encoding_(std::make_unique<Encoding>()) {}
RowGroupEncoder::~RowGroupEncoder() = default;

absl::StatusOr<RowGroup> RowGroupEncoder::Encode(const Columns& columns, absl::string_view framed) {
  return encoding_->Encode(columns, framed);
}

}  // namespace kernelmill::dataset
