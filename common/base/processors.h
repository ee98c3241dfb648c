#ifndef KERNELMILL_COMMON_BASE_PROCESSORS_H_
#define KERNELMILL_COMMON_BASE_PROCESSORS_H_

namespace kernelmill {

// Returns the number of processors that this process may use, at least 1. The machine may have
// more.
int CountProcessors();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_BASE_PROCESSORS_H_
