#ifndef KERNELMILL_SERVICES_FETCHER_CORE_REQUIREMENTS_H_
#define KERNELMILL_SERVICES_FETCHER_CORE_REQUIREMENTS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// Whether a file of that path may state which packages the source needs: a wheel's METADATA, and
// pyproject.toml, setup.cfg, setup.py and requirements*.txt at the root.
bool StatesRequirements(absl::string_view path);

// Which of such files are to be believed first: the lower.
int RequirementRank(absl::string_view path);

// The versions of a package that such a file asks for: the first PEP 440 specifier that stands
// beside the package's name, as written but for blanks around it. Empty if none does.
//
// Nothing is executed or expanded. METADATA, setup.cfg and requirements are read by lines,
// pyproject.toml and setup.py by their string literals ("triton>=3.0.0"), and lines of the former
// that give the name a value (triton = ">=3.0.0") as well.
std::string RequiredVersion(absl::string_view path, absl::string_view content,
                            absl::string_view package);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_CORE_REQUIREMENTS_H_
