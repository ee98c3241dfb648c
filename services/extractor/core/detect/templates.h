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

// A source of kernels that is Python only once it is filled in: in a string that a file hands to
// PyTorch's TritonTemplate, or a whole file of Jinja.
struct KernelTemplate {
  size_t content_begin = 0;  // of the string's content, in the file; 0: the file
  int first_line = 0;        // whole lines, with what stands around the string on them
  int last_line = 0;
  std::string name;
  std::string found_by;  // as v1::Kernel
};

// Those in strings, in the order of the text. Of several that share a line the first counts.
std::vector<KernelTemplate> FindTemplates(const ParsedText& file);

// Whether a file is a template of a kernel, by its name and its text.
bool IsTemplateFile(absl::string_view path, absl::string_view text);
KernelTemplate TemplateOfFile(absl::string_view path, const LineIndex& lines);

// Its record: no role, no signature and no calls, since it is no function yet.
v1::Kernel DescribeTemplate(absl::string_view path, absl::string_view text, const LineIndex& lines,
                            const KernelTemplate& found);

// Whether a file's text can hold a template in a string. Cheap.
bool MayHoldTemplates(absl::string_view text);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DETECT_TEMPLATES_H_
