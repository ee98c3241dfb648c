#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_KERNEL_FACTS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_KERNEL_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/tags/value_flow.h"

namespace kernelmill::extractor {

// What the code of a linked kernel and of the helpers that it reaches in its module does.
struct KernelFacts {
  bool is_c = false;
  // Something that it uses is not in its module, and may do anything.
  bool incomplete = false;
  // Last parts of what is called, helpers included; sorted, each once.
  std::vector<std::string> calls;
  uint32_t call_kinds = 0;   // of all of them (CallKind)
  int dots = 0;              // calls of that kind
  bool only_places = false;  // nothing is called but stores, casts and what makes indices
  bool has_loop = false;
  bool has_while = false;
  std::vector<ValueFlow::Store> stores;
  std::vector<ValueFlow::Store> atomics;
  bool loads = false;
  bool root_of_sum = false;

  bool Calls(uint32_t kinds) const { return (call_kinds & kinds) != 0; }
};

KernelFacts FactsOf(const v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_KERNEL_FACTS_H_
