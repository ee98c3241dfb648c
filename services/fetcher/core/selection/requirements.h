#ifndef KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_REQUIREMENTS_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_REQUIREMENTS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// The versions of a package that a file with a source_files::RequirementRank asks for: the first
// PEP 440 specifier that stands beside the package's name, as written but for blanks around it.
// Empty if none does.
//
// Nothing is executed or expanded. METADATA, setup.cfg and requirements are read by lines,
// pyproject.toml and setup.py by their string literals ("triton>=3.0.0"), and lines of the former
// that give the name a value (triton = ">=3.0.0") as well.
std::string RequiredVersion(absl::string_view path, absl::string_view content,
                            absl::string_view package);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_SELECTION_REQUIREMENTS_H_
