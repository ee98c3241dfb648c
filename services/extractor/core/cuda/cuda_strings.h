#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_STRINGS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_STRINGS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/syntax/syntax_tree.h"
#include "services/extractor/core/cuda/string_text.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/file_values.h"

namespace kernelmill::extractor::cuda {

// A string literal of a Python file that may hold a language of C.
struct CudaLiteral {
  python::NodeId node;
  size_t begin;  // [begin, end) is its content in the file
  size_t end;
  int line;  // on which it begins
};

// A text with literals that may hold a language of C, as the file puts it together.
struct CudaString {
  StringText text;
  std::vector<CudaLiteral> literals;  // their functions are read in this text; in the file's order
  // For the body of a kernel: why it is not whole lines of one literal; empty if it is.
  absl::string_view loss = "";
};

// Finds the strings of a file that may hold CUDA or another language of C, in the order of their
// first literals. A literal counts if it has a marker of the language, such as __global__, and the
// file uses it: assigns, passes or returns it. A docstring is not used, and neither is what the
// file compares, raises or asserts. The body of a kernel, given to a dsl::BodyMaker, counts without
// a marker; its text has what the library writes around it (string_bodies.h).
//
// A literal's text is that of the expression around it, as far as the file shows it:
//
//   a b, a + b       both
//   f"..."           its fields, where they are constants
//   NAME, o.NAME     the value, if the file gives it one
//   [a, b], join     the elements, one a line, where a call gets them
//   dedent(a) etc.   a
//
// If the file uses a literal in several expressions, through names, the longest text counts, and
// the first of equals. Texts take no more than `max_bytes` together; the others are the literals
// alone.
std::vector<CudaString> FindCudaStrings(const ParsedFile& file, const FileValues& values,
                                        size_t max_bytes);

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_STRINGS_H_
