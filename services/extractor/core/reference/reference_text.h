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
  // The statement that calls them.
  int statement = -1;
  // Else the statement that defines the function in the test; -1: calls of installed packages.
  int local = -1;
  // It is a parameter, and what the caller gives for it is not known.
  bool unknown = false;
  // The parameter that the value is, or is an element of: the keys of the elements, as fixtures.h
  // has them, the last one first. Empty for any other value.
  absl::string_view parameter;
  std::vector<std::string> elements;
};

// Finds the origin of an expected value: the nearest call on the way back through names, and
// through methods that only convert (x.float(), x.reshape(...)).
ReferenceCallee FindReferenceCallee(const TestUnit& unit, NodeId expected, int at);

// The effect of statements on their inputs. The latter counts if several are true.
enum class Effect {
  kConverts,    // another type or device: x.float()
  kRearranges,  // the same elements at other places: x.transpose(0, 1), x[2:]
  kConstant,    // values that the text states: torch.tensor([1, 2]), torch.zeros_like(x)
  kComputes,
};

// Judges the statements and expressions of a reference together.
Effect FindEffect(const TestUnit& unit, const std::set<int>& statements,
                  const std::vector<NodeId>& expected);

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

// Returns the names that become parameters of such a function.
FunctionBody::Names FindParameters(const TestUnit& unit, const std::set<int>& statements,
                                   const std::vector<NodeId>& expected, int at);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_REFERENCE_TEXT_H_
