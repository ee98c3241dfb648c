#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_SOURCE_FACTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_SOURCE_FACTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/describe/kernels.h"

namespace kernelmill::extractor {

// Facts that definitions do not have, by file. Each file is read once, and its tree is not kept.
struct SourceFacts {
  using PathAndName = std::pair<std::string, std::string>;

  // A function that an operator's name is registered for: ("abs", abs), lib.impl("abs", abs),
  // @custom_op("ns::abs"). The name is without namespace and overload.
  struct Operator {
    std::string name;
    std::string path;
    std::string function;  // dotted, as the file has it
  };

  // The names that a class uses in its method `backward` alone, and in methods that only it uses.
  // Dotted names are there as well: a module may be used in both, and each of its members in one.
  absl::flat_hash_map<PathAndName, absl::flat_hash_set<std::string>> gradient_names;
  std::vector<Operator> operators;

  void Add(const ParsedFile& file);
};

// Returns the name of an operator without namespace and overload: add of aten::add.Tensor. Empty if
// the text is no operator's name.
absl::string_view OperatorName(absl::string_view text);

// Returns whether the path says that a file holds tests: test_x.py, x_test.py, tests/x.py.
bool IsTestPath(absl::string_view path);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_SOURCE_FACTS_H_
