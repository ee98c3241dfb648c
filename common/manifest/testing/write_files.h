#ifndef KERNELMILL_COMMON_MANIFEST_TESTING_WRITE_FILES_H_
#define KERNELMILL_COMMON_MANIFEST_TESTING_WRITE_FILES_H_

#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::manifest {

// Makes up the files that a shard's kernels stand in, so that the shard tells the truth of them:
// each `source` on the line on which the kernel says that it begins, else after the one before.
// Sets the kernels' places and hashes, and lists the files. Of a JSON file a pointer is "" or
// "/INDEX/KEY", with the indices in order. A whole file (IsFile) is what its kernels make, or its
// own source where it has none.
v1::FileShard WriteFiles(v1::KernelShard* shard);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_TESTING_WRITE_FILES_H_
