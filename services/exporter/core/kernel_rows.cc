#include "services/exporter/core/kernel_rows.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/config/csv.h"
#include "common/dataset/fim.h"
#include "services/exporter/core/output/json.h"
#include "services/exporter/core/records.h"

namespace kernelmill::exporter {
namespace {

// An element of the list in triton_functions.json, indented as the list's other lines are.
std::string FunctionText(const v1::Kernel& kernel) {
  std::string text = Pretty(FunctionRecord(kernel));
  text.pop_back();
  return absl::StrCat("  ", absl::StrReplaceAll(text, {{"\n", "\n  "}}));
}

// A line of fim_sft.csv, with what a trainer selects and weighs rows by.
std::string FimCsvRow(const DatasetIndex& index, uint32_t number, const dataset::FimPair& pair,
                      const v1::Verdict& verdict) {
  const SourceEntry& source = index.SourceOf(number);
  return config::CsvRow({config::CsvText(pair.prompt), config::CsvText(pair.completion),
                         index.kernels[number].id, verdict.license().expression(),
                         Canonical(Number(source.weight)), config::CsvText(source.category),
                         std::string(index.SplitOf(number))});
}

}  // namespace

KernelRows RenderKernel(const DatasetIndex& index, uint32_t number, const v1::Kernel& kernel,
                        const v1::Verdict& verdict) {
  KernelRows rows;
  const dataset::FimPair pair = dataset::MakeFimPair(kernel);
  rows.fim_excluded = pair.excluded;
  if (pair.excluded.empty()) {
    rows.fim_sha1 = dataset::FimPairSha1(pair);
    rows.text[kFimCsv] = FimCsvRow(index, number, pair, verdict);
  }
  rows.text[kKernelRows] =
      Canonical(KernelRecord(index, number, kernel, verdict, rows.fim_sha1, rows.fim_excluded)) +
      "\n";
  if (kernel.dsl() == v1::DSL_TRITON || kernel.dsl() == v1::DSL_GLUON) {
    rows.text[kFunctionRows] = FunctionText(kernel);
  }
  return rows;
}

KernelRows RenderFile(const DatasetIndex& index, uint32_t number, const v1::Kernel& file,
                      const v1::Verdict& verdict, const std::vector<std::string>& kernels) {
  KernelRows rows;
  rows.text[kFileRows] = Canonical(FileRecord(index, number, file, verdict, kernels)) + "\n";
  return rows;
}

}  // namespace kernelmill::exporter
