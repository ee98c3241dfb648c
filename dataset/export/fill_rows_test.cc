#include "dataset/export/fill_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/testing/export_fixture.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// That each row has every field of its file's schema, and of the right type, is asked of every row
// of these tests (ExporterTest::Lines).
TEST_F(ExporterTest, ARecordSaysWhatIsKnownOfAKernel) {
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(1);
  EXPECT_EQ(record["source"], absl::StrCat("@triton.jit\r\ndef load1(x):\r\n", kDosBody));
  EXPECT_EQ(record["commit"], std::string(40, 'a'));
  EXPECT_EQ(record["repository_url"], "https://github.com/example/a.git");
  EXPECT_EQ(record["url"], absl::StrCat("https://github.com/example/a/blob/", std::string(40, 'a'),
                                        "/z.py#L9-L12"));
  EXPECT_EQ(record["category"], "cat-a");
  EXPECT_EQ(record["source_tier"], 2);
  EXPECT_EQ(record["weight"], 0.5);
  EXPECT_EQ(record["cluster"], Id(1));
  EXPECT_EQ(record["duplicates"], Json::array({Id(5)}));
  EXPECT_EQ(record["license"]["expression"], "MIT");
  EXPECT_EQ(record["tokens"], Json({{"cl100k_base", 10}, {"o200k_base", 9}}));
  EXPECT_EQ(record["module_tokens"]["cl100k_base"], 100);
  EXPECT_EQ(record["quality"]["score"], 0.75);
  EXPECT_EQ(record["quality"]["tier"], 2);
  EXPECT_EQ(record["kind"], "operation");
  EXPECT_EQ(record["target"], "generic");
  EXPECT_EQ(record["self_contained"], false);
}

TEST_F(ExporterTest, WhatIsNotThereIsNullAndAListOfNothingIsEmpty) {
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(1);
  for (const char* key : {"json_pointer", "docstring", "found_by", "applied_by", "prompt_context",
                          "autotune", "heuristics", "launcher", "inductor", "context", "cuda",
                          "requires_triton", "requires_triton_path", "dialect", "target_rule",
                          "contamination_weak_score", "word_overlap"}) {
    EXPECT_EQ(record.at(key), nullptr) << key;
  }
  for (const char* key : {"pieces", "decorators", "calls", "free_names", "unresolved_names",
                          "dropped_decorators", "replaced_texts", "tags", "tag_rules", "features",
                          "parameters", "contamination", "not_utf8"}) {
    EXPECT_EQ(record.at(key), Json::array()) << key;
  }
  EXPECT_EQ(record["license"]["vendored"], nullptr);
  EXPECT_EQ(record["quality"]["generated"], nullptr);
  EXPECT_EQ(record["contamination_weak_matches"], 0);
}

TEST_F(ExporterTest, SpecialTokensAreFlaggedWithTheirField) {
  StartSource("s", v1::SOURCE_ROLE_CANDIDATE, 1'500'000'000);
  AddShard({MakeKernel(8, "s.py", 1,
                       "    # <|im_start|> [INST] <|im_start|>\n"
                       "    y = tl.load(x + tl.arange(0, 128))\n    tl.store(x, y + y)\n")});
  EndSource();
  Decide(v1::FATE_KEPT, "", 7, 1);
  ASSERT_THAT(Export(), IsOk());
  const Json kernel = Lines("kernels.jsonl").at(3);
  ASSERT_GE(kernel["special_tokens"].size(), 2u);
  EXPECT_EQ(Canonical(kernel["special_tokens"][0]),
            R"({"count":2,"field":"/source","look_alike":false,"models":"Qwen, ChatML, Phi",)"
            R"("token":"<|im_start|>"})");
  EXPECT_EQ(kernel["special_tokens"][1]["token"], "[INST]");
  EXPECT_EQ(Lines("kernels.jsonl").at(0)["special_tokens"], Json::array());
  const Json conversation = Lines("instruct.jsonl").at(1);
  ASSERT_EQ(conversation["special_tokens"].size(), 2u);
  EXPECT_EQ(conversation["special_tokens"][0]["field"], "/messages/1/content");
  EXPECT_EQ(Lines("fim.jsonl").at(1)["special_tokens"][0]["field"], "/prompt");
}

TEST_F(ExporterTest, ACheckHasOneOutcomeAndAReasonUnlessItIsPassed) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> records = Lines("kernels.jsonl");
  EXPECT_EQ(records[1]["checks"]["has_docstring"], "pass");
  EXPECT_EQ(records[0]["checks"]["has_docstring"], "fail");
  EXPECT_EQ(records[0]["checks"]["has_program_id"], "exempt");
  EXPECT_EQ(Canonical(records[0]["check_reasons"]),
            R"([{"check":"has_program_id","reason":"a device function"},)"
            R"({"check":"has_docstring","reason":"no docstring"}])");
}

