#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_VERDICT_JSON_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_VERDICT_JSON_H_

#include <string>

#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// The parts of a record that a verdict gives; `kernelmill validate` prints them too.

// A licence with its evidence.
Json LicenseJson(const v1::License& license);

// "pass", "fail" or "exempt".
std::string OutcomeWord(const v1::RuleResult& result);

// The outcome of each check, by name; null of those that nobody asked (of compilers, where the job
// compiles nothing).
Json ChecksJson(const v1::Verdict& verdict);

// Why the checks failed that did, and why the exempt ones are: a list of {check, reason}.
Json CheckReasonsJson(const v1::Verdict& verdict);

// Where secrets and e-mail addresses stand.
Json SensitiveJson(const v1::Quality& quality, const v1::QualityPolicy& policy);

// Measures, and where secrets and e-mail addresses stand.
Json QualityJson(const v1::Quality& quality, const v1::QualityPolicy& policy);

Json TokensJson(const v1::TokenCounts& counts);

// What the kernel is there for and whose hardware it is for, and the rules that say so.
void SetKindAndTarget(const v1::Verdict& verdict, Json& row);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_VERDICT_JSON_H_
