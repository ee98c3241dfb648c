#include "services/fetcher/adapters/wheel/wheel_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelmill::fetcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WheelMetadata, ExpressionThenLicenseThenClassifiers) {
  EXPECT_THAT(DeclaredLicenses("Metadata-Version: 2.4\r\n"
                               "Classifier: License :: OSI Approved :: MIT License\n"
                               "Classifier: Programming Language :: Python\n"
                               "License: MIT License\n"
                               "        Copyright someone\n"
                               "LICENSE-EXPRESSION: MIT\n"
                               "\n"
                               "License: in the description\n"),
              ElementsAre("MIT", "MIT License\nCopyright someone",
                          "License :: OSI Approved :: MIT License"));
}

TEST(WheelMetadata, UnknownIsNothing) {
  EXPECT_THAT(DeclaredLicenses("License: UNKNOWN\nLicense-Expression:\n"), IsEmpty());
  EXPECT_THAT(DeclaredLicenses(""), IsEmpty());
  EXPECT_THAT(DeclaredLicenses(" goes on with nothing\nno colon\n"), IsEmpty());
}

}  // namespace
}  // namespace kernelmill::fetcher
