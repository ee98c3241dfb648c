#ifndef KERNELMILL_SERVICES_EXPORTER_CORE_SPOOL_H_
#define KERNELMILL_SERVICES_EXPORTER_CORE_SPOOL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::exporter {

// Records that were rendered in one order and will be wanted in another, held in an unnamed
// temporary file. Not thread-safe. RESOURCE_EXHAUSTED: the disk is full.
class Spool {
 public:
  struct Extent {
    int64_t offset = 0;
    int64_t size = 0;
  };

  // The file lies in `dir` and goes with this object.
  static absl::StatusOr<Spool> Create(const std::string& dir);
  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&&) = delete;
  ~Spool();

  absl::StatusOr<Extent> Append(absl::string_view bytes);
  absl::StatusOr<std::string> Read(Extent extent);
  // Forgets all records.
  absl::Status Clear();

 private:
  explicit Spool(int fd) : fd_(fd) {}
  absl::Status Flush();

  int fd_;
  int64_t written_ = 0;  // bytes in the file; buffer_ follows them
  std::string buffer_;
};

}  // namespace kernelmill::exporter

#endif  // KERNELMILL_SERVICES_EXPORTER_CORE_SPOOL_H_
