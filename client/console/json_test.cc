#include "client/console/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernelmill/v1/crawl.pb.h"
#include "kernelmill/v1/job.pb.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonLine, HasItsTypeFirstKeepsTheOrderAndEscapes) {
  EXPECT_EQ(JsonLine("x", {{"job", "a\"b"}, {"deleted", true}}),
            "{\"type\":\"x\",\"job\":\"a\\\"b\",\"deleted\":true}\n");
  EXPECT_EQ(JsonLine("x", {{"job", "\xff"}}), "{\"type\":\"x\",\"job\":\"\xef\xbf\xbd\"}\n");
}

TEST(MessageJson, HasNumbersAndWords) {
  v1::JobStatus status;
  status.set_state(v1::JOB_STATE_RUNNING);
  status.set_submitted_unix_ms(int64_t{1} << 60);
  status.add_stages()->set_total(3);
  const Json json = MessageJson(status);
  EXPECT_EQ(json["state"], "running");
  EXPECT_EQ(json["submitted_unix_ms"], int64_t{1} << 60);
  EXPECT_TRUE(json["submitted_unix_ms"].is_number_integer());
  EXPECT_EQ(json["stages"][0]["total"], 3);
  EXPECT_EQ(json["stages"][0]["stage"], "");
  EXPECT_EQ(json["no_cache"], false);
  EXPECT_EQ(json["troubled"], Json::array());
}

TEST(MessageJson, ADigestIsTextAndWhatIsNotSetIsNull) {
  v1::JobStatus status;
  EXPECT_TRUE(MessageJson(status)["dataset"].is_null());
  status.mutable_dataset()->set_hash("ab");
  status.mutable_dataset()->set_size_bytes(5);
  EXPECT_EQ(MessageJson(status)["dataset"], "ab/5");
}

TEST(MessageJson, BytesAreTextWithTheExactOnesBesideThem) {
  v1::Failure failure;
  failure.set_path("kernels/a b.py");
  EXPECT_EQ(MessageJson(failure)["path"], "kernels/a b.py");
  EXPECT_FALSE(MessageJson(failure).contains("path_base64"));
  failure.set_path("bad\xff.py");
  EXPECT_EQ(MessageJson(failure)["path"], "bad\xef\xbf\xbd.py");
  EXPECT_EQ(MessageJson(failure)["path_base64"], "YmFk/y5weQ==");
}

}  // namespace
}  // namespace kernelmill::client
