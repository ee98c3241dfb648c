#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_REPORT_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_REPORT_H_

#include <vector>

#include "common/cas/digest.h"
#include "kernelmill/v1/crawl.pb.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/json.h"

namespace kernelmill::exporter {

// report.json: the ledger's sums over the whole dataset, by source and by category, how many kept
// kernels pass each check, and the inputs that failed.
Json Report(const DatasetIndex& index, const cas::Digest& dataset,
            std::vector<v1::Failure> failures);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_REPORT_H_
