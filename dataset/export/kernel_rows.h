#ifndef KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_
#define KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/cas/blob_store.h"
#include "common/manifest/fim.h"
#include "common/manifest/walk.h"
#include "dataset/export/conversation_filter.h"
#include "dataset/export/dataset_index.h"
#include "dataset/export/fill_rows.h"
#include "dataset/export/job_evidence.h"
#include "dataset/export/reference_guard.h"
#include "dataset/parquet/tables.h"
#include "dataset/training/conversations.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/reference.pb.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// The files of rows to which kept kernels and whole files give rows.
enum KernelFile : uint8_t {
  kKernelRows,     // kernels.jsonl
  kFimRows,        // fim.jsonl, and as CSV fim_sft.csv
  kInstructRows,   // instruct.jsonl
  kFileRows,       // files.jsonl: of whole files, which give rows to no other
  kIrRows,         // ir.jsonl: which KernelRows has not (MakeIrRows)
  kReferenceRows,  // references.jsonl: likewise (MakeReferenceRows)
  kTaskRows,       // tasks.jsonl
  kKernelFileCount
};

// Tokens (cl100k_base) of a kernel's rows in each file, in their order.
using RowTokenCounts = std::array<std::vector<int64_t>, kKernelFileCount>;

// The rows of one kept kernel.
struct KernelRows {
  std::string records;   // serialized rows (AppendRecord)
  std::string fim_sha1;  // the identity of its fill-in-the-middle example; empty without one
  absl::string_view fim_excluded;            // the reason why it has no example
  std::vector<InstructKey> instruct;         // of each row of instruct.jsonl
  std::vector<NotAsked> not_asked;           // the templates without a row
  RowTokenCounts tokens;                     // the counts of those files that RowTokens names
  const KernelEvidence* evidence = nullptr;  // of the kernel; null without
  bool has_reference = false;                // a test compares the kernel with one
};

// The rows of a kernel that are not written, since earlier ones say the same.
struct RepeatedRows {
  bool fim = false;      // its example
  uint8_t instruct = 0;  // bit n: the conversation n
};

// Appends a row to those that wait: the file, the size in 32 bits, the serialized message.
void AppendRecord(KernelFile file, const google::protobuf::Message& row, std::string* records);

// The files whose rows' tokens are counted. Counting takes as long as all the rest.
using RowTokens = std::array<bool, kKernelFileCount>;

// The messages of a kernel's rows, which keep their memory from one kernel to the next. Not
// thread-safe.
struct RowMessages {
  v1::KernelRow kernel;
  v1::FimRow fim;
  v1::InstructRow instruct;
  v1::FileRow file;
  v1::IrRow ir;
  v1::ReferenceRow reference;
  v1::TaskRow task;
};

// Makes the rows of kept kernels and whole files. Not thread-safe: a thread has its own. `index`
// and `evidence` must outlive it.
class KernelRowMaker {
 public:
  // `count` says whose tokens are counted.
  KernelRowMaker(const DatasetIndex& index, const JobEvidence& evidence, const RowTokens& count)
      : index_(index), evidence_(evidence), count_(count) {}

  // `kernel` has its texts as they may be seen (Redacted); `siblings` are the kernels of its file;
  // `references` is null if they are not known.
  KernelRows Make(uint32_t number, const v1::Kernel& kernel, const v1::Verdict& verdict,
                  const Siblings& siblings, const v1::KernelReferences* references);

  // The same of a whole file, which holds the kept kernels of those ids.
  KernelRows MakeOfFile(uint32_t number, const v1::Kernel& file, const v1::Verdict& verdict,
                        const std::vector<std::string>& kernels);

 private:
  void AddConversations(const KeptKernel& kept, const Conversations& conversations,
                        KernelRows* rows);
  void AddTask(const KeptKernel& kept, const v1::KernelReferences* references, KernelRows* rows);

  const DatasetIndex& index_;
  const JobEvidence& evidence_;
  const RowTokens count_;
  RowMessages messages_;
};

// Text that some kernels give to the files, in the kernels' order.
struct RenderedKernels {
  std::array<RenderedRows, kKernelFileCount> rows;
  std::string fim_csv;    // lines of fim_sft.csv
  std::string functions;  // elements of triton_functions.json, a comma and a newline before each
};

// Renders rows that have waited. Not thread-safe.
class KernelRenderer {
 public:
  // Adds the records of a kernel without the repeated ones. DATA_LOSS: they are not records.
  absl::Status Add(absl::string_view records, const RepeatedRows& repeated, RenderedKernels* out);

 private:
  absl::Status AddRow(KernelFile file, absl::string_view serialized, RenderedKernels* out);

  RowMessages messages_;
};

// Takes a row of ir.jsonl of the kernel of that number.
using IrSink = absl::FunctionRef<absl::Status(uint32_t number, const v1::IrRow& row)>;

// Makes the rows of ir.jsonl of a shard's kept kernels: the texts that compilers made of each, in
// the order of the results, redacted as the kernel is. Holds one blob of texts at a time, however
// many texts a shard has.
//
// DATA_LOSS: a text differs from the one that the kernel's evidence names, or one that it names and
// the job keeps is missing. Other errors are those of the store and of `sink`.
absl::Status MakeIrRows(cas::BlobStore& store, const DatasetIndex& index,
                        const manifest::ShardView& view, IrSink sink);

// Takes a row of references.jsonl of the kernel of that number.
using ReferenceSink = absl::FunctionRef<absl::Status(uint32_t number, const v1::ReferenceRow& row)>;

// Reads the references of a shard's kernels without what the guard withholds; none if the job does
// not ask for them. DATA_LOSS: they are of another number of kernels. Other errors are those of the
// store.
absl::StatusOr<v1::ReferenceShard> ReadReferences(cas::BlobStore& store, const DatasetIndex& index,
                                                  const ReferenceGuard& guard,
                                                  const manifest::ShardView& view);

// Makes the rows of references.jsonl of a shard's kept kernels: one for each test, or one with the
// reason why it has no test; secrets and addresses in them are written over as in the kernel's
// texts. DATA_LOSS: the shard has another number of kernels. Other errors are those of the store
// and of `sink`.
absl::Status MakeReferenceRows(cas::BlobStore& store, const DatasetIndex& index,
                               const ReferenceGuard& guard, const manifest::ShardView& view,
                               ReferenceSink sink);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_KERNEL_ROWS_H_
