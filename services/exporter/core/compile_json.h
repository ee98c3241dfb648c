#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_COMPILE_JSON_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_COMPILE_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/compile.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {

// What compilers said of a kernel, as rows have it; null where the job compiles nothing.
Json CompileJson(const v1::Verdict& verdict);

// "ok", "error" or "unknown".
std::string StatusWord(v1::CompileStatus status);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_COMPILE_JSON_H_
