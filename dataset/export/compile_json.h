#ifndef KERNELMILL_DATASET_EXPORT_COMPILE_JSON_H_
#define KERNELMILL_DATASET_EXPORT_COMPILE_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "dataset/output/row_writer.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// Writes what compilers said of a kernel; null where the job compiles nothing.
void WriteCompile(const v1::Verdict& verdict, RowWriter& row);

// "ok", "error" or "unknown".
std::string StatusWord(v1::CompileStatus status);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_COMPILE_JSON_H_
