#ifndef KERNELMILL_DATASET_EXPORT_REDACT_H_
#define KERNELMILL_DATASET_EXPORT_REDACT_H_

#include <string>

#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// Says whether the policy has this finding redacted.
bool IsRedacted(const v1::Sensitive& finding, const v1::QualityPolicy& policy);

// The kernel with every text that the policy has redacted written over, in all of the kernel's
// fields except its name and paths: each letter and digit of it is x, so that all offsets hold. Its
// hashes are those of the texts as they were. Findings beyond their text are passed over.
v1::Kernel Redacted(v1::Kernel kernel, const v1::Quality& quality, const v1::QualityPolicy& policy);

// The same of a text that was made of the kernel's, and of what compilers say of it; `kernel` is as
// it was.
std::string RedactedText(const std::string& text, const v1::Kernel& kernel,
                         const v1::Quality& quality, const v1::QualityPolicy& policy);
v1::CompiledKernel RedactedEvidence(v1::CompiledKernel compiled, const v1::Kernel& kernel,
                                    const v1::Quality& quality, const v1::QualityPolicy& policy);

// Writes over what is found in the texts of a row of references, whose tests no stage has judged: a
// finding that the policy rejects is written over as well.
void RedactTexts(const v1::QualityPolicy& policy, v1::ReferenceRow* row);

// The same of a row of history.jsonl. Returns false if the policy rejects what is found, or if
// there is too much to redact.
bool RedactTexts(const v1::QualityPolicy& policy, v1::HistoryRow* row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_REDACT_H_
