#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDUCTOR_ORIGIN_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDUCTOR_ORIGIN_H_

#include "absl/strings/string_view.h"
#include "common/python/syntax/text_lines.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Reads the model and the graph from the path of a file that TorchInductor wrote:
// .../MODEL.GRAPH/output_code.py, where GRAPH is a number.
v1::InductorOrigin OriginFromPath(absl::string_view path);

// Adds the facts in the comments directly above `line`: the path at which the kernel was cached,
// and the nodes of the model that it was made from.
void AddOriginFromComments(absl::string_view text, const LineIndex& lines, int line,
                           v1::InductorOrigin& origin);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDUCTOR_ORIGIN_H_
