#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LIVE_IMPORTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LIVE_IMPORTS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Whether a module, dotted, is there wherever Triton is used: python::IsInstalledModule, and
// packaging, by which modules tell Triton's version.
bool IsAtHand(absl::string_view module);

// What the imports of a statement come to where IsAtHand's modules are installed and no others.
//
// The basic idea: a statement that a name is bound in the branches of comes whole, and not all of
// it runs. Of try: import x, with a handler that takes an ImportError and does not raise, an x that
// is not at hand is not needed: the handler runs, and what the rest of the block would have bound
// is lost but for names that the handler binds, to something else than None. Where the block
// imports nothing but modules at hand, the handler does not run: what it imports is not needed. A
// member of a module, as in from m import x, may be absent even so, and then both count.
//
// What loads files of its own place by names that it computes (importlib.import_module in a
// statement that reads __file__, spec_from_file_location) needs the source's files: kOwnPlace.
struct LiveImports {
  std::vector<std::string> needed;  // dotted modules, relative ones with their dots; each once
  absl::flat_hash_set<std::string> lost;  // names, of a statement of the module level
};

inline constexpr char kOwnPlace[] = ".";  // as in from . import x

LiveImports LiveImportsOf(const v1::Definition& definition);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LIVE_IMPORTS_H_
