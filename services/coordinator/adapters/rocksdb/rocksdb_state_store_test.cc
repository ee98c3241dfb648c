#include "services/coordinator/adapters/rocksdb/rocksdb_state_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/rocksdb/backup.h"
#include "common/testing/status_matchers.h"
#include "services/coordinator/adapters/rocksdb/rows.h"

namespace kernelmill::coordinator {
namespace {

std::vector<TaskRow> ReadTasks(StateStore& store, uint32_t job) {
  std::vector<TaskRow> rows;
  EXPECT_TRUE(store
                  .ForEachTask(job,
                               [&](const TaskRow& row) {
                                 rows.push_back(row);
                                 return true;
                               })
                  .ok());
  return rows;
}

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

class RocksDbStateStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = TempDir::Create();
    ASSERT_TRUE(dir.ok());
    dir_ = std::make_unique<TempDir>(*std::move(dir));
    Open();
  }
  void Open() {
    store_.reset();
    auto opened = RocksDbStateStore::Open(dir_->path());
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }

  static JobRow Job(uint32_t sequence) {
    JobRow row;
    row.sequence = sequence;
    row.request_id = absl::StrCat("request ", sequence);
    row.caller = absl::StrCat("client ", sequence);
    row.plan = "pin=1;";
    row.spec.set_name("job");
    row.status.set_job(absl::StrCat("job-", sequence));
    row.status.set_state(v1::JOB_STATE_RUNNING);
    return row;
  }
  static TaskRow Task(uint32_t job, uint32_t index) {
    TaskRow row;
    row.id = TaskId(job, index);
    row.key = {StageId::kExtract, 3, static_cast<int32_t>(index)};
    return row;
  }

  // The log file that was written last.
  std::string Log() const {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(dir_->path())) {
      if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().string());
    }
    return newest;
  }

  std::unique_ptr<TempDir> dir_;
  std::unique_ptr<RocksDbStateStore> store_;
};

TEST_F(RocksDbStateStoreTest, EverythingIsThereAfterAReopening) {
  Change change;
  change.jobs = {Job(1), Job(2)};
  change.tasks = {Task(1, 1), Task(1, 2), Task(2, 1)};
  change.tasks[0].state = TaskState::kDone;
  change.tasks[0].cached = true;
  change.tasks[0].attempts = 2;
  change.tasks[0].token = 0x0102030405060708;
  change.tasks[0].result.add_outputs()->set_name("kernels");
  change.tasks[1].state = TaskState::kFailed;
  change.tasks[1].error = absl::NotFoundError("gone");
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  Open();
  const std::vector<JobRow> jobs = *store_->Jobs();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[1].sequence, 2u);
  EXPECT_EQ(jobs[1].request_id, "request 2");
  EXPECT_EQ(jobs[1].plan, "pin=1;");
  EXPECT_EQ(jobs[1].caller, "client 2");
  EXPECT_EQ(jobs[1].spec.name(), "") << "specs may be large";
  EXPECT_EQ(store_->Spec(2)->name(), "job");
  const std::vector<TaskRow> tasks = ReadTasks(*store_, 1);
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].key, change.tasks[0].key);
  EXPECT_EQ(tasks[0].state, TaskState::kDone);
  EXPECT_TRUE(tasks[0].cached);
  EXPECT_EQ(tasks[0].attempts, 2u);
  EXPECT_EQ(tasks[0].token, 0x0102030405060708u);
  EXPECT_EQ(tasks[0].result.outputs(0).name(), "kernels");
  EXPECT_EQ(tasks[1].error, absl::NotFoundError("gone"));
  EXPECT_EQ(store_->Task(TaskId(2, 1))->state, TaskState::kReady);
  EXPECT_THAT(store_->Task(TaskId(2, 2)), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RocksDbStateStoreTest, AnEndedJobIsListedBrieflyAndReadInFull) {
  Change change;
  change.jobs = {Job(1)};
  v1::JobStatus ended = change.jobs[0].status;
  ended.set_state(v1::JOB_STATE_DONE);
  ended.add_failures()->set_message("why");
  ended.mutable_dataset()->set_hash("h");
  change.ended = {{.sequence = 1, .status = ended}};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  const std::vector<JobRow> jobs = *store_->Jobs();
  EXPECT_EQ(jobs[0].status.failures_size(), 0);
  EXPECT_EQ(jobs[0].status.dataset().hash(), "h");
  EXPECT_EQ(store_->Status(1)->failures(0).message(), "why");
}

