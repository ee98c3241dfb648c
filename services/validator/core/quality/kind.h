#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_KIND_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_KIND_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::validator {

// A word for a kernel and the rule that gave it.
struct Label {
  std::string word;
  std::string rule;
};

// What the kernel is there for. `prose` is what people say of it (ProseOf), `generated` the sign
// that a program wrote it (GeneratedSign). The first of these rules that holds decides. They look
// at whole words; the lists stand in kind.cc.
//
//   rule            kind        holds if
//   generated:SIGN  generated   Quality.generated says so
//   unfilled:TEXT   broken      a placeholder stands in it: a name such as GENERATE_TEST_HERE, a
//                               comment such as "your code here"
//   words:TEXT      broken      its comments or docstring say that it is wrong on purpose:
//                               "deliberately" and its like just before a fault, "should fail"
//   name:WORD       broken      its name has a word such as "buggy"
//   path:SEGMENT    broken      a folder or the file is of sanitizers or of faults, and the file is
//                               no test and no benchmark, which have sound kernels too
//   function:NAME   broken      the test around it is one of what must fail: test_x_raises
//   path:SEGMENT    test, benchmark, example
//                               the innermost folder or file that begins or ends with such a word.
//                               In a folder of tests a file that is none itself may have real
//                               operations, which tests compare with: what it launches there, of
//                               128 tokens or more, is judged by what stands around the folder
//   function:NAME   test        it is defined in a test function
//   name:WORD       test, benchmark, example
//                               its own name begins with such a word
//   stub:empty      broken      its body does nothing: pass, ..., return, raise NotImplementedError
//   stub:asserts    broken      its body does nothing but assert, and perhaps print
//   stub:prints     helper      its body does nothing but print
//   role:device     helper      it is a device function
//   method          helper      nothing launches it, and its first parameter is self
//   returns         helper      nothing launches it, and it returns a value, which only other
//                               kernels can take; of Triton and Gluon
//   role:kernel     operation   none of these
Label KindOf(const v1::Kernel& kernel, absl::string_view prose, absl::string_view generated);

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_QUALITY_KIND_H_
