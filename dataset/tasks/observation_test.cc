#include "dataset/tasks/observation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/tasks/evidence_json.h"
#include "dataset/tasks/testing/made_evidence.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// An INVALID_ARGUMENT whose message has the text.
MATCHER_P(FailsWith, text, "") {
  *result_listener << arg.status();
  return absl::IsInvalidArgument(arg.status()) && absl::StrContains(arg.status().message(), text);
}

const std::string kModule(64, 'a');

absl::StatusOr<EvidenceLine> Read(const Json& row) { return ReadEvidenceLine(Canonical(row)); }

template <typename Kind>
Kind ReadAs(const Json& row) {
  const absl::StatusOr<EvidenceLine> line = Read(row);
  EXPECT_THAT(line, IsOk());
  if (!line.ok() || !line->observation.has_value()) return Kind();
  EXPECT_TRUE(std::holds_alternative<Kind>(*line->observation));
  return std::get<Kind>(*line->observation);
}

// Returns the problem of a case whose content was changed, with an id that fits it.
std::string CaseProblem(const std::function<void(Json&)>& change) {
  Json row = MakeCase(kModule, "add", 100);
  change(row);
  return std::string(Read(WithId(row)).status().message());
}

TEST(Observation, ReadsACase) {
  const Json row = WithId(MakeCase(kModule, "Ops.add", 100));
  const auto found = ReadAs<ObservedCase>(row);
  EXPECT_EQ(found.id, row["id"]);
  EXPECT_EQ(found.kernel.module_sha256, kModule);
  EXPECT_EQ(found.kernel.qualname, "Ops.add");
  EXPECT_EQ(found.grid, "[2, 1, 1]");
  EXPECT_TRUE(found.ragged);
  EXPECT_EQ(found.origin, "made");
  EXPECT_THAT(found.options, ElementsAre(Pair("num_warps", "4")));
  EXPECT_THAT(found.tolerances, ElementsAre(Pair("float32", 0.0002)));
  EXPECT_EQ(found.line, Canonical(row));
  ASSERT_EQ(found.arguments.size(), 5);
  EXPECT_EQ(found.arguments[0].kind, "tensor");
  EXPECT_EQ(found.arguments[0].shape, "[100]");
  EXPECT_EQ(found.arguments[0].strides, "[1]");
  EXPECT_FALSE(found.arguments[0].written);
  EXPECT_TRUE(found.arguments[1].written);
  EXPECT_EQ(found.arguments[2].value, "100");
  EXPECT_EQ(found.arguments[2].dtype, "int");
  EXPECT_EQ(found.arguments[3].kind, "constexpr");
  EXPECT_EQ(found.arguments[3].value, "64");
  EXPECT_EQ(found.arguments[4].kind, "none");
}

// json.dumps of Python gave the id.
TEST(Observation, AnIdIsTheHashThatPythonComputes) {
  const char kLine[] =
      R"({"arguments":[{"name":"x","tensor":{"dtype":"float32","offset":0,"shape":[1],"storage":0,"strides":[1]}}],)"
      R"("grid":[1,1,1],"id":"e417f76b32bda754afbb16fdee400a7d0ec05857e1f22644f3fce88fb534935b","kernel":"k\u00e9",)"
      R"("module_sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","outputs":[{"sha256":)"
      R"("5555555555555555555555555555555555555555555555555555555555555555","storage":0}],"storages":[{"bytes":4,)"
      R"("recipe":{"deviation":1e-05,"kind":"normal","mean":0.1,"seed":3}}],"type":"case"})";
  EXPECT_THAT(ReadEvidenceLine(kLine), IsOk());
}

TEST(Observation, AWrongIdIsRefused) {
  Json row = WithId(MakeCase(kModule, "add", 100));
  row["grid"][0] = 3;
  EXPECT_THAT(Read(row), FailsWith("id: is not that of its content"));
  row = WithId(row);
  row["origin"] = {{"recorded", {{"commit", "c"}}}};
  EXPECT_THAT(Read(row), IsOk());  // the origin is no part of the content
}

