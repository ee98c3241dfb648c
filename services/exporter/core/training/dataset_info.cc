#include "services/exporter/core/training/dataset_info.h"

#include "services/exporter/core/output/output_dir.h"

namespace kernelmill::exporter {

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

}  // namespace kernelmill::exporter
