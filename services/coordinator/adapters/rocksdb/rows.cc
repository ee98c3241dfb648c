#include "services/coordinator/adapters/rocksdb/rows.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/base/hash.h"
#include "google/rpc/status.pb.h"

namespace kernelmill::coordinator {
namespace {

// Keys and values of the database; rocksdb_state_store.cc has the grammar. Numbers are big-endian,
// so that keys sort by number. The Take functions read from the front of `in` and return false if
// it is too short.
void AppendBigEndian(std::string* out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift & 0xff));
  }
}

bool TakeBigEndian(absl::string_view* in, uint64_t* value, size_t bytes) {
  if (in->size() < bytes) return false;
  *value = 0;
  for (size_t i = 0; i < bytes; ++i) *value = *value << 8 | static_cast<uint8_t>((*in)[i]);
  in->remove_prefix(bytes);
  return true;
}

bool TakeByte(absl::string_view* in, uint8_t* value) {
  if (in->empty()) return false;
  *value = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  return true;
}

// Enum values are checked, so that a damaged row cannot index an array out of bounds.
bool DecodeHeader(absl::string_view* in, TaskRow* row) {
  uint8_t state = 0, stage = 0, cached = 0;
  uint64_t sub_shard = 0;
  uint32_t source = 0, shard = 0;
  if (!TakeByte(in, &state) || !TakeByte(in, &stage) || !TakeByte(in, &cached) ||
      !TakeByte(in, &row->crashes) || !TakeBigEndian(in, &sub_shard, 2) ||
      !TakeFixed32(in, &source) || !TakeFixed32(in, &shard) || !TakeFixed32(in, &row->attempts) ||
      !TakeFixed64(in, &row->token)) {
    return false;
  }
  if (state > static_cast<uint8_t>(TaskState::kSplit) || stage >= kStageCount) return false;
  row->state = static_cast<TaskState>(state);
  row->cached = cached != 0;
  row->key = {static_cast<StageId>(stage), static_cast<SubShard>(sub_shard),
              static_cast<int32_t>(source), static_cast<int32_t>(shard)};
  return true;
}

}  // namespace

void AppendFixed32(std::string* out, uint32_t value) { AppendBigEndian(out, value, 4); }
void AppendFixed64(std::string* out, uint64_t value) { AppendBigEndian(out, value, 8); }