v1::JobSpec ReadLock(StateStore& store, uint32_t job) {
  v1::JobSpec lock;
  EXPECT_THAT(store.ForEachLockPart(job,
                                    [&](const v1::JobSpec& part) {
                                      EXPECT_LT(part.ByteSizeLong(), 2u << 20);
                                      lock.MergeFrom(part);
                                      return true;
                                    }),
              IsOk());
  return lock;
}

v1::JobSpec ManySources(int count) {
  v1::JobSpec spec;
  spec.set_name("many");
  for (int i = 0; i < count; ++i) {
    spec.add_sources()->set_git(absl::StrCat("https://a.org/", i, std::string(500, 'x')));
  }
  return spec;
}

TEST_F(RocksDbStateStoreTest, FailuresAreReadInPagesAndTheLockInParts) {
  Change change;
  change.jobs = {Job(1), Job(2)};
  EndedJob end = {
      .sequence = 1, .status = change.jobs[0].status, .lock = SplitSpec(ManySources(9000))};
  for (const int source : {300, 2, 1}) {
    end.failures.push_back({{.stage = StageId::kPin, .source = source}, {}});
    end.failures.back().failure.set_source(absl::StrCat(source));
  }
  end.failures.push_back({{.stage = StageId::kExtract, .source = 1}, {}});
  EndedJob other = {.sequence = 2, .status = change.jobs[1].status};
  other.failures = {end.failures[0]};
  EXPECT_EQ(end.lock.size(), 6u);
  change.ended = {end, other};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  Open();
  EXPECT_EQ(ReadLock(*store_, 1).SerializeAsString(), ManySources(9000).SerializeAsString());
  EXPECT_EQ(ReadLock(*store_, 2).sources_size(), 0);
  const std::vector<TaskFailure> first = *store_->Failures(1, nullptr, 2);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].failure.source(), "1");
  EXPECT_EQ(first[1].failure.source(), "2");
  const std::vector<TaskFailure> rest = *store_->Failures(1, &first[1].task, 10);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].failure.source(), "300");
  EXPECT_EQ(rest[1].task.stage, StageId::kExtract);
  Change again;
  again.erased = {1};
  ASSERT_THAT(store_->Write({again}, true), IsOk());
  EXPECT_TRUE(store_->Failures(1, nullptr, 10)->empty());
  EXPECT_EQ(ReadLock(*store_, 1).sources_size(), 0);
  EXPECT_EQ(store_->Failures(2, nullptr, 10)->size(), 1u);
}

// Writes rows past the store, such as those of an older format, and reads one.
void PutRows(const std::string& dir, const std::map<std::string, std::string>& rows) {
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, dir, &db).ok());
  for (const auto& [key, value] : rows) ASSERT_TRUE(db->Put({}, key, value).ok());
  delete db;
}
std::string ReadRow(const std::string& dir, const std::string& key) {
  rocksdb::DB* db = nullptr;
  EXPECT_TRUE(rocksdb::DB::OpenForReadOnly({}, dir, &db).ok());
  std::string value;
  if (!db->Get({}, key, &value).ok()) value = "none";
  delete db;
  return value;
}

TEST_F(RocksDbStateStoreTest, TheEndsOfFormat2AreDivided) {
  Change change;
  change.jobs = {Job(1)};
  v1::JobStatus whole = change.jobs[0].status;
  whole.set_state(v1::JOB_STATE_DONE);
  *whole.mutable_lock() = ManySources(4000);
  for (int i = 0; i < 1500; ++i) whole.add_failures()->set_source(absl::StrCat(i));
  change.ended = {{.sequence = 1, .status = whole}};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  store_.reset();
  for (const char* format : {"2", "2 to 3"}) {  // as a killed upgrade leaves it
    PutRows(dir_->path(), {{"m/format", format}});
    Open();
    const v1::JobStatus status = *store_->Status(1);
    EXPECT_EQ(status.state(), v1::JOB_STATE_DONE);
    EXPECT_EQ(status.failures_size(), 100);
    EXPECT_EQ(status.failure_count(), 1500);
    EXPECT_FALSE(status.has_lock());
    EXPECT_TRUE(ReadLock(*store_, 1).SerializeAsString() == ManySources(4000).SerializeAsString());
    const std::vector<TaskFailure> failures = *store_->Failures(1, nullptr, 2000);
    ASSERT_EQ(failures.size(), 1500u);
    for (int i = 0; i < 1500; ++i) ASSERT_EQ(failures[i].failure.source(), absl::StrCat(i));
    store_.reset();
  }
  EXPECT_EQ(ReadRow(dir_->path(), "m/format"), "3");
}

