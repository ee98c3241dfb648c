#include "services/fetcher/core/content_filter.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"

namespace kernelmill::fetcher {
namespace {

// Without one of these words no name in a file can resolve to a DSL's, and it is no template. None
// is shorter than four bytes, which MarkerFinder counts on.
constexpr std::string_view kMarkers[] = {
    "triton",     "gluon",        "pallas", "TritonTemplate", "def_kernel", "cutlass",   "cute.",
    "cuda.tile",  "flydsl",       "flyc",   "helion",         "tilelang",   "prim_func", "nki.jit",
    "numba.cuda", "import numba", "taichi", "import warp",    "__global__", "__device__"};

bool IsLfsPointer(absl::string_view content) {
  constexpr size_t kMaxPointer = 1024;  // as the LFS specification bounds it
  return content.size() < kMaxPointer &&
         absl::StartsWith(content, "version https://git-lfs.github.com/spec/") &&
         absl::StrContains(content, "\noid ");
}

// Tells whether any of the markers stands in a text.
//
// The basic idea: three bytes of every second place are looked up in a small table, which says what
// marker they may be part of. A marker of four bytes or more holds three such bytes, at its first
// or its second byte, so that none is missed; nearly all places end with the one look.
class MarkerFinder {
 public:
  MarkerFinder() {
    for (const std::string_view marker : kMarkers) {
      for (size_t offset = 0; offset < kStep; ++offset) {
        uint8_t& first = buckets_[Hash(marker.data() + offset)];
        parts_.push_back({marker, offset, first});
        first = static_cast<uint8_t>(parts_.size());  // from 1; 0 ends a chain
      }
    }
  }

  bool FindIn(absl::string_view text) const {
    for (size_t at = 0; at + kBytes <= text.size(); at += kStep) {
      const uint8_t first = buckets_[Hash(text.data() + at)];
      if (first != 0 && IsAt(text, at, first)) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kStep = 2;
  static constexpr size_t kBytes = 3;

  struct Part {
    std::string_view marker;
    size_t offset;
    uint8_t next;
  };

  static size_t Hash(const char* bytes) {
    const auto byte = [&](int at) { return uint32_t{static_cast<unsigned char>(bytes[at])}; };
    return ((byte(0) | byte(1) << 8 | byte(2) << 16) * 0x9e3779b1u) >> 19;
  }

  bool IsAt(absl::string_view text, size_t at, uint8_t part) const {
    for (; part != 0; part = parts_[part - 1].next) {
      const auto& [marker, offset, next] = parts_[part - 1];
      if (at >= offset && absl::StartsWith(text.substr(at - offset),
                                           absl::string_view(marker.data(), marker.size()))) {
        return true;
      }
    }
    return false;
  }

  std::array<uint8_t, 1 << 13> buckets_ = {};
  std::vector<Part> parts_;
};

}  // namespace

absl::string_view ContentSkipReason(absl::string_view content) {
  if (IsLfsPointer(content)) return "lfs_pointer";
  static const auto& finder = *new MarkerFinder();
  return finder.FindIn(content) ? "" : kNoKernelMarker;
}

}  // namespace kernelmill::fetcher
