#ifndef KERNELMILL_DATASET_EXPORT_VERDICT_JSON_H_
#define KERNELMILL_DATASET_EXPORT_VERDICT_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "dataset/output/row_writer.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// The fields of a record that a verdict gives; `kernelmill validate` prints them too.

// `license`, with its evidence.
void WriteLicense(const v1::License& license, RowWriter& row);

// "pass", "fail" or "exempt".
std::string OutcomeWord(const v1::RuleResult& result);

// `checks`, the outcome of each by name; null of those that nobody asked (of compilers, where the
// job compiles nothing). And `check_reasons`, why those failed that did, and the exempt ones are.
void WriteChecks(const v1::Verdict& verdict, RowWriter& row);

// `sensitive`: where secrets and e-mail addresses stand.
void WriteSensitive(const v1::Quality& quality, const v1::QualityPolicy& policy, RowWriter& row);

// `quality`: measures, and those places.
void WriteQuality(const v1::Quality& quality, const v1::QualityPolicy& policy, RowWriter& row);

void WriteTokens(absl::string_view name, const v1::TokenCounts& counts, RowWriter& row);

// What the kernel is there for and whose hardware it is for, and the rules that say so.
void WriteKindAndTarget(const v1::Verdict& verdict, RowWriter& row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_VERDICT_JSON_H_
