#ifndef KERNELMILL_DATASET_PARQUET_ENCODINGS_H_
#define KERNELMILL_DATASET_PARQUET_ENCODINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::dataset {

// The bits that a number from 0 to `highest` needs.
int BitWidth(uint32_t highest);

// Appends numbers of `width` bits, 1 to 32, in Parquet's RLE/bit-packed hybrid: runs of eight and
// more equal ones as a count and the number, what is between these in groups of eight, packed. A
// group that the last numbers do not fill is filled with zeros.
void AppendHybrid(absl::Span<const uint32_t> numbers, int width, std::string* out);
void AppendHybrid(absl::Span<const uint8_t> numbers, int width, std::string* out);

// Appends `value` in base 128, the low digits first; each byte but the last has its high bit set.
void AppendVarint(uint64_t value, std::string* out);

// Writes structs in Thrift's compact protocol, in which Parquet keeps its metadata. The fields of a
// struct come in the order of their ids. Not thread-safe.
class ThriftWriter {
 public:
  explicit ThriftWriter(std::string* out) : out_(*out) {}

  void Bool(int id, bool value);
  void Byte(int id, int8_t value);
  void I16(int id, int16_t value) { Integer(id, kI16, value); }
  void I32(int id, int32_t value) { Integer(id, kI32, value); }
  void I64(int id, int64_t value) { Integer(id, kI64, value); }
  void Binary(int id, absl::string_view value);

  // Begins a struct, which ends with the matching End. `id` is its field; an element of a list, or
  // the outermost struct, has no field.
  void BeginStruct(int id);
  void BeginStruct();
  void End();

  // Lists; the elements follow.
  void BeginStructs(int id, size_t size) { BeginList(id, kStruct, size); }
  void BeginI32s(int id, size_t size) { BeginList(id, kI32, size); }
  void BeginBinaries(int id, size_t size) { BeginList(id, kBinary, size); }
  void I32Element(int32_t value);
  void BinaryElement(absl::string_view value);

 private:
  enum Type {
    kTrue = 1,
    kFalse,
    kByte,
    kI16,
    kI32,
    kI64,
    kDouble,
    kBinary,
    kList,
    kSet,
    kMap,
    kStruct
  };

  void Header(int id, Type type);
  void Integer(int id, Type type, int64_t value);
  void BeginList(int id, Type type, size_t size);

  std::string& out_;
  std::vector<int> last_;  // the id last written, of each struct that is open
};

// The numbers of Parquet's metadata that this writer uses, as parquet.thrift has them.
namespace parquet {

enum Type : int32_t { kBoolean = 0, kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum ConvertedType : int32_t { kUtf8 = 0, kList = 3, kConvertedInt64 = 18 };
enum Repetition : int32_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum Encoding : int32_t { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum Codec : int32_t { kZstd = 6 };
enum PageType : int32_t { kDataPage = 0, kDictionaryPage = 2 };

inline constexpr char kMagic[] = "PAR1";

}  // namespace parquet

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_PARQUET_ENCODINGS_H_
