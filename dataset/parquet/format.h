#ifndef KERNELMILL_DATASET_PARQUET_FORMAT_H_
#define KERNELMILL_DATASET_PARQUET_FORMAT_H_

#include <cstdint>

namespace kernelmill::dataset::parquet {

// Numbers of Parquet's metadata, as its parquet.thrift has them: what this writer uses.

enum Type : int32_t { kBoolean = 0, kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum ConvertedType : int32_t { kUtf8 = 0, kList = 3, kConvertedInt64 = 18 };
enum Repetition : int32_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum Encoding : int32_t { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum Codec : int32_t { kZstd = 6 };
enum PageType : int32_t { kDataPage = 0, kDictionaryPage = 2 };

inline constexpr char kMagic[] = "PAR1";

}  // namespace kernelmill::dataset::parquet

#endif  // KERNELMILL_DATASET_PARQUET_FORMAT_H_
