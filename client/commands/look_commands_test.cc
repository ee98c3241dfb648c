#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/commands/commands.h"
#include "client/commands/testing/command_test.h"
#include "client/console/exit_code.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

Json KernelRow(const std::string& id, const std::string& name) {
  return {{"id", id + std::string(32 - id.size(), '0')},
          {"qualname", name},
          {"name", name},
          {"repository", "a/kernels"},
          {"path", "ops/file.py"},
          {"first_line", 3},
          {"last_line", 9},
          {"dsl", "triton"},
          {"kind", "operation"},
          {"license", {{"expression", "MIT"}, {"evidence", "file:LICENSE"}}},
          {"tags", {"softmax"}},
          {"source", "def " + name + "(): pass\n"},
          {"module", "import triton\n\ndef " + name + "(): pass\n"},
          {"self_contained", true},
          {"split", "train"}};
}

class LookCommandsTest : public CommandTest {
 protected:
  LookCommandsTest() : dir_(*TempDir::Create()) {
    std::ofstream kernels(dir_.path() + "/kernels.jsonl");
    for (const Json& row : {KernelRow("aaaa1", "softmax"), KernelRow("aaaa2", "softmax"),
                            KernelRow("bbbb", "red\x1b[31m")}) {
      kernels << row.dump() << "\n";
    }
    std::ofstream(dir_.path() + "/ledger.jsonl") << Json{{"id", "cccc" + std::string(28, '0')},
                                                         {"qualname", "lost"},
                                                         {"fate", "duplicate"},
                                                         {"reason", "exact"}}
                                                        .dump()
                                                 << "\n";
  }

  absl::StatusOr<int> RunShow(const std::string& what, bool json = false, bool source = false) {
    return Run(json, [&](Console& console) {
      return Show({.dataset = dir_.path(), .what = what, .source = source}, console);
    });
  }

  const TempDir dir_;
};

TEST_F(LookCommandsTest, ShowPrintsTheFactsAndTheModule) {
  EXPECT_EQ(RunShow("aaaa1").value(), kDone);
  for (const char* part : {"kernel       softmax\n", "a/kernels ops/file.py:3-9",
                           "MIT, by file:LICENSE", "import triton\n"}) {
    EXPECT_THAT(out_, HasSubstr(part));
  }
  EXPECT_EQ(RunShow("aaaa1", false, /*source=*/true).value(), kDone);
  EXPECT_THAT(out_, Not(HasSubstr("import triton")));
}

TEST_F(LookCommandsTest, ANameThatSeveralHaveListsThem) {
  EXPECT_EQ(RunShow("softmax").value(), kDone);
  EXPECT_THAT(out_, HasSubstr("aaaa1000"));
  EXPECT_THAT(out_, HasSubstr("aaaa2000"));
  EXPECT_THAT(err_, HasSubstr("2 kernels have this name"));
}

TEST_F(LookCommandsTest, AKernelThatIsNotThereIsExplainedByTheLedger) {
  const absl::Status lost = RunShow("lost").status();
  EXPECT_THAT(lost, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(lost.message()), HasSubstr("duplicate, exact"));
  EXPECT_THAT(RunShow("aa").status(), StatusIs(absl::StatusCode::kNotFound))
      << "two digits could be any";
}

TEST_F(LookCommandsTest, NamesDoNotActOnATerminal) {
  EXPECT_EQ(RunShow("bbbb").value(), kDone);
  EXPECT_THAT(out_, Not(HasSubstr("\x1b")));
}

TEST_F(LookCommandsTest, HeadListsAsManyAsAreAskedFor) {
  for (const auto& [count, lines] : {std::pair(2, 2), std::pair(10, 3), std::pair(0, 0)}) {
    EXPECT_EQ(Run(false,
                  [&, count = count](Console& console) {
                    return Head({.dataset = dir_.path(), .count = count}, console);
                  })
                  .value(),
              kDone);
    EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), lines);
  }
}

TEST_F(LookCommandsTest, StatsCount) {
  EXPECT_EQ(Run(true, [&](Console& console) { return Stats(dir_.path(), console); }).value(),
            kDone);
  const Json stats = Json::parse(out_);
  EXPECT_EQ(stats["kernels"], 3);
  EXPECT_EQ(stats["self_contained"], 3);
  EXPECT_EQ(stats["operations"]["softmax"], 3);
  EXPECT_EQ(Run(false, [&](Console& console) { return Stats(dir_.path(), console); }).value(),
            kDone);
  EXPECT_THAT(out_, HasSubstr("languages\n         3  triton\n"));
}

