#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_NAME_WORDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_NAME_WORDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// "_words_of_a_name_", in small letters; capitals within a word begin one of their own. What is
// looked for in it may begin or end with '_', which is where a word does.
std::string WordsOf(absl::string_view name);

// Lists of fragments of names, all of which are looked for in one pass over a name. Immutable.
class Fragments {
 public:
  using List = std::initializer_list<absl::string_view>;

  struct Found {
    size_t list;
    absl::string_view fragment;  // without the '_' at its ends
  };

  // Fragments are of two letters at least, and string literals.
  explicit Fragments(const std::vector<List>& lists);

  // Of each list the first fragment that stands in `words`, if one does; in the lists' order.
  std::vector<Found> FindIn(absl::string_view words) const;

 private:
  struct Fragment {
    size_t list;
    absl::string_view text;
  };

  static uint8_t BucketOf(absl::string_view text) {
    return static_cast<uint8_t>(text[0] * 7 + text[1]);
  }

  std::vector<Fragment> fragments_;
  std::array<std::vector<size_t>, 256> buckets_;  // places of fragments, by their first letters
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_NAME_WORDS_H_
