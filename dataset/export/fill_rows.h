#ifndef KERNELMILL_DATASET_EXPORT_FILL_ROWS_H_
#define KERNELMILL_DATASET_EXPORT_FILL_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/manifest/fim.h"
#include "dataset/export/dataset_index.h"
#include "dataset/training/conversations.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/reference.pb.h"
#include "kernelmill/v1/rows.pb.h"
#include "kernelmill/v1/source.pb.h"

// Fills the messages of rows.proto. Each message must be empty. Every field of a row is set here,
// by a line; how it gets into JSON, Parquet and the rest is written nowhere else but in its
// options. All but `not_utf8`, which FillNotUtf8 (dataset/rows/row_json.h) fills. Thread-safe.

namespace kernelmill::dataset {

// A kept kernel or whole file, for which rows are made.
struct KeptKernel {
  const DatasetIndex& index;
  uint32_t number;  // in the index
  const v1::Kernel& kernel;
  const v1::Verdict& verdict;
};

// `fim_sha1` is the identity of the kernel's row in fim_sft.csv, in bytes; if it has none that is
// empty, and `fim_excluded` says why.
void FillKernelRow(const KeptKernel& kept, absl::string_view fim_sha1,
                   absl::string_view fim_excluded, v1::KernelRow* row);

// The part of a kernel's row that the verdict gives; `kernelmill validate` prints it as well.
void FillVerdict(const v1::Verdict& verdict, const v1::QualityPolicy& policy, v1::KernelRow* row);

void FillCompile(const v1::CompiledKernel& compiled, v1::KernelRow::Compile* to);

void FillPieces(const google::protobuf::RepeatedPtrField<v1::ModulePiece>& pieces,
                google::protobuf::RepeatedPtrField<v1::KernelRow::Piece>* to);

// `kernels` are the ids of the kept kernels that the file has.
void FillFileRow(const KeptKernel& kept, const std::vector<std::string>& kernels, v1::FileRow* row);

void FillFimRow(const KeptKernel& kept, const manifest::FimPair& pair, absl::string_view sha1,
                v1::FimRow* row);

void FillInstructRow(const KeptKernel& kept, const Conversation& conversation,
                     v1::InstructRow* row);

// The same of a change of a kernel.
void FillInstructRow(const v1::HistoryRow& change, const Conversation& conversation,
                     v1::InstructRow* row);

// `test` is null for a kernel that no test reaches.
void FillReferenceRow(const KeptKernel& kept, const v1::KernelReferences& references,
                      const v1::TestReference* test, v1::ReferenceRow* row);

// Fills everything but what evidence says, which comes after it (dataset/tasks/task_row.h).
void FillTaskRow(const KeptKernel& kept, v1::TaskRow* row);

// Fills `special_tokens`, once all texts are there.
void FillTaskTokens(v1::TaskRow* row);
void FillGraphTokens(v1::GraphRow* row);
void FillParallelTokens(v1::ParallelRow* row);

// Fills one kernel of a pair.
void FillParallelKernel(const KeptKernel& kept, v1::ParallelRow::Kernel* row);

void FillLedgerRow(const DatasetIndex& index, uint32_t number, v1::LedgerRow* row);

void FillNoticeRow(const SourceEntry& source, const v1::SourceFile& file, v1::NoticeRow* row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_FILL_ROWS_H_
