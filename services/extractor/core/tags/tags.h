#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAGS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAGS_H_

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// clang-format off
// Sets the tags of a linked kernel: the operation that it does, or is a step of. The vocabulary is
// in tag_table.cc. Each tag has the first rule that gave it:
//
//   name       a phrase in the kernel's own name
//   around     a phrase in the name of a function or class around it
//   launcher   a phrase in the launcher's name or class
//   file       a phrase in the file's name
//   folder     a phrase in one of the two folders next to the file, except the topmost folder,
//              which is a package's name
//   docstring  a phrase in the docstring's first sentence
//   parameter  a phrase in a parameter's name
//   call       a call, by the kernel or by a helper that it reaches in its module
//   structure  what is loaded, computed and stored, or called together
//
// The basic idea: people name kernels for what they do, so names are read first and the most
// specific one decides: the kernel's own, then around, launcher, file, docstring, folder, each only
// while all tags so far are generic. Namespaces and repository names are no evidence. Calls that
// only one operation makes always count. Structure gives a tag if nothing else tells the operation,
// and adds "matmul" if no tag explains a dot.
// clang-format on
void AddTags(v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAGS_H_
