#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_COMPARISONS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_COMPARISONS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/reference/test_unit.h"

namespace kernelmill::extractor {

// A comparison of values, as a test writes it.
struct TestComparison {
  // An argument that says how much the values may differ. A default is of the helper's definition.
  struct Tolerance {
    std::string name;
    TestFile* file = nullptr;
    NodeId node = kNoNode;
  };
  NodeId node = kNoNode;
  int statement = 0;
  absl::string_view form;                        // v1::Comparison.form
  std::vector<std::pair<NodeId, NodeId>> pairs;  // which of the two is expected is not known here
  std::vector<Tolerance> tolerances;
};

// clang-format off
// Finds the comparisons of a test.
//
//   form            if
//   torch_testing   torch.testing.assert_close(a, b)
//   numpy_testing   numpy.testing.assert_allclose(a, b) and its like
//   triton_testing  triton.testing.assert_close(a, b)
//   allclose        torch.allclose(a, b), a.allclose(b), also of numpy and jax; isclose
//   equal           torch.equal(a, b), a.equal(b), (a == b).all(), torch.all(a == b)
//   difference      assert (a - b).abs().max() < x, also over a name: d = (a - b).abs(); and
//                   assert error(a, b) < x
//   gradcheck       gradcheck(f, inputs)
//   helper          a function of the source that compares its parameters in one of these forms, or
//                   one of another package whose name says so: assert_allclose_by_dtype(a, b)
//
// Arguments that are literals are skipped: check("output", a, b). A pair may also be one argument:
// check((a, b), (c, d)), and a name that stands for it.
// clang-format on
class ComparisonFinder {
 public:
  static constexpr size_t kMaxComparisons = 64;  // in one function

  ComparisonFinder(SourceScope& scope, const Reach& reach, TestFiles& files)
      : scope_(scope), reach_(reach), files_(files) {}

  std::vector<TestComparison> Find(TestUnit& unit);

 private:
  // A function that compares its parameters.
  struct Helper {
    bool pairs = false;  // each positional argument is a pair
    std::string first;   // the parameters that it compares
    std::string second;
    FunctionBody::Names parameters;
    TestFile* file = nullptr;
    NodeId function = kNoNode;
  };

  void ReadCall(TestUnit& unit, int statement, const python::Call& call,
                std::vector<TestComparison>& found);
  absl::string_view FindForm(const TestUnit& unit, const python::Call& call) const;
  bool ReadHelper(TestUnit& unit, const python::Call& call, TestComparison& comparison);
  std::shared_ptr<const Helper> FindHelper(const Origin& origin);
  std::shared_ptr<const Helper> ReadHelperBody(const Origin& origin);
  void ReadAssert(TestUnit& unit, int statement, std::vector<TestComparison>& found);
  bool ReadOrder(TestUnit& unit, int statement, NodeId comparison, TestComparison& added);
  bool FindDifference(TestUnit& unit, int statement, NodeId node, TestComparison& added, int depth);
  static bool AddPairs(const TestUnit& unit, int statement, NodeId node, TestComparison& added,
                       int depth = 0);
  void RemoveSameHelper(const TestUnit& unit, NodeId& first, NodeId& second) const;
  void AddTolerances(TestUnit& unit, const python::Call& call, const Helper* helper,
                     TestComparison& added) const;

  SourceScope& scope_;
  const Reach& reach_;
  TestFiles& files_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Helper>> helpers_;
  int depth_ = 0;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_COMPARISONS_H_
