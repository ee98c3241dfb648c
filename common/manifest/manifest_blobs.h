#ifndef KERNELMILL_COMMON_MANIFEST_MANIFEST_BLOBS_H_
#define KERNELMILL_COMMON_MANIFEST_MANIFEST_BLOBS_H_

#include <vector>

#include "common/cas/digest.h"
#include "kernelmill/v1/dataset.pb.h"

namespace kernelmill::manifest {

// Every blob that a dataset needs, itself first: all that an export reads. What is held for it, and
// what a collection must not drop of it.
std::vector<cas::Digest> BlobsOf(const v1::DatasetManifest& manifest, const cas::Digest& digest);

}  // namespace kernelmill::manifest

#endif  // KERNELMILL_COMMON_MANIFEST_MANIFEST_BLOBS_H_
