#ifndef KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_STAGES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_STAGES_H_

#include <memory>
#include <vector>

#include "common/worker/stage.h"

namespace kernelmill::extractor {

// Makes the stages "extract", "link", "reference" and "history", in this order.
std::vector<std::unique_ptr<worker::Stage>> NewExtractorStages();

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_SERVER_EXTRACTOR_STAGES_H_
