#ifndef KERNELMILL_COMMON_DSL_LANGUAGES_H_
#define KERNELMILL_COMMON_DSL_LANGUAGES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dsl {

// The kernel languages as data: the one place to add or change a language. The fetcher asks here
// which files may hold kernels, the extractor which functions are kernels, the compiler which
// kernels it can compile, and the validator which decorators belong to other libraries.

// The names that make a kernel of a function, as a decorator or as a call with the function: "jit"
// below "triton".
struct Makers {
  absl::string_view module;              // dotted, as imports have it
  std::vector<absl::string_view> names;  // dotted, below the module
  bool in_submodules = false;            // also below any module in it ...
  absl::string_view but_not_below = "";  // ... except below this one
  // `module` is not a package but what code calls the module after `import *`.
  bool as_written = false;
};

struct Language {
  absl::string_view name;  // as reports spell it
  // unspecified: its functions are counted by name, not extracted
  v1::Dsl dsl = v1::DSL_UNSPECIFIED;
  std::vector<Makers> makers = {};  // empty: the markers themselves are the kernels' qualifiers
  // A file that uses the language holds one of these texts. Each has four bytes or more, and is as
  // rare as possible in files that do not use the language.
  std::vector<absl::string_view> markers = {};
  // A template that becomes Python once it is filled in, and makes such kernels, holds one of
  // these.
  std::vector<absl::string_view> template_markers = {};
  // A file that gets the language through another file, and does not name it, holds one of these:
  // `from ._compat import jit, tl`. Each has four bytes or more.
  std::vector<absl::string_view> hints = {};
  absl::string_view decorator = "";  // the usual spelling of its decorator
  // Triton's compiler compiles its kernels. A language without this is not given to the compile
  // stage.
  bool compiles_as_triton = false;
};

// PyTorch's class for a kernel that is a template, and the hook with which such a template begins.
inline constexpr absl::string_view kTemplateClass = "TritonTemplate";
inline constexpr absl::string_view kTemplateHook = "def_kernel";

// Returns all known languages, each name once.
const std::vector<Language>& Languages();

// Returns the language of a maker, given as a dotted name that was resolved through imports; else
// null.
const Language* FindMakerLanguage(absl::string_view resolved);

// Returns the DSL of such a maker if its kernels are extracted; else DSL_UNSPECIFIED.
v1::Dsl FindExtractedDsl(absl::string_view resolved);

// Returns whether a package, by its first name, has makers of a DSL whose kernels are extracted.
bool HasMakers(absl::string_view dotted);

// Returns the language's name of such a maker if its functions are only counted; else empty.
absl::string_view FindCountedDsl(absl::string_view resolved);

// The meaning of a name that code imports from a module outside the sources.
struct SaidName {
  std::string resolved;     // the dotted name of Triton: "triton.jit"
  size_t module_bytes = 0;  // the length of the module's name: "vllm.triton_utils"
  size_t word_bytes = 0;    // the length with the word that says it: "vllm.triton_utils.triton"
};

// Takes a dotted name from an unread module at its word: "vllm.triton_utils.triton.jit" says
// triton.jit, "utils.tl.load" says triton.language.load. The words are `triton`, `tl`, `gluon` and
// `ttgl`; what follows `triton` or `gluon` must be something that Triton has. A relative name has
// its dots. Returns nullopt if the name says nothing, or is one of Triton's or JAX's own.
std::optional<SaidName> FindSaidName(absl::string_view dotted);

// Returns the DSL whose maker of kernels such a name says it is: Triton for
// "vllm.triton_utils.triton.jit", Pallas for "utils.pallas_call"; else DSL_UNSPECIFIED.
v1::Dsl FindSaidDsl(absl::string_view dotted);

// Returns whether Triton's compiler compiles kernels of this DSL; false for an unknown one.
bool CompilesAsTriton(v1::Dsl dsl);

// Returns the language's name of an extracted DSL, such as "cuda"; "unknown" for others.
absl::string_view DslName(v1::Dsl dsl);

// Returns whether a text holds a marker or a hint of any language. Without one it holds no kernel
// and no function to count. Runs at memory speed.
bool HasMarker(absl::string_view text);

// Returns whether a text holds a marker of this DSL.
bool HasMarkerOf(v1::Dsl dsl, absl::string_view text);

// Return whether a Python text may hold a kernel that is extracted, or a function that is counted:
// a marker, and the last part of one of its language's makers, or for Pallas a reference; or a
// hint. Texts that pass hold a marker or a hint.
bool MayHoldExtracted(absl::string_view text);
bool MayHoldCounted(absl::string_view text);

// Returns whether a package, by its first name, is a library whose functions are not a project's
// own way to make kernels.
bool IsLibrary(absl::string_view package);

// Returns whether "NAME.jit", as code writes it, belongs to another library than Triton.
bool IsOtherJit(absl::string_view name);

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_LANGUAGES_H_
