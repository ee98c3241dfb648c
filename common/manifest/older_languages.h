#ifndef KERNELMILL_COMMON_MANIFEST_OLDER_LANGUAGES_H_
#define KERNELMILL_COMMON_MANIFEST_OLDER_LANGUAGES_H_

#include "kernelmill/v1/history.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::manifest {

// Names the languages of records that a release made which had numbers for them: datasets of schema
// 1. Records of newer ones stay as they are.
void NameLanguages(v1::KernelShard* shard);
void NameLanguages(v1::ChangeShard* shard);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_OLDER_LANGUAGES_H_
