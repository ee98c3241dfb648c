#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_COMPILE_JSON_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_COMPILE_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/output/row_writer.h"

namespace kernelmill::exporter {

// Writes what compilers said of a kernel; null where the job compiles nothing.
void WriteCompile(const v1::Verdict& verdict, RowWriter& row);

// "ok", "error" or "unknown".
std::string StatusWord(v1::CompileStatus status);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_COMPILE_JSON_H_