TEST(Observation, HostileCasesAreRefusedWithTheFieldsName) {
  EXPECT_EQ(CaseProblem([](Json&) {}), "");
  EXPECT_THAT(CaseProblem([](Json& row) { row.erase("kernel"); }), "kernel: is missing");
  EXPECT_THAT(CaseProblem([](Json& row) { row["kernel"] = 3; }), "kernel: must be a text");
  EXPECT_THAT(CaseProblem([](Json& row) { row["kernel"] = ""; }), "kernel: must not be empty");
  EXPECT_THAT(CaseProblem([](Json& row) { row["kernel"] = "a\u202eb"; }),
              "kernel: has a character that hides or reorders text");
  EXPECT_THAT(CaseProblem([](Json& row) { row["kernel"] = "a\x1b[31m"; }), HasSubstr("kernel:"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["kernel"] = std::string(300, 'a'); }),
              HasSubstr("at most 256 bytes"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["module_sha256"] = "A" + std::string(63, 'a'); }),
              HasSubstr("module_sha256: must be 64"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["grid"] = {1, 1}; }), HasSubstr("grid:"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["grid"] = {1, 1, -1}; }), HasSubstr("grid:"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["grid"] = {1, 1, 1.5}; }), HasSubstr("grid:"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["outputs"] = Json::array(); }),
              "outputs: must not be empty");
  EXPECT_THAT(CaseProblem([](Json& row) { row["outputs"][0]["storage"] = 2; }),
              HasSubstr("outputs.storage: must be one of 2 storages"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["arguments"][0]["tensor"]["storage"] = 7; }),
              HasSubstr("arguments[0].tensor.storage"));
  EXPECT_THAT(CaseProblem([](Json& row) {
                row["arguments"][0]["tensor"]["shape"] = {1, 2};
              }),
              HasSubstr("arguments[0].tensor.strides"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["arguments"][0]["tensor"]["shape"] = {-4}; }),
              HasSubstr("arguments[0].tensor.shape"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["arguments"][0]["tensor"] = 4; }),
              "arguments[0].tensor: must be an object");
  EXPECT_THAT(CaseProblem([](Json& row) { row["arguments"][3]["constexpr"] = "\u200bx"; }),
              HasSubstr("arguments[3].constexpr"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["arguments"] = Json(2000, Json::object()); }),
              HasSubstr("at most 1024"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["tolerance"]["float32"] = -1; }),
              HasSubstr("tolerance.float32"));
  EXPECT_THAT(CaseProblem([](Json& row) { row["ragged"] = "yes"; }),
              "ragged: must be true or false");
  EXPECT_THAT(CaseProblem([](Json& row) { row["origin"] = {{"found", 1}}; }), HasSubstr("origin:"));
}

TEST(Observation, ReadsAResult) {
  const Json of = WithId(MakeCase(kModule, "add", 100));
  const auto found = ReadAs<ObservedResult>(MakeResult(of, "cuda:90", "close"));
  EXPECT_EQ(found.case_id, of["id"]);
  EXPECT_EQ(found.device, "cuda:90");
  EXPECT_EQ(found.toolchain, "numpy 2.3.4, triton 3.5.1");
  EXPECT_EQ(found.outcome, Outcome::kClose);
  EXPECT_EQ(found.relative, 0.25);
  Json wrong = MakeResult(of, "cpu", "perfect");
  EXPECT_THAT(Read(wrong), FailsWith("outcome:"));
  wrong = MakeResult(of, "cpu", "exact");
  wrong["absolute"] = "inf";
  EXPECT_THAT(Read(wrong), FailsWith("absolute:"));
  wrong["absolute"] = 1.7976931348623157e308;  // infinity, as the recorder writes it
  EXPECT_THAT(Read(wrong), IsOk());
  wrong["absolute"] = -1;
  EXPECT_THAT(Read(wrong), FailsWith("absolute:"));
}

