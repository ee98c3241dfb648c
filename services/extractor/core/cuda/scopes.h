#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_SCOPES_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_SCOPES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/extractor/core/cuda/brackets.h"

namespace kernelmill::extractor::cuda {

// The braces around a place that is read from the front to the end of a text: namespaces and
// classes, which hold declarations, and bodies of functions.
class Scopes {
 public:
  enum Kind : uint8_t { kDeclarations, kBody };

  Scopes();

  // `last` is the scope's '}'. `name` may be empty, or several joined by "::". `function` is the
  // caller's number for the function whose body it is.
  void Enter(Kind kind, uint32_t last, std::string name, uint32_t function = kNoToken);

  // Leaves the scopes that end at `token` or before. True: the outermost body was one of them.
  bool LeaveUpTo(uint32_t token);

  bool InBody() const { return scopes_.back().kind == kBody; }
  // Whether a body is around, at any distance.
  bool WithinBody() const { return outermost_body_ != 0; }
  // That of the innermost scope, if it is a body.
  uint32_t function() const { return scopes_.back().function; }

  // `name` after those of the scopes around: n::C::name. Outer ones are cut off where it is long.
  std::string Qualify(absl::string_view name) const;

 private:
  struct Scope {
    Kind kind;
    uint32_t last;
    uint32_t named;  // index of the nearest scope from here outwards with a name; 0: there is none
    uint32_t function;
    std::string name;
  };

  std::vector<Scope> scopes_;  // the first is the file
  size_t outermost_body_ = 0;  // its index
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_SCOPES_H_
