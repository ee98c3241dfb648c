#ifndef KERNELMILL_COMMON_JOB_SOURCE_HOST_H_
#define KERNELMILL_COMMON_JOB_SOURCE_HOST_H_

#include <string>

#include "kernelmill/v1/job.pb.h"

namespace kernelmill::job {

// Whom fetching the source calls on: the host of its URL, "package index", "repository search", or
// empty for a local one. Malformed URLs have hosts of their own; nothing but politeness rests on
// this.
std::string HostOfSource(const v1::Source& source);

}  // namespace kernelmill::job

#endif  // KERNELMILL_COMMON_JOB_SOURCE_HOST_H_
