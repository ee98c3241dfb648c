#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_TEMPLATES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_TEMPLATES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/text_lines.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

using python::ParsedText;

// A kernel's source that becomes Python only once it is filled in: a string that a file gives to
// PyTorch's TritonTemplate, or a whole Jinja file.
struct KernelTemplate {
  size_t content_begin = 0;  // begin of the string's content in the file; 0 for a whole file
  int first_line = 0;        // whole lines, including other code on the string's lines
  int last_line = 0;
  std::string name;
  std::string found_by;  // see v1::Kernel
};

// Finds the templates in strings, in the order of the text. If several share a line, the first
// counts.
std::vector<KernelTemplate> FindTemplates(const ParsedText& file);

// Returns whether a file is a template of a kernel, by its name and its text.
bool IsTemplateFile(absl::string_view path, absl::string_view text);
KernelTemplate MakeFileTemplate(absl::string_view path, const LineIndex& lines);

// Makes the record of a template. It has no role, signature and calls, because it is no function
// yet.
v1::Kernel DescribeTemplate(absl::string_view path, absl::string_view text, const LineIndex& lines,
                            const KernelTemplate& found);

// Returns whether a file's text can hold a template in a string. Cheap.
bool MayHoldTemplates(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_TEMPLATES_H_