TEST_F(RocksDbStateStoreTest, OwnersOfFormat2AreStoredAndRowsOfEndedJobsGo) {
  Change change;
  change.jobs = {Job(1), Job(2)};
  v1::JobStatus ended = change.jobs[0].status;
  ended.set_state(v1::JOB_STATE_CANCELLED);
  change.ended = {{.sequence = 1, .status = ended}};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  store_.reset();
  PutRows(dir_->path(),
          {{"m/format", "2"}, {JobKey("c/", 1), "client 1"}, {JobKey("p/", 1), "plan"}});
  Open();
  EXPECT_EQ(store_->Status(1)->owner(), "client 1");
  const std::vector<JobRow> jobs = *store_->Jobs();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[1].status.owner(), "client 2");
  EXPECT_EQ(jobs[1].caller, "client 2");
  EXPECT_EQ(jobs[1].plan, "pin=1;");
  store_.reset();
  for (const char* prefix : {"c/", "p/"}) {
    EXPECT_EQ(ReadRow(dir_->path(), JobKey(prefix, 1)), "none");
    EXPECT_NE(ReadRow(dir_->path(), JobKey(prefix, 2)), "none");
  }
}

TEST_F(RocksDbStateStoreTest, AnEndedJobHasNoRowsThatOnlyARunningOneNeeds) {
  Change change;
  change.jobs = {Job(1)};
  change.ended = {{.sequence = 1, .status = change.jobs[0].status}};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  store_.reset();
  for (const char* prefix : {"c/", "p/"}) {
    EXPECT_EQ(ReadRow(dir_->path(), JobKey(prefix, 1)), "none");
  }
}

