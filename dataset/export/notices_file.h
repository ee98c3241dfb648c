#ifndef KERNELMILL_DATASET_EXPORT_NOTICES_FILE_H_
#define KERNELMILL_DATASET_EXPORT_NOTICES_FILE_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataset/analysis/provenance.h"
#include "dataset/export/dataset_index.h"
#include "dataset/parquet/tables.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::dataset {

// Writes notices.jsonl: for each source, once, the licence and NOTICE files that the verdicts on
// its kept kernels name, and the licence files of the folders above those kernels: a header or a
// tag names a licence, and its text has to go along all the same. Not thread-safe.
class NoticesFile {
 public:
  // `provenance` is told of every source, too. Both must outlive it.
  NoticesFile(TableWriter* tables, Provenance* provenance)
      : tables_(*tables), provenance_(*provenance) {}

  // Begins a source; the one before must have ended.
  void StartSource(const SourceEntry& source, const v1::SourceTree& tree);
  // Takes what the verdict on a kept kernel of the file at `path`, or on a whole file, names.
  void AddNamedBy(const v1::Verdict& verdict, absl::string_view path, bool whole_file);
  // Writes what goes along, by path.
  absl::Status EndSource();

 private:
  bool GoesAlong(const std::string& path) const;

  TableWriter& tables_;
  Provenance& provenance_;
  SourceEntry source_;
  v1::SourceTree license_files_;  // the source's; the rest of its tree is left out
  std::set<std::string> named_;
  std::set<std::string> folders_;  // those above a kept kernel's file; "" is the root
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_NOTICES_FILE_H_
