#include "common/cas/result_origin.h"

#include <gtest/gtest.h>

#include "common/cas/blob_store.h"

namespace kernelmill::cas {
namespace {

TEST(ResultOrigin, IsReadAsItWasSet) {
  ActionResult result;
  SetStage("extract", 11, &result);
  SetWorker("w3 of rack 7", &result);
  const ResultOrigin origin = ReadOrigin(result);
  EXPECT_EQ(origin.stage, "extract");
  EXPECT_EQ(origin.version, 11);
  EXPECT_EQ(origin.worker, "w3 of rack 7");
}

TEST(ResultOrigin, WhatOthersWroteToStderrNamesNoStage) {
  for (const char* text :
       {"", "stage", "stage extract", "stage extract eleven", "stage extract 11 more",
        "error: stage extract 11", "Stage extract 11"}) {
    ActionResult result;
    result.set_stderr_raw(text);
    EXPECT_EQ(ReadOrigin(result).stage, "") << text;
  }
  EXPECT_EQ(ReadOrigin(ActionResult()).worker, "");
}

}  // namespace
}  // namespace kernelmill::cas
