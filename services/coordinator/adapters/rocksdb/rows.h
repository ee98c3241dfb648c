#ifndef KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROWS_H_
#define KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROWS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// Numbers as keys and values hold them: big-endian, so that keys sort by them.
void AppendFixed32(std::string* out, uint32_t value);
void AppendFixed64(std::string* out, uint64_t value);
// Cut the number off the front of `in`. False: it is too short.
bool TakeFixed32(absl::string_view* in, uint32_t* value);
bool TakeFixed64(absl::string_view* in, uint64_t* value);

// Keys of a job's rows, of a task, and of an attempt of it.
std::string JobKey(absl::string_view prefix, uint32_t job);
std::string TaskKeyOf(uint64_t id);
std::string SpanKeyOf(uint64_t task, uint32_t attempt);

// A task's value, as the grammar in rocksdb_state_store.cc has it. DATA_LOSS: it is none.
std::string EncodeTask(const TaskRow& row);
absl::StatusOr<TaskRow> DecodeTask(uint64_t id, absl::string_view value);

// Likewise an attempt's. All of its text is in UTF-8.
std::string EncodeSpan(const v1::TaskSpan& span);
absl::StatusOr<v1::TaskSpan> DecodeSpan(uint64_t task, absl::string_view value);

// The bytes of a task's place in its job, which sort as the places do.
std::string EncodeTaskKey(const TaskKey& task);
// Cuts the place off the front of `in`. False: it is none.
bool TakeTaskKey(absl::string_view* in, TaskKey* task);

// Likewise a pin record's key and value.
std::string PinKeyOf(const std::string& git, const std::string& ref);
std::string EncodePin(const PinRecord& pin);
absl::StatusOr<PinRecord> DecodePin(absl::string_view value);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_ROWS_H_
