#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_READER_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_READER_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "kernelmill/v1/reference.pb.h"
#include "services/extractor/core/reference/cases.h"
#include "services/extractor/core/reference/comparisons.h"
#include "services/extractor/core/reference/host_module.h"
#include "services/extractor/core/reference/reference_text.h"
#include "services/extractor/core/reference/test_unit.h"

namespace kernelmill::extractor {

// The words of ReferenceRow.status.
inline constexpr char kReferenceFound[] = "reference";
inline constexpr char kNoComparison[] = "no_comparison";
inline constexpr char kOtherComparison[] = "other_comparison";
inline constexpr char kSamePath[] = "same_path";
inline constexpr char kNoReference[] = "no_reference";
inline constexpr char kBenchmark[] = "benchmark";
inline constexpr char kNoTest[] = "no_test";
inline constexpr char kNotRead[] = "not_read";

// The results of a kernel, by its tags.
struct KernelTraits {
  bool backward = false;
  bool rearranges = false;  // they are its inputs, or elements of them, or as other types
  bool fills = false;       // they are constants
};

// A kernel that a test reaches.
struct TestFinding {
  std::string path;
  std::string qualname;
  int first_line = 0;
  int last_line = 0;
  int32_t kernel = 0;
  absl::string_view status;  // a reference may still not be found
  int length = 0;            // the chain's
};

// Reads the tests of a file, one after the other. Refers to its arguments. Not thread-safe.
class TestReader {
 public:
  // Called for each kernel that a test reaches. `write` makes the record, except the test's place.
  using Sink = absl::FunctionRef<void(const TestFinding& finding,
                                      absl::FunctionRef<v1::TestReference()> write)>;

  // `traits` has those of each kernel.
  TestReader(SourceScope& scope, const Reach& reach, TestFiles& files, HostModules& modules,
             const std::vector<KernelTraits>& traits)
      : scope_(scope),
        reach_(reach),
        traits_(traits),
        files_(files),
        modules_(modules),
        cases_(scope, files),
        comparisons_(scope, reach, files) {}

  void Read(TestFile& file, Sink sink);

 private:
  // A comparison with the ways of its sides.
  struct Compared {
    TestComparison comparison;
    NodeId sides[2];
    Trace traces[2];
  };
  struct Unit {
    std::unique_ptr<TestUnit> unit;
    std::vector<Compared> compared;
  };
  // A comparison of a kernel's result: which side is the kernel's.
  struct Relevant {
    size_t unit;
    const Compared* compared;
    int actual;
  };

  std::vector<NodeId> FindTests(TestFile& file) const;
  void ReadTest(TestFile& file, NodeId function, Sink sink);
  void SetParameters(const std::vector<CaseAxis>& axes, TestUnit& unit);
  std::vector<Unit> FindUnits(TestFile& file, NodeId function, const std::vector<CaseAxis>& axes);
  void AddCalled(size_t from, std::vector<Unit>& units);
  void Compare(Unit& unit);
  std::map<int32_t, std::pair<size_t, KernelUse>> FindKernels(std::vector<Unit>& units) const;
  std::pair<absl::string_view, std::vector<Relevant>> Judge(const std::vector<Unit>& units,
                                                            int32_t kernel, const KernelUse& use);
  v1::TestReference Write(std::vector<Unit>& units, const std::vector<CaseAxis>& axes,
                          int32_t kernel, const KernelUse& use, absl::string_view status,
                          const std::vector<Relevant>& relevant);
  void AddChain(int32_t kernel, const KernelUse& use, v1::TestReference& test) const;
  void AddComparison(const Unit& unit, const Relevant& relevant, const std::vector<CaseAxis>& axes,
                     v1::TestReference& test);
  void AddTolerance(const TestUnit& unit, int statement, const TestComparison::Tolerance& tolerance,
                    const std::vector<CaseAxis>& axes, v1::Comparison& comparison);
  bool AddReference(std::vector<Unit>& units, int32_t kernel, const std::vector<Relevant>& relevant,
                    v1::TestReference& test);
  bool AddFunction(const Origin& origin, v1::TestReference& test);
  bool AddChainReference(Unit& unit, int32_t kernel, const std::vector<Relevant>& relevant,
                         absl::string_view local, v1::TestReference& test);
  bool AddFixtureReference(TestUnit& unit, int32_t kernel, const ReferenceCallee& callee,
                           const absl::flat_hash_set<absl::string_view>& inputs,
                           v1::TestReference& test, int depth = 0);
  bool AddMadeByFixture(TestUnit& unit, int32_t kernel, const Relevant& relevant,
                        v1::TestReference& test);
  bool IsCount(const TestUnit& unit, const std::set<int>& statements,
               const std::vector<NodeId>& expected, int at) const;
  bool AllowsEffect(const TestUnit& unit, int32_t kernel, const std::set<int>& statements,
                    const std::vector<NodeId>& expected, int at,
                    const FunctionBody::Names& inputs) const;
  bool AddStatements(const TestUnit& unit, const std::set<int>& statements,
                     const std::vector<NodeId>& expected, int at, absl::string_view local,
                     v1::TestReference& test);
  bool CallsOthers(TestUnit& unit, const ReferenceCallee& callee, const Trace& expected,
                   const Trace& actual) const;
  static bool SaysBackward(const Reach& reach, const KernelUse& use);
  static absl::flat_hash_set<absl::string_view> FindInputs(TestUnit& unit, int32_t kernel,
                                                           const Trace& actual);

  SourceScope& scope_;
  const Reach& reach_;
  const std::vector<KernelTraits>& traits_;
  TestFiles& files_;
  HostModules& modules_;
  CaseReader cases_;
  ComparisonFinder comparisons_;
  absl::flat_hash_set<std::string>
      numbers_;  // parameters of the test that are numbers in all cases
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_READER_H_
