#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_JIT_NAMES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_JIT_NAMES_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// What the files of a source define to make kernels with, for those of its files that import it.
//
// The basic idea: an imported name stands in the file that its module names. A relative import says
// which; an absolute one means the file whose path ends in the module, and of several the one that
// shares most folders with the importer: where the source is installed from is not known.
class JitNames {
 public:
  // Adds what the shard's files define.
  void Add(const v1::KernelShard& shard);

  // The DSL that a dotted name leads to, as it is imported in the file at `path`, through files
  // that import it in turn; DSL_UNSPECIFIED if to none.
  v1::Dsl Find(absl::string_view path, absl::string_view imported) const;

 private:
  // `steps` are those left: how many names are looked at.
  const v1::JitName* Lookup(const std::string& path, absl::string_view imported, int& steps) const;
  const v1::JitName* Named(const std::string& path, absl::string_view name, int& steps) const;

  absl::flat_hash_map<std::pair<std::string, std::string>, v1::JitName> names_;  // by path and name
  // By path: the modules that the file imports '*' from, as JitName.imported without the '*'.
  absl::flat_hash_map<std::string, std::vector<std::string>> wildcards_;
  // Paths by each end of theirs that begins with a folder or file, without ".py" or "/__init__.py".
  absl::flat_hash_map<std::string, std::set<std::string>> paths_;
};

// Makes kernels of the shard's candidates that are decorated with what `names` leads to a DSL, and
// drops the others, and the shard's own names. Returns how many became kernels.
int DecideCandidates(const JitNames& names, v1::KernelShard& shard);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_JIT_NAMES_H_
