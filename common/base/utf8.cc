#include "common/base/utf8.h"

namespace kernelmill {

void AppendUtf8(uint32_t code_point, std::string* out) {
  const auto continuation = [&](int shift) {
    *out += static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  };
  if (code_point < 0x80) {
    *out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    *out += static_cast<char>(0xc0 | code_point >> 6);
    continuation(0);
  } else if (code_point < 0x10000) {
    *out += static_cast<char>(0xe0 | code_point >> 12);
    continuation(6);
    continuation(0);
  } else {
    *out += static_cast<char>(0xf0 | code_point >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

}  // namespace kernelmill
