#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_KERNELS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_KERNELS_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/bindings.h"
#include "services/extractor/core/functions.h"
#include "services/extractor/core/imports.h"
#include "services/extractor/core/launcher.h"
#include "services/extractor/core/syntax_tree.h"
#include "services/extractor/core/text_lines.h"

namespace kernelmill::extractor {

// What is known of a file once it is parsed; all that is needed to describe its kernels. `text` is
// the file's own bytes, of the tree's text's length (see TextForParser).
struct ParsedFile {
  absl::string_view path;
  absl::string_view text;
  const SyntaxTree& tree;
  const LineIndex& lines;
  const ImportMap& imports;
  const Bindings& bindings;
};

// The whole record of one kernel but for what the link stage adds.
v1::Kernel DescribeKernel(const ParsedFile& file, const JitFunction& function,
                          const Launches& launches);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_KERNELS_H_
