#include "dataset/training/dataset_info.h"

#include "dataset/output/dataset_files.h"

namespace kernelmill::dataset {

Json DatasetInfo() {
  return {
      {"kernelmill_instruct",
       {{"file_name", kInstructFile},
        {"formatting", "sharegpt"},
        {"columns", {{"messages", "messages"}}},
        {"tags",
         {{"role_tag", "role"},
          {"content_tag", "content"},
          {"user_tag", "user"},
          {"assistant_tag", "assistant"},
          {"system_tag", "system"}}}}},
      {"kernelmill_complete",
       {{"file_name", kFimRowsFile},
        {"columns", {{"prompt", "prompt"}, {"response", "completion"}}}}},
      {"kernelmill_kernels", {{"file_name", kKernelsFile}, {"columns", {{"prompt", "module"}}}}}};
}

}  // namespace kernelmill::dataset
