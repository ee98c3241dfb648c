#ifndef KERNELMILL_COMMON_DSL_LANGUAGE_H_
#define KERNELMILL_COMMON_DSL_LANGUAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/code/lexer.h"

namespace kernelmill::dsl {

// The role that a maker gives its functions.
enum class MakerRole : uint8_t {
  kFromUse,       // the code around decides
  kKernel,        // launched from the host
  kDevice,        // called by kernels
  kHostOrDevice,  // it launches kernels, or they call it
};

// The names that make a kernel of a function, as a decorator or as a call with the function: "jit"
// below "triton".
struct Makers {
  absl::string_view module;              // dotted, as imports have it
  std::vector<absl::string_view> names;  // dotted, below the module
  MakerRole role = MakerRole::kFromUse;
  bool in_submodules = false;            // also below any module in it ...
  absl::string_view but_not_below = "";  // ... except below this one
  // `module` is not a package but what code calls the module after `import *`.
  bool as_written = false;
};

// The words of a language of C that make a kernel, or a device function, of a function. They
// include macros of well-known libraries, whose definitions are in no source that uses them.
struct Qualifiers {
  std::vector<absl::string_view> kernel;
  std::vector<absl::string_view> device;
};

// The functions to which host code gives kernels: as lambdas, or as objects that can be called.
struct KernelTakers {
  std::vector<absl::string_view> members;    // any object may have them: h.parallel_for(...)
  std::vector<absl::string_view> functions;  // in a namespace with `space` in its name
  absl::string_view space;
  // Templates of types by which code knows its place among all that run it. A lambda with such a
  // parameter is a kernel whatever takes it, and so is an object's operator(); any other function
  // with one is called by kernels.
  std::vector<absl::string_view> items;
};

// The library that comes with a language of C.
struct Library {
  absl::string_view header;                // includes all others
  std::vector<absl::string_view> headers;  // the beginnings of their paths
  std::vector<absl::string_view> spaces;   // its namespace, and other names of that
  absl::string_view names;                 // in the namespace; separated by blanks
  absl::string_view macros;                // the beginning of their names
};

// A function of a Python package that makes a kernel of the body of a function of C, given as a
// string. The library writes what comes before the body and after it: in the texts here "$" is the
// kernel's or a parameter's name, "#" a parameter's type.
struct BodyMaker {
  // An argument, by its keyword or by its place.
  struct Argument {
    absl::string_view keyword;
    size_t place;
  };
  // The parameters that an argument lists: names, whose types are the name with "_t", or
  // declarations.
  struct Parameters {
    Argument argument;
    absl::string_view head;           // in the parentheses of the head
    absl::string_view statement;      // before the body
    absl::string_view raw_head = "";  // as `head`, for a declaration that begins with "raw"
  };
  absl::string_view package;  // the first name of the package
  absl::string_view function;
  Argument name;
  Argument body;
  Argument preamble;       // declarations before the kernel
  absl::string_view head;  // before the parentheses
  std::vector<Parameters> parameters;
  // Parameters whose last name the body has, which come next, and one that always comes last.
  std::vector<absl::string_view> implied = {};
  absl::string_view last = "";
  absl::string_view opening = "";  // before all statements
  absl::string_view closing = "";  // after the body
};

// All that is known of a kernel language. Each is made by a file of common/dsl/languages.
struct Language {
  absl::string_view name;   // Kernel.dsl, and the word in job files and reports
  absl::string_view title;  // in prose: "CuTe DSL"
  code::Language syntax = code::Language::kPython;
  // Its kernels are extracted unless a source names the languages that it wants.
  bool by_default = false;
  std::vector<Makers> makers = {};  // empty for a language of C, which has qualifiers
  Qualifiers qualifiers = {};
  KernelTakers takers = {};
  Library library = {};
  // The endings of files that may be in this language of C, if they hold one of its markers and
  // none of CUDA's. C++ files of all other endings are CUDA.
  std::vector<absl::string_view> endings = {};
  // A file that uses the language holds one of these texts. Each has four bytes or more, and is as
  // rare as possible in files that do not use the language.
  std::vector<absl::string_view> markers = {};
  // A string in a Python file that is in this language of C holds one of these, and none of CUDA's
  // markers. CUDA's strings hold its markers.
  std::vector<absl::string_view> string_markers = {};
  std::vector<BodyMaker> body_makers = {};
  // A template that becomes Python once it is filled in, and makes such kernels, holds one of
  // these.
  std::vector<absl::string_view> template_markers = {};
  // A file that gets the language through another file, and does not name it, holds one of these:
  // `from ._compat import jit, tl`, or uses a macro of another file as qualifier. Each has four
  // bytes or more.
  std::vector<absl::string_view> hints = {};
  absl::string_view decorator = "";  // the usual spelling of its decorator
  // The packages that come with the language: a self-contained module of it may import them.
  std::vector<absl::string_view> packages = {};
  bool installs_numpy = false;  // these require it, so that such a module may import it too
  // The vendor of the hardware that it is for (common/dsl/labels.h); empty if there are several.
  absl::string_view target = "";
  // A plain call from the host runs a kernel: k(x), not k[grid](x).
  bool runs_by_call = false;
  // Its kernels return nothing, and one maker makes kernels and device functions, so that a
  // function that nothing in its file uses is a device function only if it returns a value.
  bool kernels_return_nothing = false;
  // Functions of the packages that run a kernel that they are given.
  std::vector<absl::string_view> launchers = {};
  // Methods of a kernel that return it, made ready, and methods that lead to runs of it.
  std::vector<absl::string_view> preparing_methods = {};
  std::vector<absl::string_view> running_methods = {};
  // A function of the language within another one is a part of that, and no kernel of its own.
  bool inner_are_parts = false;
  // Triton's compiler compiles its kernels. A language without this is not given to the compile
  // stage.
  bool compiles_as_triton = false;
};

}  // namespace kernelmill::dsl

#endif  // KERNELMILL_COMMON_DSL_LANGUAGE_H_
