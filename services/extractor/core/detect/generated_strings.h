#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_GENERATED_STRINGS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_GENERATED_STRINGS_H_

#include <cstddef>
#include <vector>

#include "common/python/parse/parsed_text.h"

namespace kernelmill::extractor {

using python::ParsedText;

// A string that a file gives to TorchInductor as a kernel's source, which is a module of its own:
// async_compile.triton(name, '''...'''), or without the name.
struct GeneratedString {
  size_t begin;  // [begin, end) is the string's content in the file
  size_t end;
  int line;            // the first line of the literal
  int statement_line;  // the first line of the statement around it
  // True if the bytes in the file are the string's value. They are not if the literal has escapes,
  // a prefix other than r or u, or several parts.
  bool verbatim;
};

// Finds all such strings in the order of the text. Sources that are no literals are left out.
std::vector<GeneratedString> FindGeneratedStrings(const ParsedText& file);

// Returns the lines of strings with which a program writes kernels: a line of the string begins
// with the decorator of Triton or Gluon, as in code.writeline("@triton.jit"), and the string is no
// docstring. The text that will be written is not known, so these are listed and not extracted.
// Ascending.
std::vector<int> FindEmittedCode(const ParsedText& file);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_GENERATED_STRINGS_H_
