#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PACKED_SOURCES_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PACKED_SOURCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernelmill/v1/job.pb.h"

namespace kernelmill::coordinator {

// The sources of a job, serialized: a job may have 100,000, and each takes four times as much
// memory as a message. Not thread-safe.
class PackedSources {
 public:
  PackedSources() = default;
  // Takes those of the spec, which has none then.
  explicit PackedSources(v1::JobSpec& spec);

  int32_t size() const { return static_cast<int32_t>(packed_.size()); }
  v1::Source Get(int32_t index) const;
  // Whether its role is that; asked of each of a job's million shards.
  bool IsHoldout(int32_t index) const { return holdouts_[index]; }
  // Whether its files go into the dataset, whole.
  bool KeepsFiles(int32_t index) const { return keeps_files_[index]; }
  void Set(int32_t index, const v1::Source& source);
  void Add(const v1::Source& source);
  // Adds all of them to the spec.
  void CopyTo(v1::JobSpec& spec) const;

 private:
  std::vector<std::string> packed_;
  std::vector<bool> holdouts_;
  std::vector<bool> keeps_files_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PACKED_SOURCES_H_