bool TakeFixed32(absl::string_view* in, uint32_t* value) {
  uint64_t wide = 0;
  if (!TakeBigEndian(in, &wide, 4)) return false;
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool TakeFixed64(absl::string_view* in, uint64_t* value) { return TakeBigEndian(in, value, 8); }

std::string EncodeTask(const TaskRow& row) {
  std::string value;
  value.push_back(static_cast<char>(row.state));
  value.push_back(static_cast<char>(row.key.stage));
  value.push_back(row.cached ? 1 : 0);
  value.push_back(static_cast<char>(row.crashes));
  AppendBigEndian(&value, row.key.sub_shard, 2);
  AppendFixed32(&value, static_cast<uint32_t>(row.key.source));
  AppendFixed32(&value, static_cast<uint32_t>(row.key.shard));
  AppendFixed32(&value, row.attempts);
  AppendFixed64(&value, row.token);
  if (row.state == TaskState::kDone) row.result.AppendToString(&value);
  if (row.state != TaskState::kDone && !row.error.ok()) {
    google::rpc::Status error;
    error.set_code(row.error.raw_code());
    error.set_message(std::string(row.error.message()));
    error.AppendToString(&value);
  }
  return value;
}

// DATA_LOSS: the row is damaged, or a later build wrote it.
absl::StatusOr<TaskRow> DecodeTask(uint64_t id, absl::string_view value) {
  TaskRow row;
  row.id = id;
  google::rpc::Status error;
  bool good = DecodeHeader(&value, &row);
  if (good && row.state == TaskState::kDone) {
    good = row.result.ParseFromArray(value.data(), static_cast<int>(value.size()));
  } else if (good && !value.empty()) {
    good = error.ParseFromArray(value.data(), static_cast<int>(value.size()));
    row.error = absl::Status(static_cast<absl::StatusCode>(error.code()), error.message());
  }
  if (!good) return absl::DataLossError(absl::StrCat("task ", id, " is not readable"));
  return row;
}

std::string EncodeSpan(const v1::TaskSpan& span) {
  v1::TaskSpan value = span;
  value.clear_task();
  return value.SerializeAsString();
}

absl::StatusOr<v1::TaskSpan> DecodeSpan(uint64_t task, absl::string_view value) {
  v1::TaskSpan span;
  if (!span.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return absl::DataLossError(absl::StrCat("an attempt at task ", task, " is not readable"));
  }
  span.set_task(task);
  return span;
}

std::string EncodeTaskKey(const TaskKey& task) {
  std::string key(1, static_cast<char>(task.stage));
  AppendFixed32(&key, static_cast<uint32_t>(task.source));
  AppendFixed32(&key, static_cast<uint32_t>(task.shard));
  AppendBigEndian(&key, task.sub_shard, 2);
  return key;
}

bool TakeTaskKey(absl::string_view* in, TaskKey* task) {
  uint8_t stage = 0;
  uint32_t source = 0, shard = 0;
  uint64_t sub_shard = 0;
  if (!TakeByte(in, &stage) || stage >= kStageCount || !TakeFixed32(in, &source) ||
      !TakeFixed32(in, &shard) || !TakeBigEndian(in, &sub_shard, 2)) {
    return false;
  }
  *task = {static_cast<StageId>(stage), static_cast<SubShard>(sub_shard),
           static_cast<int32_t>(source), static_cast<int32_t>(shard)};
  return true;
}

// A hash makes the key's size independent of URL and ref. LastPin does not compare them: a
// collision of SHA-256 is not expected.
std::string PinKey(const std::string& git, const std::string& ref) {
  return absl::StrCat("v/", Sha256Hex(absl::StrCat(git, "\n", ref)));
}

std::string EncodePin(const PinRecord& pin) {
  std::string value;
  AppendFixed64(&value, static_cast<uint64_t>(absl::ToUnixSeconds(pin.when)));
  value.push_back(static_cast<char>(pin.code));
  AppendFixed32(&value, static_cast<uint32_t>(pin.git.size()));
  AppendFixed32(&value, static_cast<uint32_t>(pin.ref.size()));
  absl::StrAppend(&value, pin.git, pin.ref, pin.commit);
  return value;
}

absl::StatusOr<PinRecord> DecodePin(absl::string_view value) {
  uint64_t seconds = 0;
  uint8_t code = 0;
  uint32_t git = 0, ref = 0;
  if (!TakeFixed64(&value, &seconds) || !TakeByte(&value, &code) || !TakeFixed32(&value, &git) ||
      !TakeFixed32(&value, &ref) || uint64_t{git} + ref > value.size()) {
    return absl::DataLossError("a pin record is not readable");
  }
  PinRecord pin;
  pin.when = absl::FromUnixSeconds(static_cast<int64_t>(seconds));
  pin.code = static_cast<absl::StatusCode>(code);
  pin.git = std::string(value.substr(0, git));
  pin.ref = std::string(value.substr(git, ref));
  pin.commit = std::string(value.substr(size_t{git} + ref));
  return pin;
}

std::string JobKey(absl::string_view prefix, uint32_t job) {
  std::string key(prefix);
  AppendFixed32(&key, job);
  return key;
}

std::string TaskRowKey(uint64_t id) {
  std::string key = "t/";
  AppendFixed64(&key, id);
  return key;
}

std::string SpanKey(uint64_t task, uint32_t attempt) {
  std::string key = "a/";
  AppendFixed64(&key, task);
  AppendFixed32(&key, attempt);
  return key;
}

}  // namespace kernelmill::coordinator
