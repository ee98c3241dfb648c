#ifndef KERNELMILL_DATASET_EXPORT_GRAPH_FILES_H_
#define KERNELMILL_DATASET_EXPORT_GRAPH_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/reference_guard.h"
#include "dataset/output/json.h"
#include "dataset/parquet/tables.h"

namespace kernelmill::dataset {

// The graphs of a dataset's sources that keep graphs.
struct GraphCounts {
  int64_t sources = 0;  // that keep graphs
  int64_t found = 0;
  int64_t rows = 0;
  int64_t duplicates = 0;                   // graphs that repeat a row's, with the same kernels
  std::map<std::string, int64_t> left_out;  // by reason
  int64_t kernels = 0;                      // in the wrappers of the rows
  int64_t kept_kernels = 0;  // kernels of kernels.jsonl that these lead to, each once

  // Null if no source keeps graphs.
  Json ToJson() const;
  // Graphs that are left out, and sources without any, for a person to read.
  std::vector<std::string> ListWarnings() const;
};

// Writes pytorch_triton.jsonl, as kernelmill.capture leaves graphs: a folder for each, with
// graph.json, graph.py, output_code.py and perhaps model.py.
//
// A graph whose wrapper or text must not get out is left out whole: a wrapper that has a kernel
// which policies withhold, a text like a holdout's, one with a secret that the job rejects. All
// rows of a source have one split, the strictest that a kernel of it has: a row of train then has
// no kernel of another split in its wrapper. Memory holds the files of one source; rows wait in a
// temporary file in `dir`, since a row lists the duplicates that come after it.
absl::StatusOr<GraphCounts> WriteGraphs(cas::BlobStore& store, const DatasetIndex& index,
                                        const ReferenceGuard& guard, const std::string& dir,
                                        TableWriter* tables);

// Returns the SHA-256 of a graph's text without its docstring, comments and blank lines.
std::string HashGraph(absl::string_view text);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_GRAPH_FILES_H_
