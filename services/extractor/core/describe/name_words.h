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

// Returns the words of a name as "_words_of_a_name_", in small letters. A capital within a word
// begins a new one. A fragment that begins or ends with '_' matches only where a word begins or
// ends.
std::string SplitWords(absl::string_view name);

// Lists of name fragments, which are all searched for in one pass over a name. Immutable.
class Fragments {
 public:
  using List = std::initializer_list<absl::string_view>;

  struct Found {
    size_t list;
    absl::string_view fragment;  // without the '_' at its ends
  };

  // Fragments are string literals of at least two letters.
  explicit Fragments(const std::vector<List>& lists);

  // Returns for each list the first of its fragments that is in `words`, in the order of the lists.
  std::vector<Found> FindIn(absl::string_view words) const;

 private:
  struct Fragment {
    size_t list;
    absl::string_view text;
  };

  static uint8_t GetBucket(absl::string_view text) {
    return static_cast<uint8_t>(text[0] * 7 + text[1]);
  }

  std::vector<Fragment> fragments_;
  std::array<std::vector<size_t>, 256>
      buckets_;  // indexes of fragments, by their first two letters
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_NAME_WORDS_H_
