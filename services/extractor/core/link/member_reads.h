#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MEMBER_READS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MEMBER_READS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace kernelmill::extractor {

// What a text reads of names that stand for modules: of m in m.f(m.g.h) the members f and g.h.
// Immutable; owns what it holds.
class MemberReads {
 public:
  explicit MemberReads(absl::string_view text);

  // The chains of members that follow the name; sorted, each once. Null where it stands by itself
  // too, or in an f-string, so that more of it may be read.
  const std::vector<std::string>* Of(absl::string_view name) const;

 private:
  struct Reads {
    bool whole = false;  // it stands by itself
    std::vector<std::string> chains;
  };

  void AddWords(absl::string_view literal);

  absl::flat_hash_map<std::string, Reads> reads_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_MEMBER_READS_H_
