#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_VERDICT_JSON_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_VERDICT_JSON_H_

#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// The parts of a record that a verdict gives; `kernelmill validate` prints them too.

// A licence with its evidence.
Json LicenseJson(const v1::License& license);

// Whether each check of the seeds' list is passed, by name.
Json ChecksJson(const v1::Checks& checks);

// The outcome of each rule and why, by name.
Json RulesJson(const v1::Verdict& verdict);

// Measures, and where secrets and e-mail addresses stand.
Json QualityJson(const v1::Quality& quality, const v1::QualityPolicy& policy);

Json TokensJson(const v1::TokenCounts& counts);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_VERDICT_JSON_H_
