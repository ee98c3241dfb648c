#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_GENERATED_STRINGS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_GENERATED_STRINGS_H_

#include <cstddef>
#include <vector>

#include "common/python/parse/parsed_text.h"

namespace kernelmill::extractor {

using python::ParsedText;

// A string that a file hands to TorchInductor as the source of a kernel, a module of its own:
// async_compile.triton(name, '''...'''), or without the name.
struct GeneratedString {
  size_t begin;  // of the content, in the file
  size_t end;
  int line;            // on which the literal begins
  int statement_line;  // on which the statement around it begins
  // Whether the bytes are the text that the literal stands for: they are not where it has escapes,
  // a prefix other than r or u, or several parts.
  bool verbatim;
};

// All of them in the order of the text. A source that is no literal is none.
std::vector<GeneratedString> FindGeneratedStrings(const ParsedText& file);

// The lines of strings that a program writes kernels with: a line of such a string begins with
// Triton's or Gluon's decorator, as in code.writeline("@triton.jit"), and it is no docstring. What
// is written is not known, so that it is labelled and not extracted. Ascending.
std::vector<int> FindEmittedCode(const ParsedText& file);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_GENERATED_STRINGS_H_
