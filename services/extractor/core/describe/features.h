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

// Finds the features of Triton's language that the functions of a text use: names of the language,
// called or not, and options of calls. The table in features.cc has the words. Caches names,
// because a text has few and repeats them. Refers to its arguments. Not thread-safe.
class FeatureFinder {
 public:
  FeatureFinder(const SyntaxTree& tree, const ImportMap& imports);

  // Returns the features below `root`; sorted, each once.
  std::vector<absl::string_view> FindFeatures(NodeId root);

 private:
  using Set = uint64_t;  // bits of rows in the table

  bool MayBeOfLanguage(NodeId name) const;
  bool IsHead(absl::string_view text) const;
  Set ReadName(NodeId name);
  Set ResolveName(NodeId name) const;

  const SyntaxTree& tree_;
  const ImportMap& imports_;
  const std::vector<absl::string_view> heads_;  // first parts of the text's names for the language
  absl::flat_hash_map<absl::string_view, Set> known_;
};

// Returns the features of a resolved name, "triton.language.dot"; sorted.
std::vector<absl::string_view> FindFeatures(absl::string_view resolved);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_FEATURES_H_
