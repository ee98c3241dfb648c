#include "services/validator/core/license/text/template_index.h"

#include <algorithm>
#include <tuple>

namespace kernelmill::validator {
namespace {

// Of a text with more words than this, each run is kept with a chance of kKept / words.
constexpr size_t kKept = 250;

uint32_t HashOf(const uint16_t* words) {
  uint64_t hash = 0;
  for (size_t i = 0; i < TemplateIndex::kShingle; ++i) hash = hash << 16 | words[i];
  hash *= 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

const TemplateIndex& TemplateIndex::Get() {
  static const auto* const index = new TemplateIndex();
  return *index;
}

TemplateIndex::TemplateIndex() {
  const absl::Span<const char* const> words = spdx::LicenseWords();
  numbers_.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) numbers_[words[i]] = static_cast<uint16_t>(i + 1);
  runs_.resize(spdx::LicenseTemplates().size());
  for (size_t license = 0; license < runs_.size(); ++license) Add(license);
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.hash, a.license, a.at) < std::tie(b.hash, b.license, b.at);
  });
  for (size_t i = 0; i < entries_.size(); ++i) {
    first_.emplace(entries_[i].hash, static_cast<uint32_t>(i));
  }
}

void TemplateIndex::Add(size_t license) {
  const spdx::LicenseTemplate& text = spdx::LicenseTemplates()[license];
  const uint32_t stride = static_cast<uint32_t>(std::max<size_t>(1, text.size / kKept));
  uint16_t words[kShingle];
  for (size_t at = 0; at + kShingle <= text.size; ++at) {
    std::copy(text.words + at, text.words + at + kShingle, words);
    if (std::find(words, words + kShingle, kWildcard) != words + kShingle) continue;
    const uint32_t hash = HashOf(words);
    if (hash % stride != 0) continue;
    entries_.push_back({hash, static_cast<uint16_t>(license), static_cast<uint16_t>(at)});
    if (at >= text.first && at + kShingle <= text.last) ++runs_[license];
  }
}

absl::Span<const TemplateIndex::Entry> TemplateIndex::Find(const uint16_t* words) const {
  const uint32_t hash = HashOf(words);
  const auto found = first_.find(hash);
  if (found == first_.end()) return {};
  size_t end = found->second;
  while (end < entries_.size() && entries_[end].hash == hash) ++end;
  return absl::MakeConstSpan(entries_).subspan(found->second, end - found->second);
}

}  // namespace kernelmill::validator
