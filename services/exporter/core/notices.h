#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_NOTICES_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_NOTICES_H_

#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/exporter/core/dataset_index.h"
#include "services/exporter/core/output_dir.h"

namespace kernelmill::exporter {

// Writes notices.jsonl: of each source, once, the licence and NOTICE files that the verdicts of its
// kept kernels name. Not thread-safe.
class NoticesFile {
 public:
  explicit NoticesFile(FileWriter file) : file_(std::move(file)) {}

  // Begins a source; the one before must have ended.
  void Start(const SourceEntry& source, const v1::SourceTree& tree);
  void Name(const v1::License& license);
  // Writes what was named, by path.
  absl::Status End();

  absl::Status Close() { return file_.Close(); }

 private:
  FileWriter file_;
  SourceEntry source_;
  v1::SourceTree tree_;  // its licence files alone
  std::set<std::string> named_;
};

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_NOTICES_H_
