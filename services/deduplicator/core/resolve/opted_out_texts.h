#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_OPTED_OUT_TEXTS_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_OPTED_OUT_TEXTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::deduplicator {

// Lexical tokens below which a copy of an opted-out kernel is anybody's text where it is part of
// another kernel's module or launcher: a silu, a cdiv. As for holdouts (holdout_matcher.h).
inline constexpr int kLeastOptedOutTokens = 76;

// Where in each source opted-out kernels stand, so that kernels are found whose own text, module or
// launcher has one of them in it. A text has it where it is made of its lines, of the source that
// they are of: a module may have lines that another source lends (v1::ModulePiece.used_source). Not
// thread-safe.
class OptedOutTexts {
 public:
  // One of the sources that lend to one another, by the name that pieces have of it.
  void AddLending(int source, const std::string& name);

  // An opted-out kernel, by its number. `named` by an entry; else it is a copy of one that is.
  void Add(int source, uint32_t number, const v1::Kernel& kernel, bool named);

  // Whether kernels of the source may have any in them.
  bool Has(int source) const;

  // A kernel whose text a kernel of the source takes along, and as which of its texts.
  struct Found {
    absl::string_view text;  // "source", "module" or "launcher"
    uint32_t number = 0;
  };
  // The first, by these words; not the kernel itself.
  std::optional<Found> FindIn(int source, uint32_t number, const v1::Kernel& kernel) const;

 private:
  struct Place {
    int first_line = 0;
    int last_line = 0;
    uint32_t number = 0;
  };
  // Source, and path with any JSON pointer.
  using File = std::pair<int, std::string>;

  static File FileOf(int source, absl::string_view path, const v1::Kernel& kernel);
  std::optional<File> FileOf(int source, const v1::ModulePiece& piece,
                             const v1::Kernel& kernel) const;
  std::optional<uint32_t> Within(const File& file, int first_line, int last_line,
                                 uint32_t but) const;

  absl::flat_hash_map<File, std::vector<Place>> places_;
  absl::flat_hash_set<int> sources_;  // that they are of
  absl::flat_hash_map<std::string, int> lending_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_OPTED_OUT_TEXTS_H_
