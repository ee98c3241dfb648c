// usage: cuda_fuzz [LIBFUZZER_FLAG...] [CORPUS...]
// Scans any bytes for CUDA functions. For all bytes: tokens and functions are inside the text, in
// order, each kernel is an exact span of it, and a second run finds the same kernels.
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/cas/digest.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/cuda_kernels.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/lexer.h"
#include "tests/fuzz/checks.h"

namespace kernelmill::extractor {
namespace {

constexpr size_t kMaxOverlap = 8;  // the default of ExtractOptions

void CheckScan(absl::string_view text) {
  const cuda::Code code = cuda::Lex(text);
  size_t end = 0;
  for (const cuda::Token& token : code.tokens) {
    Check(end <= token.begin && token.begin < token.end && token.end <= text.size());
    end = token.end;
  }
  const cuda::Brackets brackets = cuda::MatchBrackets(code);
  const cuda::Findings findings = cuda::FindFunctions(code, brackets);
  for (const cuda::Function& function : findings.functions) {
    Check(function.first <= function.body && function.body <= function.last);
    Check(function.last < code.size() && (function.global || function.device));
  }
  for (const cuda::Launch& launch : findings.launches) {
    Check(launch.first <= launch.last && launch.last < code.size());
    Check(launch.host == cuda::kNoToken || launch.host < findings.hosts.size());
  }
}

v1::KernelShard Extract(const std::string& text, absl::Status* status) {
  v1::KernelShard shard;
  v1::ExtractedFile& entry = *shard.add_files();
  *status = AddCudaKernels("a.cu", text, kMaxOverlap * text.size(), entry, shard);
  return shard;
}

void Scan(const std::string& text) {
  CheckScan(text);
  absl::Status status;
  const v1::KernelShard shard = Extract(text, &status);
  Check(status.ok() || absl::IsResourceExhausted(status));
  Check(status.ok() || shard.kernels_size() == 0);
  for (const v1::Kernel& kernel : shard.kernels()) CheckSpan(kernel, text);
  const v1::KernelShard again = Extract(text, &status);
  Check(cas::SerializeDeterministically(again) == cas::SerializeDeterministically(shard));
}

}  // namespace
}  // namespace kernelmill::extractor

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kernelmill::extractor::Scan(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