TEST_F(ExporterTest, ALicenceComesWithItsEvidence) {
  ASSERT_THAT(Export(), IsOk());
  const Json license = Lines("kernels.jsonl").at(0).at("license");
  EXPECT_EQ(license.dump(),
            R"({"adapted_from":[{"line":3,"origin":"a/b","path":"z.py"}],"confidence":0.9,)"
            R"("copyrights":["Copyright (c) 2020 X"],"evidence":"file:LICENSE",)"
            R"("expression":"MIT","found":[{"expression":"MIT","first_line":1,"last_line":19,)"
            R"("path":"LICENSE","rule":"text","score":0.98,"text":"MIT"}],"notices":["NOTICE"],)"
            R"("training_use":null,"vendored":null})");
}

TEST_F(ExporterTest, TextsThatKeptKernelsNameAreWrittenOnceASource) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> notices = Lines("notices.jsonl");
  EXPECT_THAT(Strings(notices, "text"),
              ElementsAre("LICENSE of a", "NOTICE of a", "LICENSE of b", "NOTICE of b"));
  EXPECT_EQ(notices[1].at("path"), "NOTICE");
  EXPECT_EQ(notices[1].at("repository"), "https://example.org/a");
  EXPECT_EQ(notices[1].at("url"),
            absl::StrCat("https://github.com/example/a/blob/", std::string(40, 'a'), "/NOTICE"));
  EXPECT_EQ(notices[2].at("url"), nullptr);
  EXPECT_EQ(notices[1].at("sha256"), Sha256Hex("NOTICE of a"));
}

TEST_F(ExporterTest, AMatchNamesTheHoldoutsKernelAndWhereItStands) {
  ASSERT_THAT(Export(), IsOk());
  const Json match = Lines("ledger.jsonl").at(1)["contamination"].at(0);
  EXPECT_EQ(match["rule"], "near");
  EXPECT_EQ(match["score"], 0.875);
  EXPECT_EQ(match["text"], "module");
  EXPECT_EQ(match["copies"], 4);
  EXPECT_EQ(match["holdout"]["path"], "h.py");
  EXPECT_EQ(match["holdout"]["first_line"], 1);
  const Json report = Json::parse(File("report.json"))["contamination"];
  EXPECT_EQ(report["kept"], 0);
  ASSERT_EQ(report["items"].size(), 1u);
  EXPECT_EQ(report["items"][0]["kernels"], Json({{"near", 1}}));
  EXPECT_EQ(report["items"][0]["holdout"]["id"], match["holdout"]["id"]);
}

TEST_F(ExporterTest, WhatAPolicyLabelsAndWhatIsToBeReviewedIsSaid) {
  v1::Decision* kept = clusters_.mutable_decisions(0);
  *kept->add_contamination() = clusters_.decisions(3).contamination(0);
  kept->set_word_overlap(0.9);
  kept->set_weak_matches(12);
  kept->set_weak_score(0.25);
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(1);
  EXPECT_EQ(record["contamination"].at(0)["rule"], "near");
  EXPECT_EQ(record["word_overlap"], 0.9);
  EXPECT_EQ(record["contamination_weak_matches"], 12);
  EXPECT_EQ(record["contamination_weak_score"], 0.25);
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["contamination"]["kept"], 1);
  EXPECT_EQ(report["word_overlaps"], 1);
}

TEST_F(ExporterTest, TheInductorsOriginIsThereForItsKernelsAlone) {
  StartSource("i", v1::SOURCE_ROLE_CANDIDATE, 0);
  v1::Kernel kernel = MakeKernel(8, "output_code.py", 7, "    i\n");
  kernel.set_form(v1::KERNEL_FORM_STRING);
  kernel.set_string_begin(20);
  kernel.mutable_inductor()->set_model("model__0_inference_0");
  kernel.mutable_inductor()->set_graph("0");
  kernel.mutable_inductor()->set_kernel_path("/tmp/x\xff.py");
  v1::Kernel plain = MakeKernel(9, "plain.py", 1, "    j\n");
  plain.mutable_inductor();
  AddShard({kernel, plain});
  EndSource();
  Decide(v1::FATE_KEPT, "", 7, 1);
  Decide(v1::FATE_KEPT, "", 8, 1);
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> records = Lines("kernels.jsonl");
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[0]["inductor"], nullptr);
  EXPECT_EQ(records[3]["inductor"], Json({{"model", "model__0_inference_0"},
                                          {"graph", "0"},
                                          {"kernel_path", "/tmp/x\xef\xbf\xbd.py"},
                                          {"source_node", nullptr},
                                          {"in_string", true}}));
  EXPECT_EQ(records[4]["inductor"]["in_string"], false);
}