TEST(Observation, ReadsAdequacyAndSpeed) {
  const auto adequacy = ReadAs<ObservedAdequacy>(MakeAdequacy(kModule, "add", 0.75));
  EXPECT_EQ(adequacy.score, 0.75);
  EXPECT_EQ(adequacy.mutants.at("mask").caught, 8);
  Json wrong = MakeAdequacy(kModule, "add", 1.5);
  EXPECT_THAT(Read(wrong), FailsWith("score:"));
  wrong["score"] = 1;
  wrong["mutants"]["mask"]["caught"] = 11;
  EXPECT_THAT(Read(wrong), FailsWith("mutants.mask"));
  wrong["score"] = nullptr;
  const absl::StatusOr<EvidenceLine> unmeasured = Read(wrong);
  ASSERT_THAT(unmeasured, IsOk());
  EXPECT_EQ(unmeasured->observation, std::nullopt);
  EXPECT_THAT(unmeasured->unknown_fields, IsEmpty());
  const Json of = WithId(MakeCase(kModule, "add", 100));
  const auto speed = ReadAs<ObservedSpeed>(MakeSpeed(of, "cuda:90", 12.5));
  EXPECT_EQ(speed.median, 12.5);
  EXPECT_EQ(speed.roofline, 0.5);
  EXPECT_EQ(speed.eager, std::nullopt);
  EXPECT_EQ(speed.case_id, of["id"]);
}

TEST(Observation, SpeedSaysOfWhichSizeItIsAndHowSure) {
  Json row = MakeSpeed(WithId(MakeCase(kModule, "add", 100)), "cuda:90", 12.5);
  row.update({{"hardware", "NVIDIA H100 80GB HBM3"},
              {"fills", true},
              {"sizes", "n = 25600, grid [400, 1, 1]"},
              {"reason", ""},
              {"checked", true},
              {"noisy", false},
              {"launches", 100},
              {"eager_spread_us", 0.5},
              {"compiled_spread_us", nullptr},
              {"bytes", 1024},
              {"operations", nullptr},
              {"bound", "memory"},
              {"flushed", true},
              {"grown", Json::array({{{"size", 100}, {"factor", 256}}})},
              {"environment", Json::object()},
              {"clocks", {{"sm_mhz", 1980}, {"sm_mhz_least", 1975}, {"memory_mhz", 2619}}}});
  const absl::StatusOr<EvidenceLine> line = Read(row);
  ASSERT_THAT(line, IsOk());
  EXPECT_THAT(line->unknown_fields, IsEmpty());
  const auto speed = ReadAs<ObservedSpeed>(row);
  EXPECT_EQ(speed.hardware, "NVIDIA H100 80GB HBM3");
  EXPECT_TRUE(speed.fills && speed.checked && !speed.noisy);
  EXPECT_EQ(speed.sizes, "n = 25600, grid [400, 1, 1]");
  EXPECT_EQ(speed.grown, R"([{"factor":256,"size":100}])");
  EXPECT_EQ(speed.launches, 100);
  EXPECT_EQ(speed.bytes, 1024);
  EXPECT_EQ(speed.operations, std::nullopt);
  EXPECT_EQ(speed.bound, "memory");
  EXPECT_EQ(speed.sm_mhz, 1980);
  EXPECT_EQ(speed.eager_spread, 0.5);
  row["bound"] = "patience";
  EXPECT_THAT(Read(row), FailsWith("bound:"));
  row["bound"] = "";
  row["clocks"]["sm_mhz"] = 1.5;
  EXPECT_THAT(Read(row), FailsWith("clocks.sm_mhz"));
}

TEST(Observation, UnknownTypesAndFieldsAreNamed) {
  const absl::StatusOr<EvidenceLine> color = Read({{"type", "color"}, {"hue", 3}});
  ASSERT_THAT(color, IsOk());
  EXPECT_FALSE(color->known);
  EXPECT_EQ(color->type, "color");
  for (const char* type : {"recording", "change"}) {
    const absl::StatusOr<EvidenceLine> other = Read({{"type", type}});
    ASSERT_THAT(other, IsOk());
    EXPECT_TRUE(other->known);
    EXPECT_EQ(other->observation, std::nullopt);
  }
  Json row = MakeAdequacy(kModule, "add", 1);
  row["hue"] = 3;
  row["\u202e"] = 4;
  const absl::StatusOr<EvidenceLine> line = Read(row);
  ASSERT_THAT(line, IsOk());
  EXPECT_THAT(line->unknown_fields, ElementsAre("hue", "(unsafe name)"));
  EXPECT_THAT(Read({{"type", "a\u202eb"}}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Read({{"type", 4}}), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ReadEvidenceLine("[]"), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace kernelmill::dataset
