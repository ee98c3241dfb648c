#ifndef KERNELMILL_COMMON_PYTHON_USAGE_VALUE_CLASSIFIER_H_
#define KERNELMILL_COMMON_PYTHON_USAGE_VALUE_CLASSIFIER_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::python {

// The class of a value, as far as its expression tells.
enum class ValueClass : uint8_t { kUnknown, kInt, kFloat, kBool };

// Tells the classes of the values of one function. Not thread-safe.
//
// The basic idea: it goes bottom up, from literals, casts and functions of known result to the
// values that are made of them. The class of a name is kept.
class ValueClassifier {
 public:
  // Both must outlive it. Each expression takes one of the steps; without any left, the classes of
  // all others are unknown.
  ValueClassifier(const Function& function, int64_t* steps_left)
      : function_(function), steps_left_(*steps_left) {}

  ValueClass Classify(const Expression& expression, int depth = 0);
  // Returns whether it is multiplied with a loaded value, which is most often a float.
  bool IsScaled(const Expression& value, int depth = 0);

 private:
  ValueClass ClassifyCall(const Expression& call, int depth);
  bool IsLoaded(const Expression& value) const;

  const Function& function_;
  int64_t& steps_left_;
  absl::flat_hash_map<absl::string_view, ValueClass> classes_;  // by name
};

}  // namespace kernelmill::python

#endif  // KERNELMILL_COMMON_PYTHON_USAGE_VALUE_CLASSIFIER_H_
