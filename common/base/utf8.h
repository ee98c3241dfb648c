#ifndef KERNELMILL_COMMON_BASE_UTF8_H_
#define KERNELMILL_COMMON_BASE_UTF8_H_

#include <cstdint>
#include <string>

namespace kernelmill {

// Appends a character as UTF-8: a code point up to U+10FFFF that is not half of a surrogate pair.
void AppendUtf8(uint32_t code_point, std::string* out);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_UTF8_H_
