#ifndef KERNELMILL_COMMON_DSL_LANGUAGES_H_
#define KERNELMILL_COMMON_DSL_LANGUAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/code/lexer.h"
#include "common/dsl/language.h"

namespace kernelmill::dsl {

// The kernel languages as data: a file of common/dsl/languages for each, and no other list of them.
// The fetcher asks here which files may hold kernels, the extractor which functions are kernels,
// the compiler which kernels it can compile, and the validator which decorators belong to other
// libraries. A language is known by its name, as Kernel.dsl has it.

// PyTorch's class for a kernel that is a template, and the hook with which such a template begins.
inline constexpr absl::string_view kTemplateClass = "TritonTemplate";
inline constexpr absl::string_view kTemplateHook = "def_kernel";

// Returns all known languages, sorted by name.
const std::vector<Language>& Languages();

// Returns the language of a maker, given as a dotted name that was resolved through imports; else
// null.
const Language* FindMakerLanguage(absl::string_view resolved);

// Returns the name of the language of such a maker; else empty.
absl::string_view FindMakerDsl(absl::string_view resolved);

// Returns the makers that such a name is of; null for any other name.
const Makers* FindMakers(absl::string_view resolved);

// Returns whether a package, by its first name, has makers of a language.
bool HasMakers(absl::string_view dotted);

// Returns whether a dotted module itself has makers: "triton", "cutlass.cute".
bool IsMakerModule(absl::string_view dotted);

// Returns whether a language calls a maker so: "jit", "kernel", "prim_func".
bool IsMakerWord(absl::string_view word);

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

// Returns the name of the language whose maker of kernels such a name says it is: Triton for
// "vllm.triton_utils.triton.jit", Pallas for "utils.pallas_call"; else empty.
absl::string_view FindSaidDsl(absl::string_view dotted);

// Returns the language of a name; null for a name that no language has.
const Language* FindLanguage(absl::string_view dsl);

// Returns the number of a language, from 1, for tables with many kernels; 0 for a name that no
// language has. It may differ between versions. The second function returns the name of a number.
uint8_t GetNumber(absl::string_view dsl);
absl::string_view GetName(uint8_t number);

// Returns the language's name in prose, "CUDA"; the given name if no language has it.
std::string GetTitle(absl::string_view dsl);

// Returns the language that a kernel's text is read in: Python for an unknown name.
code::Language GetSyntax(absl::string_view dsl);

// Returns the language of C that a C++ text of this path is in: CUDA, unless the path has an ending
// of another one, or of Python, and the text holds that one's markers and none of CUDA's. Comments
// of a file do not count for CUDA: they may have the code that the file was translated from.
const Language& FindCLanguage(absl::string_view path, absl::string_view text);

// Returns whether a string of a Python file may be in a language of C.
bool MayBeCString(absl::string_view string);

// Returns whether a Python file may hold kernels of a language of C in strings.
bool MayHoldCStrings(absl::string_view text);

// Returns the maker of kernels from bodies that a resolved name is; else null.
const BodyMaker* FindBodyMaker(absl::string_view resolved);

// Returns the language whose library has a header of this path; null for other headers.
const Language* FindLibraryLanguage(absl::string_view header);

// Returns whether a text holds a marker or a hint of a language of C: without one, it holds no
// function of one.
bool HasMarkerOfC(absl::string_view text);

// Returns whether a kernel's text is C, as CUDA's is.
bool IsC(absl::string_view dsl);

// Returns whether a dotted module comes with the language: its packages have it, or it is numpy and
// they require that.
bool ComesWith(absl::string_view dsl, absl::string_view module);

// Returns whether a function, by its dotted name resolved through imports, runs a kernel that it is
// given, as a language's own functions do.
bool LaunchesArgument(absl::string_view resolved);

// Returns whether a method of a kernel returns it, made ready: k.compile().
bool PreparesKernel(absl::string_view method);

// Returns whether a method of a kernel leads to runs of it: k.get_profiler().
bool RunsKernel(absl::string_view method);

// Returns whether Triton's compiler compiles kernels of this language; false for an unknown one.
bool CompilesAsTriton(absl::string_view dsl);

// Returns whether a text holds a marker or a hint of any language. Without one it holds no kernel.
// Runs at memory speed.
bool HasMarker(absl::string_view text);

// Returns whether a text holds a marker of this language.
bool HasMarkerOf(absl::string_view dsl, absl::string_view text);

// Returns whether a Python text may hold a kernel of any language: a marker, and the last part of
// one of its language's makers, or for Pallas a reference; or a hint. Texts that pass hold a marker
// or a hint.
bool MayHoldKernels(absl::string_view text);

// The languages whose kernels are wanted.
class LanguageSet {
 public:
  // Holds the languages that are extracted by default.
  LanguageSet();
  // Holds the named ones; the default ones if there is no name. INVALID_ARGUMENT: an unknown name.
  template <typename Names>
  static absl::StatusOr<LanguageSet> Make(const Names& names) {
    return MakeFrom(std::vector<std::string>(names.begin(), names.end()));
  }

  bool Has(absl::string_view dsl) const;

  // Returns whether a Python text may hold a kernel of one of them.
  bool MayBeIn(absl::string_view text) const;

  // Returns whether a dotted module comes with one of them.
  bool ComesWithOne(absl::string_view module) const;

 private:
  static absl::StatusOr<LanguageSet> MakeFrom(const std::vector<std::string>& names);

  std::vector<const Language*> languages_;  // sorted by name
};

// Returns whether a package, by its first name, is a library whose functions are not a project's
// own way to make kernels.
bool IsLibrary(absl::string_view package);

// Returns whether "NAME.jit", as code writes it, belongs to another library than Triton.
bool IsOtherJit(absl::string_view name);

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_LANGUAGES_H_
