#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_TEXT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/link/closure.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// The ways to write a kernel into its module: each decorator above the jit
// (SourceScope::GetDroppable) can be kept or dropped, and an autotuner can be replaced by one with
// the known configurations. Refers to the scope and the kernel. Immutable.
class KernelTexts {
 public:
  enum class Way : uint8_t { kKept, kReplaced, kDropped };

  // `statement` is the kernel's own; null if its source is all of it.
  KernelTexts(SourceScope& scope, const v1::Kernel& kernel, const v1::Definition* statement);

  // The number of decorators to decide on.
  size_t size() const { return droppable_.size(); }
  bool CanBeReplaced(size_t decorator) const { return decorator == autotuner_; }

  // `ways` has one for each of them.
  KernelText Write(const std::vector<Way>& ways) const;

  // Adds the decorators that were dropped and replaced to the record.
  void Report(const std::vector<Way>& ways, v1::Kernel& kernel) const;

 private:
  void FindAutotuner();

  const v1::Kernel& kernel_;
  const std::string& text_;
  const int first_line_;
  std::optional<DecoratedFunction> parts_;
  std::vector<SourceScope::Droppable> droppable_;
  size_t autotuner_ = static_cast<size_t>(-1);
  std::string autotune_text_;
};

// Returns the record of a decorator that the module lacks, for a function whose text begins on
// `first_line`.
v1::DroppedDecorator ToDropped(const SourceScope::Droppable& droppable, const std::string& function,
                               int first_line);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_KERNEL_TEXT_H_
