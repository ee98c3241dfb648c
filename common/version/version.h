#ifndef KERNELMILL_COMMON_VERSION_VERSION_H_
#define KERNELMILL_COMMON_VERSION_VERSION_H_

#include <string>

namespace kernelmill {

// Returns the release of this program, with the git commit if it was built in a checkout:
// "0.1.0 (4d2f1c09ab3e)" or "0.1.0". Only programs link this, so that a new commit compiles one
// file and links few programs.
std::string Version();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_VERSION_VERSION_H_
