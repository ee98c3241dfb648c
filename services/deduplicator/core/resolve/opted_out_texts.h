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

// The number of lexical tokens below which a copy of an opted-out kernel is too generic to count
// within another kernel's module or launcher: a silu, a cdiv. As for holdouts (holdout_matcher.h).
inline constexpr int kLeastOptedOutTokens = 76;

// A map of the lines that opted-out kernels occupy in each source. It finds kernels whose own text,
// module or launcher includes one of them: those that contain all its lines of its file. A module
// may include lines of another source (v1::ModulePiece.used_source). Not thread-safe.
class OptedOutTexts {
 public:
  // Adds a source whose files other sources may use, under the name that pieces give it.
  void AddLending(int source, const std::string& name);

  // Adds an opted-out kernel. `named`: an entry names it; otherwise it is a copy of a named one.
  void Add(int source, uint32_t number, const v1::Kernel& kernel, bool named);

  // Returns true if kernels of the source may include an opted-out kernel.
  bool Has(int source) const;

  // An opted-out kernel that another kernel includes, and the including text.
  struct Found {
    absl::string_view text;  // "source", "module" or "launcher"
    uint32_t number = 0;
  };
  // Returns the first opted-out kernel that this one includes, other than itself; texts are tried
  // in the order above.
  std::optional<Found> FindIn(int source, uint32_t number, const v1::Kernel& kernel) const;

 private:
  struct Place {
    int first_line = 0;
    int last_line = 0;
    uint32_t number = 0;
  };
  // A source, and a path with its JSON pointer, if any.
  using File = std::pair<int, std::string>;

  static File GetFile(int source, absl::string_view path, const v1::Kernel& kernel);
  std::optional<File> GetFile(int source, const v1::ModulePiece& piece,
                              const v1::Kernel& kernel) const;
  std::optional<uint32_t> Within(const File& file, int first_line, int last_line,
                                 uint32_t but) const;

  absl::flat_hash_map<File, std::vector<Place>> places_;
  absl::flat_hash_set<int> sources_;  // the sources of places_
  absl::flat_hash_map<std::string, int> lending_;
};

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_CORE_RESOLVE_OPTED_OUT_TEXTS_H_
