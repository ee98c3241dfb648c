#ifndef KERNELMILL_TESTS_FUZZ_CHECKS_H_
#define KERNELMILL_TESTS_FUZZ_CHECKS_H_

#include <cstdlib>
#include <string>

#include "common/base/hash.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Checks a condition that must hold for any bytes. libFuzzer keeps the input if it does not.
inline void Check(bool holds) {
  if (!holds) std::abort();
}

// Checks that a kernel is an exact span of its file and begins a line.
inline void CheckSpan(const v1::Kernel& kernel, const std::string& text) {
  const auto begin = static_cast<size_t>(kernel.first_byte());
  Check(begin <= text.size() && kernel.source().size() <= text.size() - begin);
  Check(text.compare(begin, kernel.source().size(), kernel.source()) == 0);
  Check(kernel.sha256() == Sha256Hex(kernel.source()));
  Check(1 <= kernel.first_line() && kernel.first_line() <= kernel.last_line());
  Check(begin == 0 || text[begin - 1] == '\n' || text[begin - 1] == '\r');
}

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_TESTS_FUZZ_CHECKS_H_
