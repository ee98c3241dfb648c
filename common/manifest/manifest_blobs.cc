#include "common/manifest/manifest_blobs.h"

namespace kernelmill::manifest {

std::vector<cas::Digest> BlobsOf(const v1::DatasetManifest& manifest, const cas::Digest& digest) {
  std::vector<cas::Digest> blobs = {digest, manifest.clusters()};
  if (manifest.has_splits()) blobs.push_back(manifest.splits());
  for (const v1::ManifestSource& source : manifest.sources()) {
    if (source.has_tree()) blobs.push_back(source.tree());
    blobs.insert(blobs.end(), source.files().begin(), source.files().end());
    blobs.insert(blobs.end(), source.kernels().begin(), source.kernels().end());
    blobs.insert(blobs.end(), source.verdicts().begin(), source.verdicts().end());
    blobs.insert(blobs.end(), source.ir().begin(), source.ir().end());
  }
  return blobs;
}

}  // namespace kernelmill::manifest
