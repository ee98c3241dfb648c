#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PACKED_SOURCES_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PACKED_SOURCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::coordinator {

// The sources of a job, serialized: a job may have 100,000, and a message takes four times as much
// memory. Not thread-safe.
class PackedSources {
 public:
  PackedSources() = default;
  // Moves the sources out of `spec`.
  explicit PackedSources(v1::JobSpec& spec);

  int32_t size() const { return static_cast<int32_t>(packed_.size()); }
  v1::Source Get(int32_t index) const;
  // Returns whether the source is a holdout. Fast, since it is called for each of a million shards.
  bool IsHoldout(int32_t index) const { return holdouts_[index]; }
  // Returns whether the source has evidence, as fast.
  bool IsEvidence(int32_t index) const { return evidence_[index]; }
  // Returns job::ReadsWholeFiles of the source, as fast.
  bool ReadsWholeFiles(int32_t index) const { return whole_files_[index]; }
  // Returns Source.languages; null for a source that names none.
  const std::vector<std::string>* GetLanguages(int32_t index) const;
  void Set(int32_t index, const v1::Source& source);
  void Add(const v1::Source& source);
  // Adds all sources to the spec.
  void CopyTo(v1::JobSpec& spec) const;

 private:
  void SetLanguages(int32_t index, const v1::Source& source);

  std::vector<std::string> packed_;
  std::vector<bool> holdouts_;
  std::vector<bool> evidence_;
  std::vector<bool> whole_files_;
  absl::flat_hash_map<int32_t, std::vector<std::string>>
      languages_;  // only where a source names some
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PLAN_PACKED_SOURCES_H_
