#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REFERENCE_TEXT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REFERENCE_TEXT_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/extractor/core/reference/host_module.h"
#include "services/extractor/core/reference/test_unit.h"

namespace kernelmill::extractor {

// The origin of an expected value.
struct ReferenceCallee {
  // The functions or classes of the source that make it; several if a parameter is given them.
  std::vector<const Origin*> origins;
  // Else the statement that defines the function in the test; -1: calls of installed packages.
  int local = -1;
  // It is a parameter, and what the caller gives for it is not known.
  bool unknown = false;
};

// Finds the origin of an expected value: the nearest call on the way back through names, and
// through methods that only convert (x.float(), x.reshape(...)).
ReferenceCallee FindReferenceCallee(const TestUnit& unit, NodeId expected, int at);

// Writes statements of a test as a function `reference` that returns the expressions of the
// statement `at`. Its parameters are the names of the test that the statements read and do not
// bind. Nothing if the statements cannot be written by themselves.
//
// The basic idea: statements are written as whole lines with their indentation, below the heads of
// the blocks around them. A block that is also around `at` is no part of the reference: `if True:`
// stands for its head.
std::optional<HostText> WriteReference(const TestUnit& unit, TestFiles& files,
                                       const std::set<int>& statements,
                                       const std::vector<NodeId>& expected, int at);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REFERENCE_TEXT_H_
