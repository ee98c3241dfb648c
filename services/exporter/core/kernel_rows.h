#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_ROWS_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/exporter/core/dataset_index.h"

namespace kernelmill::exporter {

// The files that kept kernels give rows to, each kernel its own.
enum KernelFile : size_t {
  kKernelRows,    // kernels.jsonl
  kFimRows,       // fim.jsonl
  kFimCsv,        // fim_sft.csv
  kInstructRows,  // instruct.jsonl
  kFunctionRows,  // triton_functions.json
  kFileRows,      // files.jsonl: of whole files, which give rows to no other
  kKernelFileCount
};

// What one kept kernel gives to each file: whole lines, of triton_functions.json an element of its
// list; empty where it gives nothing.
struct KernelRows {
  std::array<std::string, kKernelFileCount> text;
  std::string fim_sha1;  // the identity of its fill-in-the-middle example; empty without one
  absl::string_view fim_excluded;            // why there is none
  std::vector<absl::string_view> templates;  // of each row of instruct.jsonl
  // Tokens (cl100k_base) of the rows of each file, in their order; of those that RowTokens names.
  std::array<std::vector<int64_t>, kKernelFileCount> tokens;
};

// Of which files' rows tokens are counted; counting takes as long as all the rest.
using RowTokens = std::array<bool, kKernelFileCount>;

// Renders a kept kernel, its texts as they may be seen (Redacted). A function of its arguments;
// thread-safe.
KernelRows RenderKernel(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                        const v1::Verdict& verdict, const RowTokens& count);

// The same of a kept whole file, which holds the kept kernels of those ids.
KernelRows RenderFile(const DatasetIndex& index, uint32_t number, const v1::Kernel& file,
                      const v1::Verdict& verdict, const std::vector<std::string>& kernels);

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_KERNEL_ROWS_H_
