#ifndef KERNELMILL_COMMON_JOB_MIX_CHECK_H_
#define KERNELMILL_COMMON_JOB_MIX_CHECK_H_

#include "absl/status/status.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// What a mix may say: phases and corpora with names of their own (letters, digits, '.', '_' and
// '-'), tokens that are not negative, parts that name a config or a corpus that there is, and a
// weight or epochs, not both. A phase without tokens has epochs for all of its parts.
// INVALID_ARGUMENT is one line, "mix.phases[0].parts[1].weight: what".
absl::Status CheckMix(const v1::Mix& mix);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_MIX_CHECK_H_
