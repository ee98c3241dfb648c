#include "common/base/processors.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace kernelmill {

int CountProcessors() {
  cpu_set_t usable;
  const bool told = ::sched_getaffinity(0, sizeof(usable), &usable) == 0;
  return std::max(
      1, told ? CPU_COUNT(&usable) : static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace kernelmill