TEST_F(ExporterTest, AKernelOfAJsonFileIsNamedByItsPointerAndStandsInTheOrderOfTheStrings) {
  StartSource("j", v1::SOURCE_ROLE_CANDIDATE, 0);
  v1::Kernel first = MakeKernel(8, "data.json", 9, "    i\n");
  first.set_json_pointer("/0/code");
  v1::Kernel second = MakeKernel(9, "data.json", 1, "    j\n");
  second.set_json_pointer("/1/code\xff");
  AddShard({first, second});
  EndSource();
  StartSource("jh", v1::SOURCE_ROLE_HOLDOUT, 0);
  v1::Kernel held = MakeKernel(7, "all.json", 1, "    k\n");
  held.set_json_pointer("");
  AddShard({held});
  EndSource();
  Decide(v1::FATE_KEPT, "", 7, 1);
  Decide(v1::FATE_KEPT, "", 8, 1);
  v1::Contamination* match = clusters_.mutable_decisions(8)->add_contamination();
  *match = clusters_.decisions(3).contamination(0);
  match->set_holdout(9);
  Decide(v1::FATE_HOLDOUT, "", 9, 1);
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> records = Lines("kernels.jsonl");
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[0]["json_pointer"], nullptr);
  EXPECT_EQ(records[3]["json_pointer"], "/0/code");
  EXPECT_EQ(records[3]["first_line"], 9);
  EXPECT_EQ(records[4]["json_pointer"], "/1/code\xef\xbf\xbd");
  EXPECT_EQ(Canonical(records[4]["not_utf8"]),
            R"([{"base64":"LzEvY29kZf8=","field":"/json_pointer"}])");
  EXPECT_EQ(records[4]["contamination"].at(0)["holdout"]["path"], "all.json");
  EXPECT_EQ(records[4]["contamination"].at(0)["holdout"]["json_pointer"], "");
}

TEST_F(ExporterTest, WhatIsDerivedFromAKernelIsStructured) {
  StartSource("d", v1::SOURCE_ROLE_CANDIDATE, 0);
  v1::Kernel kernel = MakeKernel(8, "d.py", 7, kBody);
  v1::Parameter& parameter = *kernel.add_parameters();
  parameter.set_name("x");
  parameter.set_annotation("tl.tensor");
  parameter.set_default_value("None");
  parameter.set_role(v1::PARAMETER_ROLE_POINTER);
  parameter.set_rule("usage:address");
  v1::Autotune& autotune = *kernel.mutable_autotune();
  autotune.set_decorator("triton.autotune");
  autotune.set_resolved(true);
  autotune.add_key("n");
  v1::NamedText& block = *autotune.add_configs()->add_kwargs();
  block.set_name("BLOCK");
  block.set_text("64");
  v1::NamedText& warps = *autotune.mutable_configs(0)->add_options();
  warps.set_name("num_warps");
  warps.set_text("4");
  kernel.mutable_heuristics()->add_names("EVEN");
  kernel.add_features("dot");
  v1::Tag& tag = *kernel.add_tags();
  tag.set_name("matmul");
  tag.set_rule("call:triton.language.dot");
  v1::Launcher& launcher = *kernel.mutable_launcher();
  launcher.set_path("d.py");
  launcher.set_qualname("run");
  launcher.set_first_line(20);
  launcher.set_last_line(21);
  launcher.set_text("def run(x):\n    load8[(1,)](x)\n");
  launcher.set_count(2);
  v1::ModulePiece& piece = *kernel.add_pieces();
  piece.set_path("d.py");
  piece.set_first_line(1);
  piece.set_last_line(2);
  piece.set_kind(v1::Definition::KIND_IMPORT);
  v1::ModulePiece& assignment = *kernel.add_pieces();
  assignment.set_kind(v1::Definition::KIND_CONSTANT);
  assignment.set_generated(true);
  v1::DroppedDecorator& dropped = *kernel.add_dropped_decorators();
  dropped.set_text("lib()");
  dropped.set_function("add");
  dropped.set_first_line(4);
  dropped.set_last_line(5);
  dropped.set_reason("host_machinery");
  v1::ReplacedText& replaced = *kernel.add_replaced_texts();
  replaced.set_original("tune()");
  replaced.set_replacement("triton.autotune()");
  replaced.set_first_line(6);
  replaced.set_last_line(6);
  replaced.set_reason("autotune_configs");
  v1::UnresolvedName& unresolved = *kernel.add_unresolved_names();
  unresolved.set_name("helper");
  unresolved.set_reason("undefined");
  kernel.set_prompt_context("import triton\n");
  kernel.mutable_context()->set_kind("fence");
  kernel.mutable_context()->set_heading("Title");
  AddShard({kernel});
  EndSource();
  Decide(v1::FATE_KEPT, "", 7, 1);
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(3);
  EXPECT_EQ(
      Canonical(record["pieces"]),
      R"([{"first_line":1,"generated":false,"json_pointer":null,"kind":"import","last_line":2,)"
      R"("path":"d.py","used_source":null},)"
      R"({"first_line":null,"generated":true,"json_pointer":null,"kind":"constant","last_line":null,)"
      R"("path":null,"used_source":null}])");
  EXPECT_EQ(Canonical(record["context"]),
            R"({"cell":null,"heading":"Title","kind":"fence","paragraph":null})");
  EXPECT_EQ(Canonical(record["dropped_decorators"]),
            R"json([{"first_line":4,"function":"add","last_line":5,)json"
            R"json("reason":"host_machinery","text":"lib()"}])json");
  EXPECT_EQ(Canonical(record["replaced_texts"]),
            R"json([{"first_line":6,"last_line":6,"original":"tune()",)json"
            R"json("reason":"autotune_configs","replacement":"triton.autotune()"}])json");
  EXPECT_EQ(Canonical(record["unresolved_names"]), R"([{"name":"helper","reason":"undefined"}])");
  EXPECT_EQ(record["prompt_context"], "import triton\n");
  EXPECT_EQ(Canonical(record["parameters"]),
            R"([{"annotation":"tl.tensor","default":"None","name":"x","role":"pointer",)"
            R"("rule":"usage:address"}])");
  EXPECT_EQ(Canonical(record["autotune"]),
            R"({"configs":[{"kwargs":[{"name":"BLOCK","value":"64"}],)"
            R"("options":[{"name":"num_warps","value":"4"}]}],"decorator":"triton.autotune",)"
            R"("expression":null,"key":["n"],"key_expression":null,"resolved":true})");
  EXPECT_EQ(Canonical(record["heuristics"]), R"({"expressions":[],"names":["EVEN"]})");
  EXPECT_EQ(record["features"], Json::array({"dot"}));
  EXPECT_EQ(record["tags"], Json::array({"matmul"}));
  EXPECT_EQ(Canonical(record["tag_rules"]),
            R"([{"name":"matmul","rule":"call:triton.language.dot"}])");
  EXPECT_EQ(
      Canonical(record["launcher"]),
      R"({"count":2,"first_line":20,"json_pointer":null,"last_line":21,"path":"d.py","qualname":"run",)"
      R"("text":"def run(x):\n    load8[(1,)](x)\n"})");
  EXPECT_EQ(record["fim_sha1"].get<std::string>().size(), 40u);
  EXPECT_EQ(record["fim_excluded"], nullptr);
}

