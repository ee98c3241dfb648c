#ifndef KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_
#define KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataset/export/dataset_index.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// The files that kept kernels give rows to, each kernel its own.
enum KernelFile : size_t {
  kKernelRows,    // kernels.jsonl
  kFimRows,       // fim.jsonl
  kFimCsv,        // fim_sft.csv
  kInstructRows,  // instruct.jsonl
  kFunctionRows,  // triton_functions.json
  kFileRows,      // files.jsonl: of whole files, which give rows to no other
  kIrRows,        // ir.jsonl: what compilers made of it, which KernelRows has not (ir_rows.h)
  kKernelFileCount
};

// Tokens (cl100k_base) of a kernel's rows in each file, in their order.
using RowTokenCounts = std::array<std::vector<int64_t>, kKernelFileCount>;

// What one kept kernel gives to the files: whole lines, of triton_functions.json an element of its
// list; nothing to those whose size is 0.
struct KernelRows {
  std::string text;  // of each file in turn
  std::array<uint32_t, kKernelFileCount> sizes = {};
  std::string fim_sha1;  // the identity of its fill-in-the-middle example; empty without one
  absl::string_view fim_excluded;            // why there is none
  std::vector<absl::string_view> templates;  // of each row of instruct.jsonl
  RowTokenCounts tokens;                     // of those files that RowTokens names

  // A file's part, or more of it: in the order of the files.
  void Append(KernelFile file, absl::string_view more) {
    text.append(more.data(), more.size());
    sizes[file] += static_cast<uint32_t>(more.size());
  }
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

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_
