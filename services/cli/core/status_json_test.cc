#include "services/cli/core/status_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace kernelmill::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::JobStatus DoneJob() {
  v1::JobStatus status;
  status.set_job("j1");
  status.set_state(v1::JOB_STATE_DONE);
  return status;
}

void AddFailure(v1::JobStatus& status, const std::string& path) {
  v1::Failure* failure = status.add_failures();
  failure->set_source("demo");
  failure->set_path(path);
}

TEST(SummaryJson, IsOneObjectOnOneLine) {
  const std::string json = SummaryJson(DoneJob(), "/o\"ut");
  EXPECT_THAT(json, HasSubstr("\"out\":\"/o\\\"ut\""));
  EXPECT_THAT(json, HasSubstr("\"exit\":0}"));
  EXPECT_THAT(json, Not(HasSubstr("\n")));
}

TEST(StatusJson, HasPathsAsText) {
  v1::JobStatus status = DoneJob();
  AddFailure(status, "kernels/a b.py");
  AddFailure(status, "bad\xff.py");
  AddFailure(status, "");
  const auto json = nlohmann::json::parse(StatusJson(status));
  ASSERT_EQ(json["failures"].size(), 3u);
  EXPECT_EQ(json["failures"][0]["path"], "kernels/a b.py");
  EXPECT_FALSE(json["failures"][0].contains("path_base64"));
  EXPECT_EQ(json["failures"][1]["path"], "bad\xef\xbf\xbd.py");
  EXPECT_EQ(json["failures"][1]["path_base64"], "YmFk/y5weQ==");
  EXPECT_EQ(json["failures"][2]["path"], "");
}

TEST(StatusJson, IsTheSameShapeWithAndWithoutPaths) {
  v1::JobStatus status = DoneJob();
  AddFailure(status, "");
  const std::string without = StatusJson(status);
  status.mutable_failures(0)->set_path("x");
  std::string with = StatusJson(status);
  const size_t at = with.find("\"path\":\"x\"");
  ASSERT_NE(at, std::string::npos);
  with.erase(at + 8, 1);
  EXPECT_EQ(with, without);
}

}  // namespace
}  // namespace kernelmill::cli
