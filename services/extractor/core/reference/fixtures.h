#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_FIXTURES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_FIXTURES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/extractor/core/reference/function_body.h"
#include "services/extractor/core/reference/test_file.h"

namespace kernelmill::extractor {

// The function that makes what pytest gives a test's parameter.
struct Fixture {
  TestFile* file = nullptr;
  NodeId function = kNoNode;  // kNoNode: no fixture has the name
  NodeId params = kNoNode;    // the values of @pytest.fixture(params=values)
};

// Finds the fixture that a parameter of `test` means: one of the class around or of a class of the
// same file that it inherits from, of the file, or of a conftest.py in a folder around.
Fixture FindFixture(TestFiles& files, TestFile& file, NodeId test, absl::string_view name);

// Finds what a fixture returns or yields at its end, and the statement that does so; kNoNode
// without it.
struct FixtureResult {
  NodeId value = kNoNode;
  int statement = -1;
};
FixtureResult FindResult(const TestFile& file, const FunctionBody& fixture);

// Takes apart a display that a result is, or that its name stands for: "0" is the first element of
// a tuple or list, "'key'" the value of a dictionary. `others` gets the other elements. kNoNode if
// the result is no display, or has no such element.
NodeId FindElement(const TestFile& file, const FunctionBody& body, const FixtureResult& result,
                   absl::string_view key, std::vector<NodeId>& others);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_FIXTURES_H_
