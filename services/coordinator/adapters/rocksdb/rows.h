#ifndef KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROWS_H_
#define KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROWS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// Append a number to a key or value, big-endian, so that keys sort by it.
void AppendFixed32(std::string* out, uint32_t value);
void AppendFixed64(std::string* out, uint64_t value);
// Remove a number from the front of `in`. Return false if `in` is too short.
bool TakeFixed32(absl::string_view* in, uint32_t* value);
bool TakeFixed64(absl::string_view* in, uint64_t* value);

// Make the keys of a job's rows, of a task, and of an attempt.
std::string JobKey(absl::string_view prefix, uint32_t job);
std::string TaskRowKey(uint64_t id);
std::string SpanKey(uint64_t task, uint32_t attempt);

// Convert a task's value; rocksdb_state_store.cc has the grammar. DATA_LOSS: the value is
// malformed.
std::string EncodeTask(const TaskRow& row);
absl::StatusOr<TaskRow> DecodeTask(uint64_t id, absl::string_view value);

// Convert an attempt's value. All of its text must be UTF-8. DATA_LOSS: the value is malformed.
std::string EncodeSpan(const v1::TaskSpan& span);
absl::StatusOr<v1::TaskSpan> DecodeSpan(uint64_t task, absl::string_view value);

// Encodes a TaskKey so that the bytes sort like the keys.
std::string EncodeTaskKey(const TaskKey& task);
// Removes a TaskKey from the front of `in`. Returns false if it is malformed.
bool TakeTaskKey(absl::string_view* in, TaskKey* task);

// Make the key of a pin record, and convert its value. DATA_LOSS: the value is malformed.
std::string PinKey(const std::string& git, const std::string& ref);
std::string EncodePin(const PinRecord& pin);
absl::StatusOr<PinRecord> DecodePin(absl::string_view value);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROWS_H_
