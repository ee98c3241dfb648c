#include "services/coordinator/core/pieces.h"

#include <bit>

namespace kernelmill::coordinator {

Pieces::Range Pieces::RangeOf(int32_t files, Piece piece) {
  const auto node = static_cast<uint16_t>(piece & ~kSetAside);
  Range range{0, files};
  // The bits of the node below its highest one are the way down: 0 is the first half.
  for (int bit = std::bit_width(node) - 2; bit >= 0; --bit) {
    const int32_t half = (range.count + 1) / 2;
    if (node >> bit & 1) {
      range = {range.first + half, range.count - half};
    } else {
      range.count = half;
    }
  }
  return range;
}

std::vector<Piece> Pieces::Split(int32_t files, Piece piece) {
  if (piece & kSetAside) return {};
  const int32_t count = RangeOf(files, piece).count;
  if (count < 1 || piece >= kSetAside / 2) return {};
  if (count == 1) return {static_cast<Piece>(piece | kSetAside)};
  return {static_cast<Piece>(2 * piece), static_cast<Piece>(2 * piece + 1)};
}

std::vector<BlobRef> Pieces::InOrder(int32_t files) const {
  std::map<int32_t, BlobRef> by_first;
  for (const auto& [piece, kernels] : kernels_) by_first[RangeOf(files, piece).first] = kernels;
  std::vector<BlobRef> kernels;
  for (const auto& [first, ref] : by_first) kernels.push_back(ref);
  return kernels;
}

}  // namespace kernelmill::coordinator
