#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEMPLATE_INDEX_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEMPLATE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/spdx/license_list.h"

namespace kernelmill::validator {

inline constexpr uint16_t kUnknownWord = 0xffff;
inline constexpr uint16_t kWildcard = 0;

// Finds which licence texts have runs of words in common with a text. Immutable.
class TemplateIndex {
 public:
  // A run of kShingle words that stands in a licence text.
  struct Entry {
    uint32_t hash = 0;
    uint16_t license = 0;  // index into spdx::LicenseTemplates()
    uint16_t at = 0;
  };
  static constexpr size_t kShingle = 4;

  // The one index of the list; made when first asked for, about 10 ms.
  static const TemplateIndex& Get();

  uint16_t NumberOf(absl::string_view word) const {
    const auto found = numbers_.find(word);
    return found == numbers_.end() ? kUnknownWord : found->second;
  }

  // What has the run of words that begins at `words`.
  absl::Span<const Entry> Find(const uint16_t* words) const;

  // How many runs of a licence text's body are looked for; of long texts it is a share.
  size_t RunsOf(size_t license) const { return runs_[license]; }

 private:
  TemplateIndex();
  void Add(size_t license);

  absl::flat_hash_map<absl::string_view, uint16_t> numbers_;
  std::vector<Entry> entries_;                     // by hash
  absl::flat_hash_map<uint32_t, uint32_t> first_;  // of a hash in entries_
  std::vector<size_t> runs_;
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TEMPLATE_INDEX_H_
