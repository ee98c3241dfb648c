#ifndef KERNELMILL_COMMON_DSL_LANGUAGES_H_
#define KERNELMILL_COMMON_DSL_LANGUAGES_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dsl {

// The kernel languages as data: the one place to add or to change one. The fetcher asks which files
// may hold kernels at all, the extractor which functions are kernels, the validator which
// decorators are another library's.

// What makes a kernel of a function, as a decorator or when it is called with it: "jit" below
// "triton".
struct Makers {
  absl::string_view module;              // dotted, as imports name it
  std::vector<absl::string_view> names;  // dotted, below the module
  bool in_submodules = false;            // also below any module in it ...
  absl::string_view but_not_below = "";  // ... but for this one
  // No package's name, but what code calls the module where an import of '*' brings it.
  bool as_written = false;
};

struct Language {
  absl::string_view name;             // as reports spell it
  v1::Dsl dsl = v1::DSL_UNSPECIFIED;  // none: its functions are counted by name, not extracted
  std::vector<Makers> makers = {};    // none: kernels are found by the markers themselves
  // A file that uses the language holds one of these. Each has four bytes or more, and is as rare
  // as can be in files that do not use it.
  std::vector<absl::string_view> markers = {};
  // A text that is Python only once it is filled in, and makes such kernels, holds one of these.
  std::vector<absl::string_view> template_markers = {};
  absl::string_view decorator = "";  // as nearly all code that writes kernels spells it
};

// PyTorch's class for a kernel that is Python only once it is filled in, and the hook which such a
// text begins with.
inline constexpr absl::string_view kTemplateClass = "TritonTemplate";
inline constexpr absl::string_view kTemplateHook = "def_kernel";

// All that are known, each name once.
const std::vector<Language>& Languages();

// The language whose maker a dotted name is, once it is resolved through imports; else null.
const Language* LanguageOfMaker(absl::string_view resolved);

// Its DSL, where it is extracted; else DSL_UNSPECIFIED.
v1::Dsl ExtractedDslOf(absl::string_view resolved);

// Its name, where it is counted and not extracted; else empty.
absl::string_view CountedDslOf(absl::string_view resolved);

// Whether a text holds a marker of any language: without one it holds no kernel and no function to
// count. At memory speed.
bool HasMarker(absl::string_view text);

// Whether it holds one of this DSL.
bool HasMarkerOf(v1::Dsl dsl, absl::string_view text);

// Whether a text of Python may hold a kernel that is extracted, or a function that is counted: a
// marker, and a word that its language's makers end in. Texts that pass hold a marker.
bool MayHoldExtracted(absl::string_view text);
bool MayHoldCounted(absl::string_view text);

// Whether what a package defines, by its first name, is no project's own way to make kernels.
bool IsLibrary(absl::string_view package);

// Whether "NAME.jit", as code writes it, is another library's than Triton's.
bool IsOtherJit(absl::string_view name);

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_LANGUAGES_H_
