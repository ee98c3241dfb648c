#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LIVE_IMPORTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LIVE_IMPORTS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Returns whether a dotted module is installed wherever Triton is used: python::IsInstalledModule,
// and packaging, with which modules find out Triton's version.
bool IsAtHand(absl::string_view module);

// The effect of a statement's imports if only IsAtHand's modules are installed.
//
// The basic idea: a module takes in statements as a whole, such as a `try` in whose branches a name
// is bound, but not all branches run. Take `try: import x` with a handler that catches ImportError
// and does not raise. If x is not at hand, it is not needed: the handler runs, and the names that
// the rest of the block would have bound are lost, except those that the handler binds to something
// other than None. If the block imports only modules at hand, the handler does not run, and its
// imports are not needed. A member of a module, as in `from m import x`, may be absent even if m is
// installed, so then both branches count.
//
// A statement that loads files by computed names from its own folder (importlib.import_module
// together with __file__, or spec_from_file_location) needs the source's files: kOwnPlace.
struct LiveImports {
  std::vector<std::string> needed;  // dotted modules, relative ones with their dots; each once
  absl::flat_hash_set<std::string>
      lost;  // names that a statement of the module level does not bind
};

inline constexpr char kOwnPlace[] = ".";  // as in from . import x

LiveImports FindLiveImports(const v1::Definition& definition);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_LIVE_IMPORTS_H_
