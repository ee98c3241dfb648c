#include "services/store/core/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/status_matchers.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

TEST(AdmissionTest, NothingIsWrittenWhileTooLittleOfTheDiskIsFree) {
  Admission admission(/*limit_bytes=*/0, absl::ZeroDuration(), /*keep_free_bytes=*/1000);
  EXPECT_THAT(admission.Admit(1), IsOk()) << "not measured yet";
  admission.FreeMeasured(1000);
  EXPECT_THAT(admission.Admit(1), IsOk());
  EXPECT_THAT(admission.HasRoom(), IsOk());
  admission.FreeMeasured(999);
  const absl::Status refused = admission.Admit(1);
  EXPECT_THAT(refused, StatusIs(kExhausted));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the store's disk is full"));
  EXPECT_THAT(admission.HasRoom(), StatusIs(kExhausted));
  admission.FreeMeasured(1000);
  EXPECT_THAT(admission.Admit(1), StatusIs(kExhausted)) << "a little more is needed to go on";
  admission.FreeMeasured(1250);
  EXPECT_THAT(admission.Admit(1), IsOk());
  EXPECT_THAT(admission.HasRoom(), IsOk());
}

TEST(AdmissionTest, ADatabaseThatTakesNoWritesHasNoRoom) {
  Admission admission(/*limit_bytes=*/0);
  EXPECT_THAT(admission.Noted(absl::UnavailableError("repair")),
              StatusIs(absl::StatusCode::kUnavailable));
  admission.FreeMeasured(1 << 30);
  EXPECT_THAT(admission.HasRoom(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(AdmissionTest, AWriteThatFoundNoRoomIsToldForAWhile) {
  Admission admission(/*limit_bytes=*/0);
  EXPECT_THAT(admission.Noted(absl::DataLossError("damaged")),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(admission.HasRoom(), IsOk());
  EXPECT_THAT(admission.Noted(absl::ResourceExhaustedError("full")), StatusIs(kExhausted));
  EXPECT_THAT(admission.HasRoom(), StatusIs(kExhausted));
  EXPECT_THAT(admission.Admit(1), IsOk()) << "the next write may find some";
}

}  // namespace
}  // namespace kernelmill::store