TEST_F(ExporterTest, BytesThatAreNotUtf8AreKeptBesideTheRepairedText) {
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(0);
  EXPECT_THAT(record["source"].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
  ASSERT_EQ(record["not_utf8"].size(), 2u);
  EXPECT_EQ(record["not_utf8"][0]["field"], "/source");
  EXPECT_EQ(record["not_utf8"][1]["field"], "/module");
  const Json row = Lines("ledger.jsonl").at(5);
  EXPECT_EQ(Canonical(row["not_utf8"]), R"([{"base64":"/i5weQ==","field":"/path"}])");
  EXPECT_EQ(row["url"], nullptr) << "the second source names no page";
}

TEST_F(ExporterTest, TheLedgerNamesEveryCandidateKernel) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> ledger = Lines("ledger.jsonl");
  EXPECT_THAT(Strings(ledger, "id"), ElementsAre(Id(3), Id(4), Id(2), Id(1), Id(6), Id(5)));
  EXPECT_THAT(Strings(ledger, "fate"),
              ElementsAre("kept", "contaminated", "rejected", "kept", "kept", "duplicate"));
  EXPECT_EQ(ledger[1]["of"], Id(7));
  EXPECT_EQ(ledger[1]["similarity"], 0.875);
  EXPECT_EQ(ledger[2]["reason"], "license:GPL-3.0-only");
  EXPECT_EQ(ledger[2]["of"], nullptr);
  EXPECT_EQ(ledger[2]["similarity"], nullptr);
  EXPECT_EQ(ledger[0]["reason"], nullptr);
  EXPECT_EQ(ledger[5]["of"], Id(1));
  const std::vector<Json> kept = Lines("kernels.jsonl");
  EXPECT_EQ(ledger[0]["id"], kept[0]["id"]);
  EXPECT_EQ(ledger[0]["name"], kept[0]["name"]);
  EXPECT_EQ(ledger[0]["qualname"], kept[0]["qualname"]);
}

}  // namespace
}  // namespace kernelmill::dataset
