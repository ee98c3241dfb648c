#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_FEATURES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_FEATURES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/imports.h"
#include "common/python/syntax/syntax_tree.h"

namespace kernelmill::extractor {

using python::ImportMap;
using python::NodeId;
using python::SyntaxTree;

// Tells which parts of Triton's language the functions of a text name, called or not, and which
// options they give to calls. The words are those of the table in the source. Remembers the names
// that it has come by, which are few and come again and again. Refers to its arguments. Not
// thread-safe.
class FeatureFinder {
 public:
  FeatureFinder(const SyntaxTree& tree, const ImportMap& imports);

  // Of all that stands below `root`; sorted, each once.
  std::vector<absl::string_view> FeaturesOf(NodeId root);

 private:
  using Set = uint64_t;  // of places in the table

  bool MayBeOfLanguage(NodeId name) const;
  bool IsHead(absl::string_view text) const;
  Set OfName(NodeId name);
  Set FindOfName(NodeId name) const;

  const SyntaxTree& tree_;
  const ImportMap& imports_;
  const std::vector<absl::string_view> heads_;  // what names of the language begin with
  absl::flat_hash_map<absl::string_view, Set> known_;
};

// Of a name that is resolved to the end, "triton.language.dot"; sorted.
std::vector<absl::string_view> FeaturesOfName(absl::string_view resolved);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_FEATURES_H_