TEST_F(LookCommandsTest, RejectedNamesEachReason) {
  std::ofstream(dir_.path() + "/ledger.jsonl", std::ios::app)
      << Json{{"id", "dddd" + std::string(28, '0')},
              {"qualname", "gpl"},
              {"repository", "a/kernels"},
              {"path", "x.py"},
              {"fate", "rejected"},
              {"reason", "license:GPL-3.0-only"}}
             .dump()
      << "\n"
      << Json{{"id", "eeee" + std::string(28, '0')}, {"qualname", "kept"}, {"fate", "kept"}}.dump()
      << "\n";
  Json broken = KernelRow("ffff", "broken");
  broken["checks"] = {{"compiles", "fail"}};
  broken["compile"]["results"] = {
      {{"toolchain", "triton-3.5.1"}, {"target", "cuda:90"}, {"status", "ok"}},
      {{"toolchain", "triton-3.5.1"},
       {"target", "hip:gfx942"},
       {"status", "error"},
       {"stage", "frontend"},
       {"message", "unknown\nname"}}};
  std::ofstream(dir_.path() + "/kernels.jsonl", std::ios::app) << broken.dump() << "\n";
  const auto run = [&](bool json, const std::string& reason) {
    EXPECT_EQ(Run(json,
                  [&](Console& console) {
                    return Rejected({.dataset = dir_.path(), .reason = reason}, console);
                  })
                  .value(),
              kDone);
  };
  run(false, "");
  EXPECT_THAT(out_, HasSubstr("lost"));
  EXPECT_THAT(out_, HasSubstr("rejected      license:GPL-3.0-only  a/kernels x.py:"));
  EXPECT_THAT(out_, HasSubstr("no compile    triton-3.5.1, hip:gfx942, frontend: unknown name"));
  EXPECT_THAT(out_, Not(HasSubstr("softmax")));
  EXPECT_EQ(err_, "1 duplicate, 1 kept, but not compiled, 1 rejected\n");
  run(false, "license");
  EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 1);
  run(true, "compiles");
  const Json row = Json::parse(out_);
  EXPECT_EQ(row["type"], "rejected");
  EXPECT_EQ(row["fate"], "kept");
  EXPECT_EQ(row["errors"][0]["message"], "unknown\nname");
}

TEST_F(LookCommandsTest, RejectedNamesUnverifiedTasks) {
  std::ofstream ledger(dir_.path() + "/ledger.jsonl", std::ios::app);
  for (const auto& [name, task] :
       std::vector<std::pair<std::string, std::string>>{{"right", "verified"},
                                                        {"weak", "low_adequacy"},
                                                        {"shown", "no_hidden_case"},
                                                        {"untold", ""}}) {
    Json row = {{"id", "eeee" + std::string(28, '0')}, {"qualname", name}, {"fate", "kept"}};
    if (!task.empty()) row["task"] = task;
    ledger << row.dump() << "\n";
  }
  ledger.close();
  const auto run = [&](bool json, const std::string& reason) {
    EXPECT_EQ(Run(json,
                  [&](Console& console) {
                    return Rejected({.dataset = dir_.path(), .reason = reason}, console);
                  })
                  .value(),
              kDone);
  };
  run(false, "unverified");
  EXPECT_THAT(out_,
              HasSubstr("eeee0000  weak                              unverified    low_adequacy "));
  EXPECT_THAT(out_, HasSubstr("no_hidden_case"));
  EXPECT_THAT(out_, Not(HasSubstr("right")));
  EXPECT_THAT(out_, Not(HasSubstr("untold")));
  EXPECT_EQ(err_, "2 kept, but not verified as a task\n");
  run(true, "low_adequacy");
  const Json row = Json::parse(out_);
  EXPECT_EQ(row["fate"], "kept");
  EXPECT_EQ(row["reason"], "unverified:low_adequacy");
}

TEST_F(LookCommandsTest, APublishedFolderWithoutJsonLinesSaysHowToGetThem) {
  const TempDir published = *TempDir::Create();
  std::ofstream(published.path() + "/PUBLICATION.json") << "{}";
  const absl::Status refused =
      Run(false, [&](Console& console) { return Stats(published.path(), console); }).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--json-lines"));
}

TEST_F(LookCommandsTest, AFolderWithoutADatasetIsRefused) {
  const TempDir empty = *TempDir::Create();
  EXPECT_THAT(Run(false, [&](Console& console) { return Stats(empty.path(), console); }).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::client
