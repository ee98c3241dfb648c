#include "common/worker/stage_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include "common/toolchains/toolchains.h"
#include "kernelmill/v1/action.pb.h"

namespace kernelmill::worker {
namespace {

// The stages `sign`, `reference` and `history` have no parameters.
TEST(StageTableTest, EveryStageOfTheProtoHasARow) {
  const google::protobuf::OneofDescriptor& params = *v1::StageParams::descriptor()->oneof_decl(0);
  std::set<std::string> of_proto = {"history", "reference", "sign"};
  for (int i = 0; i < params.field_count(); ++i) of_proto.insert(params.field(i)->name());
  std::set<std::string> of_table;
  for (const StageInfo& stage : StageTable()) {
    of_table.insert(IsRunStage(stage.id) ? "run" : std::string(stage.name));
  }
  EXPECT_EQ(of_table, of_proto);
}

TEST(StageTableTest, EveryDeviceHasAStageOfItsOwn) {
  std::set<const StageInfo*> stages;
  for (const absl::string_view device : toolchains::RunDevices()) {
    const StageInfo* const stage = FindRunStage(device);
    ASSERT_NE(stage, nullptr) << device;
    EXPECT_TRUE(IsRunStage(stage->id)) << device;
    stages.insert(stage);
  }
  EXPECT_EQ(stages.size(), toolchains::RunDevices().size());
  EXPECT_EQ(std::count_if(StageTable().begin(), StageTable().end(),
                          [](const StageInfo& stage) { return IsRunStage(stage.id); }),
            static_cast<std::ptrdiff_t>(stages.size()));
  EXPECT_EQ(FindRunStage("tpu"), nullptr);
}

TEST(StageTableTest, ARowIsFoundByItsIdAndByItsName) {
  ASSERT_EQ(StageTable().size(), static_cast<size_t>(kStageCount));
  for (const StageInfo& stage : StageTable()) {
    EXPECT_EQ(&GetStageInfo(stage.id), &stage) << stage.name;
    EXPECT_EQ(FindStage(stage.name), &stage);
    EXPECT_GE(stage.version, 1) << stage.name;
  }
  EXPECT_EQ(FindStage("bake"), nullptr);
}

// A stage that asks the outside world may get a different answer the next time, so it is not
// cached: it calls a host, or observes a machine.
TEST(StageTableTest, AStageThatIsNotCachedCallsAHostOrObservesAMachine) {
  for (const StageInfo& stage : StageTable()) {
    if (!stage.cacheable) EXPECT_TRUE(stage.calls_host || IsRunStage(stage.id)) << stage.name;
    if (stage.splittable) EXPECT_EQ(stage.scope, StageScope::kShard) << stage.name;
  }
}

}  // namespace
}  // namespace kernelmill::worker
