// Tells whether any of the languages' markers stands in a text.
//
// The basic idea: three bytes of every second place are looked up in a small table, which says what
// marker they may be part of. A marker of four bytes or more holds three such bytes, at its first
// or its second byte, so that none is missed; nearly all places end with the one look.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "common/dsl/languages.h"

namespace kernelmill::dsl {
namespace {

class MarkerFinder {
 public:
  MarkerFinder() {
    for (const Language& language : Languages()) {
      for (const absl::string_view marker : language.markers) Add(marker);
      for (const absl::string_view marker : language.template_markers) Add(marker);
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
    absl::string_view marker;
    size_t offset;
    uint8_t next;
  };

  void Add(absl::string_view marker) {
    for (size_t offset = 0; offset < kStep; ++offset) {
      uint8_t& first = buckets_[Hash(marker.data() + offset)];
      parts_.push_back({marker, offset, first});
      first = static_cast<uint8_t>(parts_.size());  // from 1; 0 ends a chain
    }
  }

  static size_t Hash(const char* bytes) {
    const auto byte = [&](int at) { return uint32_t{static_cast<unsigned char>(bytes[at])}; };
    return ((byte(0) | byte(1) << 8 | byte(2) << 16) * 0x9e3779b1u) >> 19;
  }

  bool IsAt(absl::string_view text, size_t at, uint8_t part) const {
    for (; part != 0; part = parts_[part - 1].next) {
      const auto& [marker, offset, next] = parts_[part - 1];
      if (at >= offset && absl::StartsWith(text.substr(at - offset), marker)) return true;
    }
    return false;
  }

  std::array<uint8_t, 1 << 13> buckets_ = {};
  std::vector<Part> parts_;
};

}  // namespace

bool HasMarker(absl::string_view text) {
  static const auto& finder = *new MarkerFinder();
  return finder.FindIn(text);
}

}  // namespace kernelmill::dsl
