#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {
namespace {

// Well below the size limit of a message; one source has some kilobytes at most.
constexpr size_t kPartBytes = 1 << 20;

}  // namespace

// Returns the spec in parts: the settings without sources first, then its sources in parts of about
// kPartBytes. Merging the parts in order gives the spec.
std::vector<v1::JobSpec> SplitSpec(v1::JobSpec spec) {
  google::protobuf::RepeatedPtrField<v1::Source> sources;
  sources.Swap(spec.mutable_sources());
  std::vector<v1::JobSpec> parts;
  parts.push_back(std::move(spec));
  size_t bytes = kPartBytes;
  for (v1::Source& source : sources) {
    if (bytes >= kPartBytes) {
      parts.emplace_back();
      bytes = 0;
    }
    bytes += source.ByteSizeLong();
    parts.back().add_sources()->Swap(&source);
  }
  return parts;
}

}  // namespace kernelmill::coordinator
