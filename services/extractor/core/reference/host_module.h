#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_HOST_MODULE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_HOST_MODULE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/reference.pb.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// A function or class of the host, or one that was made of statements. Its lines say what its names
// mean: they are looked up from there.
struct HostText {
  std::string path;
  std::string name;
  int first_line = 0;
  int last_line = 0;
  std::string text;
  std::vector<std::string> free_names;  // sorted
};

// Makes the modules of functions of the host, as link makes those of kernels (link/module.h): each
// function with all that it needs of the source. Remembers those of definitions.
class HostModules {
 public:
  // `max_bytes` bounds what is read for one module.
  HostModules(SourceScope& scope, size_t max_bytes) : scope_(scope), max_bytes_(max_bytes) {}

  // Makes a module; only `module`, `self_contained` and `unresolved_names` are set.
  v1::HostModule Make(const HostText& text);

  // Returns the module of the definition that holds the line; null if none does.
  const v1::HostModule* FindAt(const std::string& path, int line);
  // Returns the module of the definition that an origin means, the last if it has several; null if
  // there is no definition.
  const v1::HostModule* FindFor(const Origin& origin);
  // Returns the text of the same definition.
  static const v1::Definition* FindDefinition(const Origin& origin);

 private:
  const v1::HostModule* MakeFor(const v1::Definition& definition);

  SourceScope& scope_;
  const size_t max_bytes_;
  absl::flat_hash_map<const v1::Definition*, v1::HostModule> modules_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_HOST_MODULE_H_
