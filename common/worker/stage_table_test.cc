#include "common/worker/stage_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernelmill/v1/action.pb.h"

namespace kernelmill::worker {
namespace {

// The stages `sign` and `reference` have no parameters.
TEST(StageTableTest, EveryStageOfTheProtoHasARow) {
  const google::protobuf::OneofDescriptor& params = *v1::StageParams::descriptor()->oneof_decl(0);
  std::set<std::string> of_proto = {"reference", "sign"};
  for (int i = 0; i < params.field_count(); ++i) of_proto.insert(params.field(i)->name());
  std::set<std::string> of_table;
  for (const StageInfo& stage : StageTable()) of_table.insert(std::string(stage.name));
  EXPECT_EQ(of_table, of_proto);
  EXPECT_EQ(of_table.size(), static_cast<size_t>(kStageCount)) << "two rows have one name";
}

TEST(StageTableTest, ARowIsFoundByItsIdAndByItsName) {
  for (const StageInfo& stage : StageTable()) {
    EXPECT_EQ(&GetStageInfo(stage.id), &stage) << stage.name;
    EXPECT_EQ(FindStage(stage.name), &stage);
    EXPECT_GE(stage.version, 1) << stage.name;
  }
  EXPECT_EQ(FindStage("bake"), nullptr);
}

// A stage that asks the outside world may get a different answer the next time, so it is not
// cached and it calls a host.
TEST(StageTableTest, AStageThatIsNotCachedCallsAHost) {
  for (const StageInfo& stage : StageTable()) {
    if (!stage.cacheable) EXPECT_TRUE(stage.calls_host) << stage.name;
    if (stage.splittable) EXPECT_EQ(stage.scope, StageScope::kShard) << stage.name;
  }
}

}  // namespace
}  // namespace kernelmill::worker
