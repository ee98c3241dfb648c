#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAGS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAGS_H_

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// Sets the tags of a linked kernel: which operation it does, or is a step of. The vocabulary is in
// tag_table.cc. Each tag has the first rule that gave it:
//
//   name, around       a phrase of the kernel's own name; of the functions and classes around it
//   launcher           of the launcher's name and class
//   file, folder       of the file's name; of the two folders next to it, but not of the topmost:
//                      that is a package's name
//   docstring          of the docstring's first sentence
//   parameter          of a parameter's name
//   call               a call, of the kernel or of a helper that it reaches in its module
//   structure          what is loaded, computed and stored, or called together
//
// The name comes first; then around, launcher, file, docstring, folder, each only while nothing but
// generic tags is known. A namespace and a repository's name are no evidence. Calls of a kind of
// its own always count; structure gives a tag where nothing else says what the operation is, and
// matmul to what is otherwise known too if a dot is left unexplained.
void AddTags(v1::Kernel& kernel);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_TAGS_TAGS_H_
