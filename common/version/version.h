#ifndef KERNELMILL_COMMON_VERSION_VERSION_H_
#define KERNELMILL_COMMON_VERSION_VERSION_H_

#include <string>

namespace kernelmill {

// The release that this program is of, and the git commit where it was built in a checkout:
// "0.1.0 (4d2f1c09ab3e)" or "0.1.0". Programs alone link this, so that a commit compiles one file
// and links few.
std::string Version();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_VERSION_VERSION_H_
