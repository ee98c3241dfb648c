#ifndef KERNELMILL_COMMON_MANIFEST_TESTING_WRITE_FILES_H_
#define KERNELMILL_COMMON_MANIFEST_TESTING_WRITE_FILES_H_

#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::manifest {

// Makes files that contain a shard's kernels, so that the shard passes CheckSources(). Each
// `source` goes to the kernel's first line, or else after the previous kernel. Sets the kernels'
// places and hashes, and lists the files. In a JSON file, a pointer must be "" or "/INDEX/KEY",
// with the indices in order. A whole file (IsFile) gets the content that its kernels make, or keeps
// its own source if it has no kernels.
v1::FileShard WriteFiles(v1::KernelShard* shard);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_TESTING_WRITE_FILES_H_
