#include "services/exporter/core/place.h"

namespace kernelmill::exporter {

void SetPlace(Json& json, const DatasetIndex& index, uint32_t number) {
  SetText(json, "path", index.FileOf(number).path);
  const KernelEntry& kernel = index.kernels[number];
  if (kernel.json_pointer.has_value()) SetText(json, "json_pointer", *kernel.json_pointer);
}

}  // namespace kernelmill::exporter