TEST_F(RocksDbStateStoreTest, TheOwnersNameIsMadeOnceAndInABackup) {
  const std::string name = *store_->OwnerName();
  EXPECT_EQ(name.size(), 8u);
  Open();
  EXPECT_EQ(*store_->OwnerName(), name);
  EXPECT_NE(*(*RocksDbStateStore::Open(dir_->path() + "/other"))->OwnerName(), name);
  const std::string backup = dir_->path() + "/backup", restored = dir_->path() + "/restored";
  const std::atomic<bool> stop(false);
  ASSERT_THAT(store_->BackUp(backup, stop), IsOk());
  ASSERT_THAT(RestoreBackup(kCoordinatorDatabase, backup, restored), IsOk());
  EXPECT_EQ(*(*RocksDbStateStore::Open(restored))->OwnerName(), name);
  std::filesystem::create_directory(restored + "/restoring");  // as a killed restore leaves it
  EXPECT_THAT(RocksDbStateStore::Open(restored).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// Two restores of one backup, with jobs after each, as after a disk that failed twice.
TEST_F(RocksDbStateStoreTest, NoRestoreGivesNamesOfJobsAgain) {
  Change change;
  change.jobs = {Job(4)};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  const std::string backup = dir_->path() + "/backup";
  const std::atomic<bool> stop(false);
  ASSERT_THAT(store_->BackUp(backup, stop), IsOk());
  change.jobs = {Job(5), Job(3000)};  // lost with the disk
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  uint32_t known = *store_->LastSequence();
  absl::Time now = absl::FromCivil(absl::CivilDay(2026, 12, 1), absl::UTCTimeZone());
  for (const char* restored : {"/first", "/second"}) {
    const std::string data = dir_->path() + restored;
    ASSERT_THAT(RestoreBackup(kCoordinatorDatabase, backup, data), IsOk());
    const auto store = *RocksDbStateStore::Open(data, now);
    const uint32_t last = *store->LastSequence();
    EXPECT_GT(last, known) << restored;
    change.jobs = {Job(last + 1), Job(last + 2000)};
    ASSERT_THAT(store->Write({change}, true), IsOk());
    known = *store->LastSequence();
    now += absl::Hours(1);
  }
  EXPECT_EQ(*(*RocksDbStateStore::Open(dir_->path() + "/second", now))->LastSequence(), known)
      << "the next start is no restore";
}

TEST_F(RocksDbStateStoreTest, ARestoredOneNumbersOnIfTheClockIsWrong) {
  Change change;
  change.jobs = {Job(4)};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  const std::string backup = dir_->path() + "/backup", restored = dir_->path() + "/restored";
  const std::atomic<bool> stop(false);
  ASSERT_THAT(store_->BackUp(backup, stop), IsOk());
  ASSERT_THAT(RestoreBackup(kCoordinatorDatabase, backup, restored), IsOk());
  EXPECT_EQ(*(*RocksDbStateStore::Open(restored, absl::UnixEpoch()))->LastSequence(), 1004u);
}

TEST_F(RocksDbStateStoreTest, TheOwnersNameOfFormat2ComesFromItsFile) {
  store_.reset();
  const std::string file = dir_->path() + "/owner";
  PutRows(dir_->path(), {{"m/format", "2"}});
  ASSERT_THAT(WriteFile(file, "12345"), IsOk());
  EXPECT_THAT(RocksDbStateStore::Open(dir_->path()).status(),
              StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_THAT(WriteFile(file, "00c0ffee"), IsOk());
  Open();
  EXPECT_EQ(*store_->OwnerName(), "00c0ffee");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(RocksDbStateStoreTest, TheTasksOfFormat1AreDropped) {
  Change change;
  change.jobs = {Job(1), Job(2)};
  change.tasks = {Task(2, 1)};
  v1::JobStatus ended = change.jobs[0].status;
  ended.set_state(v1::JOB_STATE_DONE);
  change.ended = {{.sequence = 1, .status = ended}};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  store_.reset();
  PutRows(dir_->path(), {{"m/format", "1"}});
  Open();
  EXPECT_TRUE(ReadTasks(*store_, 2).empty());
  EXPECT_EQ((*store_->Jobs())[1].plan, "format 1");
  EXPECT_EQ(*store_->LastSequence(), 2u);
}

TEST_F(RocksDbStateStoreTest, ErasingAJobsTasksSparesOtherJobsAndNewTasks) {
  Change change;
  change.tasks = {Task(1, 1), Task(1, 2), Task(2, 1)};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  Change again;
  again.erased = {1};
  again.tasks = {Task(1, 1)};
  ASSERT_THAT(store_->Write({again}, true), IsOk());
  EXPECT_EQ(ReadTasks(*store_, 1).size(), 1u);
  EXPECT_EQ(ReadTasks(*store_, 2).size(), 1u);
}

TEST_F(RocksDbStateStoreTest, ASecondProcessIsRefused) {
  EXPECT_THAT(RocksDbStateStore::Open(dir_->path()).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RocksDbStateStoreTest, AFolderThatLostCurrentIsRefusedAndLeftAlone) {
  Change change;
  change.tasks = {Task(1, 1)};
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  store_.reset();
  const std::filesystem::path current = dir_->path() + "/CURRENT", away = dir_->path() + "/away";
  std::filesystem::rename(current, away);
  const absl::Status refused = RocksDbStateStore::Open(dir_->path()).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kDataLoss));
  for (const std::string& words :
       {dir_->path(), std::string("CURRENT is missing"), std::string("refusing to start")}) {
    EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr(words));
  }
  std::filesystem::rename(away, current);
  Open();
  EXPECT_EQ(ReadTasks(*store_, 1).size(), 1u);
}

TEST_F(RocksDbStateStoreTest, OnlyTheOwnerMayEnterTheFolder) {
  const std::string dir = dir_->path() + "/deep/state";
  ASSERT_THAT(RocksDbStateStore::Open(dir).status(), IsOk());
  EXPECT_EQ(std::filesystem::status(dir).permissions(), std::filesystem::perms::owner_all);
}

// Copies the files of an open database, as a crash would leave them.
void CopyFiles(const std::string& from, const std::string& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to);
}

TEST_F(RocksDbStateStoreTest, ATornTailIsCutOffButDamageBeforeItIsRefused) {
  for (uint32_t i = 1; i <= 50; ++i) {
    Change change;
    change.tasks = {Task(1, i)};
    ASSERT_THAT(store_->Write({change}, true), IsOk());
  }
  const std::string log = std::filesystem::path(Log()).filename();
  const std::string copy = dir_->path() + "-copy";
  CopyFiles(dir_->path(), copy);
  const std::string copied_log = copy + "/" + log;
  const auto size = std::filesystem::file_size(copied_log);
  ASSERT_GT(size, 1000u);
  std::filesystem::resize_file(copied_log, size - 3);
  {
    const auto torn = RocksDbStateStore::Open(copy);
    ASSERT_THAT(torn.status(), IsOk());
    EXPECT_EQ(ReadTasks(**torn, 1).size(), 49u);
  }
  CopyFiles(dir_->path(), copy);
  {
    std::fstream file(copied_log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(size / 2));
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.put(byte);
  }
  EXPECT_THAT(RocksDbStateStore::Open(copy).status(), StatusIs(absl::StatusCode::kDataLoss));
  std::filesystem::remove_all(copy);
}

TEST_F(RocksDbStateStoreTest, TheLastPinOfARefIsKept) {
  Change change;
  for (const int64_t seconds : {100, 200}) {
    PinRecord pin;
    pin.git = "https://a.org/r";
    pin.ref = "main";
    pin.when = absl::FromUnixSeconds(seconds);
    pin.commit = absl::StrCat("commit at ", seconds);
    change.pins.push_back(pin);
  }
  change.pins.push_back(change.pins[0]);
  change.pins[2].ref = "next";
  change.pins[2].code = absl::StatusCode::kNotFound;
  change.pins[2].commit = "";
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  Open();
  const absl::StatusOr<PinRecord> last = store_->LastPin("https://a.org/r", "main");
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(last->commit, "commit at 200");
  EXPECT_EQ(last->when, absl::FromUnixSeconds(200));
  EXPECT_EQ(last->code, absl::StatusCode::kOk);
  EXPECT_EQ(store_->LastPin("https://a.org/r", "next")->code, absl::StatusCode::kNotFound);
  EXPECT_THAT(store_->LastPin("https://a.org/r", "HEAD"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(Rows, DamagedPinRecordsAreRefused) {
  PinRecord pin;
  pin.git = "https://a.org/r";
  pin.when = absl::FromUnixSeconds(1);
  const std::string good = EncodePin(pin);
  EXPECT_THAT(DecodePin(good), IsOk());
  EXPECT_THAT(DecodePin(good.substr(0, 20)), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(Rows, DamagedTasksAreRefused) {
  TaskRow row;
  row.state = TaskState::kDone;
  row.result.add_outputs()->set_name("kernels");
  const std::string good = EncodeTask(row);
  ASSERT_THAT(DecodeTask(1, good), IsOk());
  EXPECT_THAT(DecodeTask(1, good.substr(0, good.size() - 1)),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(DecodeTask(1, good.substr(0, 10)), StatusIs(absl::StatusCode::kDataLoss));
  std::string state = good;
  state[0] = 9;
  EXPECT_THAT(DecodeTask(1, state), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RocksDbStateStoreTest, AttemptsAreKeptInOrderAndGoWithTheirJob) {
  const auto span = [](uint32_t job, uint32_t index, int32_t attempt, const char* outcome) {
    v1::TaskSpan span;
    span.set_task(TaskId(job, index));
    span.set_attempt(attempt);
    span.set_outcome(outcome);
    return span;
  };
  Change change;
  change.spans = {span(1, 2, 1, "handed_back"), span(1, 10, 2, "done"), span(1, 10, 1, "failed"),
                  span(1, 2, 1, "done"), span(2, 1, 1, "done")};
  EXPECT_FALSE(change.empty());
  ASSERT_THAT(store_->Write({change}, true), IsOk());
  Open();
  const auto read = [&](uint64_t first) {
    std::string text;
    EXPECT_THAT(store_->ForEachSpan(first,
                                    [&](const v1::TaskSpan& span) {
                                      absl::StrAppend(&text, TaskIndex(span.task()), "/",
                                                      span.attempt(), " ", span.outcome(), ";");
                                      return true;
                                    }),
                IsOk());
    return text;
  };
  EXPECT_EQ(read(TaskId(1, 1)), "2/1 done;10/1 failed;10/2 done;");
  EXPECT_EQ(read(TaskId(1, 3)), "10/1 failed;10/2 done;");
  Change erase;
  erase.erased = {1};
  ASSERT_THAT(store_->Write({erase}, true), IsOk());
  EXPECT_EQ(read(TaskId(1, 1)), "");
  EXPECT_EQ(read(TaskId(2, 1)), "1/1 done;");
  Change deletion;
  deletion.deleted = {2};
  ASSERT_THAT(store_->Write({deletion}, true), IsOk());
  EXPECT_EQ(read(TaskId(2, 1)), "");
}

}  // namespace
}  // namespace kernelmill::coordinator
