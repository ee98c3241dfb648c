#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_UNIT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_UNIT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "services/extractor/core/reference/cases.h"
#include "services/extractor/core/reference/function_body.h"
#include "services/extractor/core/reference/reach.h"
#include "services/extractor/core/reference/test_file.h"

namespace kernelmill::extractor {

// A use of a kernel: the definition that the code names, and what the code calls it.
struct KernelUse {
  Reach::Node node = Reach::kNone;
  bool gradient = false;  // the way is one for gradients alone
  std::string named;      // as written, of an operator its name
};

// The origin of a value: the statements, and the kernels that it is a result of.
struct Trace {
  struct Hit {
    int depth = 0;  // steps from the value to the statement that uses the kernel
    KernelUse use;
    int statement = -1;  // -1: the expression itself
  };
  std::map<int, int> statements;                  // with their depths
  std::map<int32_t, Hit> hits;                    // by kernel; the nearest
  absl::flat_hash_set<absl::string_view> inputs;  // names that no statement above binds
  bool gradient = false;                          // it goes through a backward()
};

// A function with tests, and what the names in it mean.
//
// The basic idea: the kernel's result and the expected one are told apart by where they come from.
// Both may come from the kernel, where the reference takes something that the kernel has made, such
// as a mask; the kernel's is then the one that is nearer to it. A call counts as no step:
// y = layer(x), layer = Layer() is as near as y = f(x).
class TestUnit {
 public:
  TestUnit(SourceScope& scope, const Reach& reach, TestFile& file, NodeId function);

  // The functions and strings that the caller gives for parameters, by name.
  absl::flat_hash_map<std::string, std::vector<const Origin*>> parameter_origins;
  absl::flat_hash_map<std::string, std::vector<std::string>> parameter_strings;

  TestFile& file() const { return file_; }
  const FunctionBody& body() const { return body_; }
  // The name with those of the classes around.
  const std::string& qualname() const { return qualname_; }

  // Returns what a dotted name may mean, if it is of the source.
  std::vector<const Origin*> ResolveName(const std::string& dotted) const;

  // Returns the kernels that the statement itself uses. Call it once parameters are set.
  const std::map<int32_t, KernelUse>& GetUses(int statement);

  // Returns whether the statement makes a result of the kernel: it uses the kernel, or calls a
  // local object or function that does.
  bool Makes(int statement, int32_t kernel);

  // Follows an expression in the statement `at`. Statements that make a result of the kernel `cut`
  // are not entered; -1: none.
  Trace Follow(NodeId expression, int at, int32_t cut = -1);

 private:
  void ReadImports();
  void AddUse(Reach::Node node, absl::string_view named, std::map<int32_t, KernelUse>& uses) const;
  void AddOrigin(const Origin& origin, absl::string_view named,
                 std::map<int32_t, KernelUse>& uses) const;
  std::map<int32_t, KernelUse> FindUses(const FunctionBody::Statement& statement) const;
  void AddMember(NodeId call, std::map<int32_t, KernelUse>& uses) const;
  void AddOperators(const FunctionBody::Statement& statement,
                    std::map<int32_t, KernelUse>& uses) const;
  bool IsDispatching(const FunctionBody::Statement& statement) const;

  SourceScope& scope_;
  const Reach& reach_;
  TestFile& file_;
  const TextDefinitions& text_;
  const FunctionBody body_;
  std::string qualname_;
  absl::flat_hash_map<std::string, v1::ImportedName> imports_;  // in the function itself
  std::map<int, std::map<int32_t, KernelUse>> uses_;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_UNIT_H_
