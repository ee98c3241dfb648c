#include "services/deduplicator/core/computation/computation.h"

#include "services/deduplicator/core/computation/c_reader.h"
#include "services/deduplicator/core/computation/interpreter.h"
#include "services/deduplicator/core/computation/python_reader.h"

namespace kernelmill::deduplicator {

Computation FindComputation(absl::string_view source, code::Language language,
                            absl::string_view kernel_name) {
  const size_t qualified = kernel_name.find_last_of(":.");
  if (qualified != absl::string_view::npos) kernel_name.remove_prefix(qualified + 1);
  Interpreter interpreter(language, kernel_name);
  const bool read = language == code::Language::kC ? ReadC(source, kernel_name, &interpreter)
                                                   : ReadPython(source, &interpreter);
  if (!read || interpreter.IsExhausted()) return {};
  return {interpreter.graph().HashSinks(), interpreter.graph().OnlyMoves()};
}

}  // namespace kernelmill::deduplicator
