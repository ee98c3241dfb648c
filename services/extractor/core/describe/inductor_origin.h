#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDUCTOR_ORIGIN_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDUCTOR_ORIGIN_H_

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "common/python/syntax/text_lines.h"

namespace kernelmill::extractor {

// What the path of a file that TorchInductor wrote tells: of .../MODEL.GRAPH/output_code.py, where
// GRAPH is a number, model and graph.
v1::InductorOrigin OriginFromPath(absl::string_view path);

// Adds what the comments directly above `line` tell: where the kernel was cached, and the nodes of
// the model that it was made of.
void AddOriginFromComments(absl::string_view text, const LineIndex& lines, int line,
                           v1::InductorOrigin& origin);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_INDUCTOR_ORIGIN_H_
