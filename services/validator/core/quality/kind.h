#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_KIND_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_KIND_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// A word for a kernel, and the rule that gave it.
struct Label {
  std::string word;
  std::string rule;
};

// Finds the purpose of the kernel. `prose` is the text of its comments (CollectProse), `generated`
// the sign that a program wrote it (GeneratedSign). The first rule that holds decides. Rules look
// at whole words; their lists are in kind.cc.
//
//   rule            kind        holds if
//   generated:SIGN  generated   Quality.generated says so
//   syntax:error    broken      it does not parse, as a sketch in a document: def kernel(x_ref, ...)
//   unfilled:TEXT   broken      it has a placeholder: a name such as GENERATE_TEST_HERE, or a
//                               comment such as "your code here"
//   words:TEXT      broken      its comments or docstring say that it is wrong on purpose:
//                               "deliberately" or the like just before a fault, "should fail"
//   name:WORD       broken      its name has a word such as "buggy"
//   path:SEGMENT    broken      a folder or the file is about sanitizers or faults, and the file is
//                               not a test or benchmark, which have sound kernels too
//   function:NAME   broken      it is in a test of something that must fail: test_x_raises
//   path:SEGMENT    test, benchmark, example
//                               the innermost folder or file that begins or ends with such a word.
//                               In a folder of tests, a file that is not a test itself may have
//                               real operations that tests compare with: a kernel of 128 tokens or
//                               more that such a file launches is judged by the folders around
//   function:NAME   test        it is defined in a test function
//   name:WORD       test, benchmark, example
//                               its own name begins with such a word
//   stub:empty      broken      its body does nothing: pass, ..., return, raise NotImplementedError
//   stub:asserts    broken      its body only asserts, and perhaps prints
//   stub:prints     helper      its body only prints
//   role:device     helper      it is a device function
//   method          helper      nothing launches it, and its first parameter is self
//   returns         helper      nothing launches it, and it returns a value, which only other
//                               kernels can take; Triton and Gluon only
//   role:kernel     operation   no other rule holds
Label FindKind(const v1::Kernel& kernel, absl::string_view prose, absl::string_view generated);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_KIND_H_
