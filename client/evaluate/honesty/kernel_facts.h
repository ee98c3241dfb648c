#ifndef KERNELMILL_CLIENT_EVALUATE_HONESTY_KERNEL_FACTS_H_
#define KERNELMILL_CLIENT_EVALUATE_HONESTY_KERNEL_FACTS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/syntax_tree.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::client {

// A kernel of an answer, as a launch and its effects depend on it.
struct KernelFacts {
  struct Parameter {
    std::string name;
    bool has_default = false;
    bool pointer = false;  // by its role
    bool stride = false;
    bool constant = false;  // a constexpr
  };

  std::string name;
  python::NodeId definition = python::kNoNode;
  bool device = false;  // called by other kernels alone
  std::vector<Parameter> parameters;
  bool takes_more = false;  // it has *args or **kwargs
  // The parameters that a decorator gives; `any_given` if it may give any. Those of configurations
  // may not be given by a launch as well.
  absl::flat_hash_set<std::string> given;
  absl::flat_hash_set<std::string> configured;
  bool any_given = false;
  bool wrapped = false;  // by a decorator that is not Triton's own: it may be called without a grid

  // The parameters whose memory it writes, by their places.
  std::set<size_t> written;
  // Why no store can leave more than constants behind; empty if one can. `store_line` has the line.
  std::string constant;
  int store_line = 0;
  // If it stores only values as they were loaded: the parameters they are loaded from.
  std::set<size_t> copied;
  // The line of a store by which all programs store different values at one place; 0 without one.
  int race_line = 0;
};

// Reads the Triton and Gluon kernels that the extractor found in a text, by their definitions.
// Kernels in strings are left out. The basic idea: the body's names have all values that they are
// ever given; an address leads through them to the parameters that are pointers.
std::map<python::NodeId, KernelFacts> ReadKernels(const python::ParsedText& text,
                                                  const v1::KernelShard& kernels);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_HONESTY_KERNEL_FACTS_H_
