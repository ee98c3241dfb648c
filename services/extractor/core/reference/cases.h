#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_CASES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_CASES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/reference.pb.h"
#include "services/extractor/core/reference/function_body.h"
#include "services/extractor/core/reference/test_file.h"

namespace kernelmill::extractor {

// Values that a test takes together for some of its names: a parametrize, a fixture with params, a
// loop over a list, an assignment of a literal, what a benchmark varies.
struct CaseAxis {
  struct Value {
    std::string text;
    bool literal = false;
    std::string dotted;  // the name, if the value is one: torch.float32, reference_softmax
    std::string path;    // of the file that has the name
    std::optional<std::string> string;  // the content, if it is a string
  };
  std::vector<std::string> names;
  std::vector<std::vector<Value>> rows;  // one value for each name
  std::string origin;                    // ReferenceCase.Value.origin
};

// Reads the values of a test's parameters. Values of a list in another file of the source are read
// there.
//
// The basic idea: a list is taken apart as far as it is written, through names, sums and both
// branches of a condition, where the longer one counts. Other expressions are evaluated
// (common/python/evaluate); a function of another file is evaluated as if it were called there.
// Unknown values stay as written.
class CaseReader {
 public:
  static constexpr size_t kMaxCases = 256;    // written of an axis
  static constexpr size_t kMaxRows = 1024;    // rows of an axis
  static constexpr size_t kMaxText = 1024;    // bytes in a value
  static constexpr size_t kMaxLiterals = 32;  // a test's assignments of literals

  CaseReader(SourceScope& scope, TestFiles& files) : scope_(scope), files_(files) {}

  // Returns the axes of a test: those of the class around it, its own, its fixtures, its loops and
  // literals.
  std::vector<CaseAxis> ReadAxes(TestFile& file, const FunctionBody& test);

  // Writes a record for each row of each axis. The test's cases are the product, which is only
  // counted: it repeats each value many times. If an axis has more than kMaxCases rows, takes that
  // many, spread evenly.
  static void AddCases(const std::vector<CaseAxis>& axes, v1::TestReference& test);

  // Reads one value.
  CaseAxis::Value ReadValue(TestFile& file, NodeId node);

 private:
  struct Item {
    TestFile* file = nullptr;
    NodeId node = kNoNode;
    std::optional<python::Value> value;
  };
  using Items = std::optional<std::vector<Item>>;

  void ReadDecorators(TestFile& file, NodeId definition, std::vector<CaseAxis>& axes);
  void ReadParametrize(TestFile& file, NodeId call, std::vector<CaseAxis>& axes);
  void ReadBenchmark(TestFile& file, NodeId report, std::vector<CaseAxis>& axes);
  void AddBenchmarkAxis(TestFile& file, NodeId names, NodeId values, std::vector<CaseAxis>& axes);
  void ReadFixtures(TestFile& file, const FunctionBody& test, std::vector<CaseAxis>& axes);
  void ReadBody(TestFile& file, const FunctionBody& test, std::vector<CaseAxis>& axes);
  Items Expand(TestFile& file, NodeId node, int depth);
  Items ExpandName(TestFile& file, absl::string_view name, int depth);
  Items ExpandCall(TestFile& file, NodeId call, int depth);
  std::optional<python::Value> EvaluateElsewhere(TestFile& file, NodeId call);
  // Returns an item's parts, one for each of `count` names.
  std::optional<std::vector<Item>> Divide(const Item& item, size_t count);
  CaseAxis::Value ToValue(const Item& item, int depth = 0);

  SourceScope& scope_;
  TestFiles& files_;
  std::vector<std::unique_ptr<TestFile>> made_;  // texts with an expression added
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_CASES_H_
