#include "client/commands/commands.h"
#include "client/console/exit_code.h"
#include "client/diff/dataset_diff.h"
#include "client/diff/diff_output.h"
#include "common/base/status.h"

namespace kernelmill::client {

absl::StatusOr<int> Diff(const DiffOptions& options, Console& console) {
  Texts texts;
  ASSIGN_OR_RETURN(const ExportedDataset a, ReadExport(options.a, texts));
  ASSIGN_OR_RETURN(const ExportedDataset b, ReadExport(options.b, texts));
  const DatasetDiff diff = CompareDatasets(a, b, texts);
  if (console.json()) {
    WriteDiffJson(a, b, diff, texts, [&](absl::string_view line) { console.Result(line); });
  } else {
    console.Result(DiffText(a, b, diff, texts, options.limit));
  }
  return diff.same ? kDone : kInputsFailed;
}

}  // namespace kernelmill::client
