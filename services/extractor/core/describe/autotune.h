#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_AUTOTUNE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_AUTOTUNE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/python/evaluate/evaluator.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/detect/functions.h"

namespace kernelmill::extractor {

using python::Evaluator;
using python::NodeId;
using python::StatementsByName;
using python::SyntaxTree;
using python::Value;

// Reads autotuners and heuristics from the decorators of a file's kernels.
//
// The autotuner of a kernel is the outermost decorator that is triton.autotune, or is called with
// `configs=`, as repositories' own wrappers are. Its configurations are resolved if the file alone
// determines them: a list of Config(...) calls, or an expression that evaluates to one (see
// Evaluator). Each value is recorded as Python's repr() writes it. A single value that the file
// does not determine, such as a function or a property of the machine, is kept as written. If the
// list itself is not determined, because it is imported or depends on the machine
// (torch.version.hip, os.environ, is_hip()), nothing is resolved and the whole expression is kept
// as written. The same applies to the key.
//
// The evaluations for one file may take kMaxFileSteps in all, and their results have a bound as
// well. Expressions over a bound are not resolved. Not thread-safe; refers to the file.
class TuningReader {
 public:
  static constexpr size_t kMaxConfigs = 4096;  // in one decorator
  static constexpr int64_t kMaxFileSteps = 20 * Evaluator::kMaxSteps;
  static constexpr size_t kMaxFileBytes = 16 << 20;  // for all names and values, with overhead

  explicit TuningReader(const ParsedFile& file);

  // Sets the kernel's `autotune` and `heuristics` from its decorators.
  void AddTuning(const JitFunction& function, v1::Kernel& kernel);

 private:
  using NamedTexts = std::vector<v1::NamedText>;

  bool ReadAutotune(NodeId decorator, v1::Autotune& autotune);
  void ReadHeuristics(NodeId decorator, v1::Kernel& kernel) const;
  std::optional<Value> Evaluate(NodeId expression);
  bool ReadConfigs(NodeId expression, v1::Autotune& autotune);
  bool ReadConfig(const Value& value, v1::Autotune::Config& config);
  bool ReadKey(NodeId expression, v1::Autotune& autotune);
  bool SetText(absl::string_view name, const Value& value, v1::NamedText& text);
  std::string Callee(NodeId decorator) const;
  bool IsTritons(absl::string_view name, absl::string_view last) const;
  std::string Text(NodeId node) const;
  bool ReadNames(NodeId dictionary, v1::Heuristics& heuristics) const;

  const ParsedFile& file_;
  const SyntaxTree& tree_;
  StatementsByName statements_;
  int64_t steps_left_ = kMaxFileSteps;
  size_t bytes_left_ = kMaxFileBytes;
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_DESCRIBE_AUTOTUNE_H_
