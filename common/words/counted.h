#ifndef KERNELMILL_COMMON_WORDS_COUNTED_H_
#define KERNELMILL_COMMON_WORDS_COUNTED_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kernelmill {

// Returns "1 kernel" or "2 kernels" for the noun "kernel".
inline std::string Counted(int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_WORDS_COUNTED_H_
