#include "services/exporter/core/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/cas/testing/memory_blob_store.h"
#include "common/config/job_file.h"
#include "common/testing/status_matchers.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/exporter/core/output/json.h"

namespace kernelmill::exporter {
namespace {

namespace fs = std::filesystem;
using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Id(int n) { return absl::StrCat(std::string(31, '0'), n); }

v1::Kernel MakeKernel(int n, const std::string& path, int line, const std::string& body,
                      const std::string& name = "") {
  v1::Kernel kernel;
  kernel.set_id(Id(n));
  kernel.set_name(name.empty() ? absl::StrCat("k", n) : name);
  kernel.set_qualname(kernel.name());
  kernel.set_dsl(v1::DSL_TRITON);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_path(path);
  kernel.set_first_line(line);
  kernel.set_last_line(line + 2);
  const std::string head = absl::StrCat("@triton.jit\r\ndef ", kernel.name(), "(x):\r\n");
  kernel.set_source(head + body);
  kernel.set_body_offset(static_cast<int>(head.size()));
  kernel.set_sha256(Sha256Hex(kernel.source()));
  kernel.set_module(absl::StrCat("import triton\n\n", kernel.source()));
  return kernel;
}

// A dataset by hand: two candidate sources, one holdout and one that failed. The first has two
// shards whose paths interleave.
class ExporterTest : public ::testing::Test {
 protected:
  ExporterTest() : root_(*TempDir::Create()) {
    manifest_.set_schema(1);
    manifest_.set_name("hand");
    AddStage("extract", 3);
    request_.out_dir = root_.path() + "/out";
    request_.lock.set_name("hand");
    request_.lock.add_sources()->set_git("https://example.org/a");

    StartSource("a", v1::SOURCE_ROLE_CANDIDATE, 1'700'000'000);
    AddShard({MakeKernel(1, "z.py", 9, "    return 1\r\n"), MakeKernel(2, "b.py", 1, "    x\n")});
    AddShard({MakeKernel(3, "a.py", 5, "    \"\xff\"\n"), MakeKernel(4, "a.py", 50, "    y, z\n")});
    EndSource();
    StartSource("b", v1::SOURCE_ROLE_CANDIDATE, 1'600'000'000);
    AddShard(
        {MakeKernel(5, "\xfe.py", 1, "    return 1\n", "k1"), MakeKernel(6, "g.py", 1, "    g\n")});
    EndSource();
    StartSource("h", v1::SOURCE_ROLE_HOLDOUT, 1'500'000'000);
    AddShard({MakeKernel(7, "h.py", 1, "    y, z\n")});
    EndSource();
    v1::ManifestSource* failed = manifest_.add_sources();
    failed->mutable_source()->set_git("https://example.org/gone");
    failed->set_failed(true);

    Decide(v1::FATE_KEPT, "", 0, 1);
    Decide(v1::FATE_REJECTED, "license:GPL-3.0-only", 1, 1);
    Decide(v1::FATE_KEPT, "", 2, 1);
    Decide(v1::FATE_CONTAMINATED, "near", 6, 0.875);
    v1::Contamination* match = clusters_.mutable_decisions(3)->add_contamination();
    match->set_holdout(6);
    match->set_rule("near");
    match->set_score(0.875);
    match->set_decisive(true);
    Decide(v1::FATE_DUPLICATE, "exact", 0, 1);
    Decide(v1::FATE_KEPT, "", 5, 1);
    Decide(v1::FATE_HOLDOUT, "", 6, 1);
  }

  void AddStage(const std::string& name, int version) {
    v1::StageVersion* stage = manifest_.add_stages();
    stage->set_stage(name);
    stage->set_version(version);
  }

  void StartSource(const std::string& name, v1::SourceRole role, int64_t time) {
    v1::Source* source = manifest_.add_sources()->mutable_source();
    source->set_git("https://example.org/" + name);
    source->set_role(role);
    source->set_category("cat-" + name);
    source->set_tier(2);
    source->set_weight(0.5);
    tree_.Clear();
    tree_.set_repository(source->git());
    tree_.set_commit(std::string(40, name[0]));
    tree_.set_commit_time(time);
    for (const char* path : {"LICENSE", "NOTICE", "other/LICENSE"}) {
      v1::SourceFile* file = tree_.add_license_files();
      file->set_path(path);
      file->set_content(absl::StrCat(path, " of ", name));
    }
    v1::FileEntry* link = tree_.add_files();
    link->set_path("link.py");
    link->set_fate(v1::FILE_FATE_SKIPPED);
    link->set_reason("symlink");
  }

  void AddShard(const std::vector<v1::Kernel>& kernels) {
    v1::KernelShard shard;
    v1::VerdictShard verdicts;
    std::map<std::string, int> count;
    for (const v1::Kernel& kernel : kernels) ++count[kernel.path()];
    for (const auto& [path, n] : count) {
      v1::FileEntry* entry = tree_.add_files();
      entry->set_path(path);
      entry->set_fate(v1::FILE_FATE_SHARDED);
      entry->set_support(path == "z.py");
      v1::ExtractedFile* file = shard.add_files();
      file->set_path(path);
      file->set_size_bytes(100);
      file->set_lines(10);
      file->set_sha256(Sha256Hex(path));
      file->set_has_triton_jit(true);
      file->set_kernels(n);
      v1::OtherDsl* dsl = file->add_other_dsls();
      dsl->set_name("cute");
      dsl->set_functions(n);
    }
    for (const v1::Kernel& kernel : kernels) {
      *shard.add_kernels() = kernel;
      v1::Verdict* verdict = verdicts.add_verdicts();
      verdict->set_accepted(true);
      verdict->mutable_license()->set_expression("MIT");
      verdict->mutable_license()->set_evidence("file:LICENSE");
      verdict->mutable_license()->set_confidence(0.9);
      v1::LicenseEvidence& found = *verdict->mutable_license()->add_found();
      found.set_expression("MIT");
      found.set_path("LICENSE");
      found.set_first_line(1);
      found.set_last_line(19);
      found.set_rule("text");
      found.set_text("MIT");
      found.set_score(0.98);
      verdict->mutable_license()->add_copyrights("Copyright (c) 2020 X");
      verdict->mutable_license()->add_notices("NOTICE");
      v1::RuleResult* rule = verdict->add_rules();
      rule->set_rule("has_docstring");
      rule->set_outcome(v1::RuleResult::OUTCOME_PASS);
      verdict->mutable_quality()->set_score(0.75);
      verdict->mutable_source_tokens()->set_cl100k_base(10);
      verdict->mutable_source_tokens()->set_o200k_base(9);
      verdict->mutable_module_tokens()->set_cl100k_base(100);
      verdict->mutable_checks()->set_has_triton_jit(true);
      verdict->mutable_checks()->set_has_docstring(kernel.id() == Id(1));
    }
    v1::ManifestSource* source = manifest_.mutable_sources(manifest_.sources_size() - 1);
    *source->add_kernels() = *cas::PutMessage(store_, shard);
    if (source->source().role() != v1::SOURCE_ROLE_HOLDOUT) {
      *source->add_verdicts() = *cas::PutMessage(store_, verdicts);
    }
  }

  void EndSource() {
    *manifest_.mutable_sources(manifest_.sources_size() - 1)->mutable_tree() =
        *cas::PutMessage(store_, tree_);
  }

  void Decide(v1::Fate fate, const std::string& reason, uint32_t leader, double similarity) {
    v1::Decision* decision = clusters_.add_decisions();
    decision->set_fate(fate);
    decision->set_reason(reason);
    decision->set_leader(leader);
    decision->set_similarity(similarity);
  }

  absl::Status Export() {
    *manifest_.mutable_clusters() = *cas::PutMessage(store_, clusters_);
    request_.dataset = *cas::PutMessage(store_, manifest_);
    return ExportDataset(store_, request_);
  }

  std::string File(const std::string& name) {
    const auto text = ReadFile(absl::StrCat(request_.out_dir, "/", name), 1 << 20);
    EXPECT_THAT(text, IsOk());
    return text.value_or("");
  }

  std::vector<Json> Lines(const std::string& name) {
    std::vector<Json> lines;
    const std::string text = File(name);
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      const std::string exact(line);
      lines.push_back(Json::parse(exact));
      EXPECT_EQ(Canonical(lines.back()), exact);
    }
    return lines;
  }

  std::vector<std::string> Strings(const std::vector<Json>& lines, const std::string& key) {
    std::vector<std::string> values;
    for (const Json& line : lines) values.push_back(line.at(key));
    return values;
  }

  std::map<std::string, std::string> AllFiles() {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(request_.out_dir)) {
      files[entry.path().filename().string()] = File(entry.path().filename().string());
    }
    return files;
  }

  TempDir root_;
  cas::MemoryBlobStore store_;
  v1::DatasetManifest manifest_;
  v1::SourceTree tree_;
  v1::Clusters clusters_;
  ExportRequest request_;
};

TEST_F(ExporterTest, KeptKernelsAreSortedBySourcePathAndLine) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Strings(Lines("kernels.jsonl"), "id"), ElementsAre(Id(3), Id(1), Id(6)));
}

TEST_F(ExporterTest, ARecordHasEveryFieldOfTheContract) {
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(1);
  constexpr absl::string_view keys =
      "id name qualname dsl role source module signature docstring decorators calls "
      "free_names repository commit path first_line last_line category tier weight "
      "license checks tags tokens module_tokens lexical_tokens sha256 cluster "
      "duplicates contamination stages parameters autotune features heuristics "
      "launcher tag_rules fim_sha1 form found_by applied_by pieces self_contained rules quality "
      "requires_triton requires_triton_path";
  for (const absl::string_view key : absl::StrSplit(keys, ' ')) {
    EXPECT_TRUE(record.contains(std::string(key))) << key;
  }
  EXPECT_EQ(record["source"], "@triton.jit\r\ndef k1(x):\r\n    return 1\r\n");
  EXPECT_EQ(record["commit"], std::string(40, 'a'));
  EXPECT_EQ(record["category"], "cat-a");
  EXPECT_EQ(record["weight"], 0.5);
  EXPECT_EQ(record["cluster"], Id(1));
  EXPECT_EQ(record["duplicates"], Json::array({Id(5)}));
  EXPECT_EQ(record["contamination"], Json::array());
  EXPECT_EQ(record["review"], Json::object());
  EXPECT_EQ(record["license"]["expression"], "MIT");
  EXPECT_EQ(record["tokens"], Json({{"cl100k_base", 10}, {"o200k_base", 9}}));
  EXPECT_EQ(record["module_tokens"]["cl100k_base"], 100);
  EXPECT_EQ(record["rules"]["has_docstring"], Json({{"outcome", "pass"}, {"reason", ""}}));
  EXPECT_EQ(record["quality"]["score"], 0.75);
  EXPECT_EQ(record["checks"]["has_docstring"], true);
  EXPECT_EQ(record["checks"]["has_program_id"], false);
  EXPECT_EQ(record["stages"]["extract"], 3);
  EXPECT_FALSE(record.contains("source_base64"));
  EXPECT_EQ(record["pieces"], Json::array());
  EXPECT_EQ(record["self_contained"], false);
}

TEST_F(ExporterTest, ALicenceComesWithItsEvidence) {
  ASSERT_THAT(Export(), IsOk());
  const Json license = Lines("kernels.jsonl").at(0).at("license");
  EXPECT_EQ(license.dump(),
            R"({"confidence":0.9,"copyrights":["Copyright (c) 2020 X"],"evidence":"file:LICENSE",)"
            R"("expression":"MIT","found":[{"expression":"MIT","first_line":1,"last_line":19,)"
            R"("path":"LICENSE","rule":"text","score":0.98,"text":"MIT"}],"notices":["NOTICE"]})");
}

TEST_F(ExporterTest, TextsThatKeptKernelsNameAreWrittenOnceASource) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> notices = Lines("notices.jsonl");
  EXPECT_THAT(Strings(notices, "text"),
              ElementsAre("LICENSE of a", "NOTICE of a", "LICENSE of b", "NOTICE of b"));
  EXPECT_EQ(notices[1].at("path"), "NOTICE");
  EXPECT_EQ(notices[1].at("repository"), "https://example.org/a");
  EXPECT_EQ(notices[1].at("sha256"), Sha256Hex("NOTICE of a"));
}

TEST_F(ExporterTest, AMatchNamesTheHoldoutsKernelAndWhereItStands) {
  ASSERT_THAT(Export(), IsOk());
  const Json match = Lines("ledger.jsonl").at(1)["contamination"].at(0);
  EXPECT_EQ(match["rule"], "near");
  EXPECT_EQ(match["score"], 0.875);
  EXPECT_EQ(match["decisive"], true);
  for (const char* key : {"id", "repository", "commit", "path", "first_line", "last_line"}) {
    EXPECT_TRUE(match["holdout"].contains(key)) << key;
  }
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
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(1);
  EXPECT_EQ(record["contamination"].at(0)["rule"], "near");
  EXPECT_EQ(record["review"]["word_overlap"], 0.9);
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["contamination"]["kept"], 1);
  EXPECT_EQ(report["review"]["word_overlap"], 1);
}

TEST_F(ExporterTest, AMatchOfNoHoldoutIsDataLoss) {
  clusters_.mutable_decisions(3)->mutable_contamination(0)->set_holdout(1);
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
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
  EXPECT_FALSE(records[0].contains("inductor"));
  EXPECT_EQ(records[3]["inductor"], Json({{"model", "model__0_inference_0"},
                                          {"graph", "0"},
                                          {"kernel_path", "/tmp/x\xef\xbf\xbd.py"},
                                          {"source_node", ""},
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
  clusters_.mutable_decisions(8)->add_contamination()->set_holdout(9);
  Decide(v1::FATE_HOLDOUT, "", 9, 1);
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> records = Lines("kernels.jsonl");
  ASSERT_EQ(records.size(), 5u);
  EXPECT_FALSE(records[0].contains("json_pointer"));
  EXPECT_EQ(records[3]["json_pointer"], "/0/code");
  EXPECT_EQ(records[3]["first_line"], 9);
  EXPECT_EQ(records[4]["json_pointer"], "/1/code\xef\xbf\xbd");
  EXPECT_EQ(records[4]["json_pointer_base64"], "LzEvY29kZf8=");
  EXPECT_EQ(records[4]["contamination"].at(0)["holdout"]["path"], "all.json");
  EXPECT_EQ(records[4]["contamination"].at(0)["holdout"]["json_pointer"], "");
}

TEST_F(ExporterTest, WhatIsDerivedFromAKernelIsStructured) {
  StartSource("d", v1::SOURCE_ROLE_CANDIDATE, 0);
  v1::Kernel kernel = MakeKernel(8, "d.py", 7, "    d\n");
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
  launcher.set_text("def run(x):\n    k8[(1,)](x)\n");
  launcher.set_count(2);
  AddShard({kernel});
  EndSource();
  Decide(v1::FATE_KEPT, "", 7, 1);
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(3);
  EXPECT_EQ(Canonical(record["parameters"]),
            R"([{"annotation":"tl.tensor","default":"None","name":"x","role":"pointer",)"
            R"("rule":"usage:address"}])");
  EXPECT_EQ(Canonical(record["autotune"]),
            R"({"configs":[{"kwargs":{"BLOCK":"64"},"num_warps":"4"}],)"
            R"("decorator":"triton.autotune","expression":"","key":["n"],"key_expression":"",)"
            R"("resolved":true})");
  EXPECT_EQ(Canonical(record["heuristics"]), R"({"expressions":[],"names":["EVEN"]})");
  EXPECT_EQ(record["features"], Json::array({"dot"}));
  EXPECT_EQ(record["tags"], Json::array({"matmul"}));
  EXPECT_EQ(record["tag_rules"], Json({{"matmul", "call:triton.language.dot"}}));
  EXPECT_EQ(Canonical(record["launcher"]),
            R"({"count":2,"first_line":20,"last_line":21,"path":"d.py","qualname":"run",)"
            R"("text":"def run(x):\n    k8[(1,)](x)\n"})");
  EXPECT_EQ(record["fim_sha1"].get<std::string>().size(), 40u);
}

TEST_F(ExporterTest, BytesThatAreNotUtf8AreKeptBesideTheRepairedText) {
  ASSERT_THAT(Export(), IsOk());
  const Json record = Lines("kernels.jsonl").at(0);
  EXPECT_THAT(record["source"].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
  EXPECT_TRUE(record.contains("source_base64"));
  EXPECT_EQ(Lines("ledger.jsonl").at(5)["path_base64"], "/i5weQ==");
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
  EXPECT_FALSE(ledger[2].contains("of"));
  EXPECT_EQ(ledger[5]["of"], Id(1));
}

TEST_F(ExporterTest, ExamplesAreOfKeptKernelsAndKeepIndentation) {
  ASSERT_THAT(Export(), IsOk());
  const std::string csv = File("fim_sft.csv");
  EXPECT_THAT(csv, ::testing::StartsWith("prompt,completion\r\n"));
  EXPECT_THAT(csv, HasSubstr("\"    return 1\n\"\r\n"));
  EXPECT_THAT(csv, Not(HasSubstr("    y, z")));
}

TEST_F(ExporterTest, ExamplesThatAreEqualOnceNormalizedStandOnce) {
  // Kernel 5 is kernel 1 with other line ends.
  clusters_.mutable_decisions(4)->set_fate(v1::FATE_KEPT);
  clusters_.mutable_decisions(4)->set_leader(4);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(Lines("kernels.jsonl").size(), 4u);
  const std::vector<std::string> parts = absl::StrSplit(File("fim_sft.csv"), "return 1");
  EXPECT_EQ(parts.size(), 2u);
}

// Three sources over the first: two of both languages, whose kernels do the same, and one that has
// the CUDA side of a third pair alone.
class PairsTest : public ExporterTest {
 protected:
  PairsTest() {
    manifest_.clear_sources();
    clusters_.Clear();
    StartSource("p", v1::SOURCE_ROLE_CANDIDATE, 1);
    AddShard({Cuda(1, "softmax.cu", "softmax_kernel"), Cuda(2, "copy.cu", "copy_rows"),
              Cuda(3, "gelu.cu", "gelu_kernel")});
    AddShard({MakeKernel(4, "softmax.py", 1, "    s\n", "_softmax_kernel"),
              MakeKernel(5, "move.py", 1, "    m\n", "_move"),
              MakeKernel(6, "gelu.py", 1, "    g\n", "_gelu_kernel")});
    EndSource();
    StartSource("q", v1::SOURCE_ROLE_CANDIDATE, 1);
    AddShard({MakeKernel(7, "copy.py", 1, "    c\n", "_copy_rows")});
    EndSource();
    for (uint32_t i = 0; i < 7; ++i) Decide(v1::FATE_KEPT, "", i, 1);
  }

  static v1::Kernel Cuda(int n, const std::string& path, const std::string& name) {
    v1::Kernel kernel = MakeKernel(n, path, 1, "", name);
    kernel.set_dsl(v1::DSL_CUDA);
    const std::string head = absl::StrCat("__global__ void ", name, "() {\n");
    kernel.set_source(head + "  a();\n  b();\n}\n");
    kernel.set_module(kernel.source());
    kernel.set_body_offset(static_cast<int>(head.size()));
    return kernel;
  }

  void AddPair(int cuda, int triton) {
    v1::CuratedPair* pair = manifest_.add_pairs();
    pair->mutable_cuda()->set_id(Id(cuda));
    pair->mutable_triton()->set_id(Id(triton));
  }

  // "CUDA-TRITON" of each, marked "!" where curated.
  std::vector<std::string> Pairs() {
    std::vector<std::string> pairs;
    for (const Json& pair : Lines("cuda_triton_pairs.jsonl")) {
      pairs.push_back(absl::StrCat(pair["cuda"]["name"].get<std::string>(), "-",
                                   pair["triton"]["name"].get<std::string>(),
                                   pair["curated"].get<bool>() ? "!" : ""));
    }
    return pairs;
  }
};

TEST_F(PairsTest, CandidatesAreOfOneSourceAndSayWhatTheyShare) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Pairs(), ElementsAre("gelu_kernel-_gelu_kernel", "softmax_kernel-_softmax_kernel"));
  const Json pair = Lines("cuda_triton_pairs.jsonl").at(0);
  EXPECT_EQ(pair["cuda"]["id"], Id(3));
  EXPECT_EQ(pair["cuda"]["repository"], "https://example.org/p");
  EXPECT_EQ(pair["triton"]["path"], "gelu.py");
  EXPECT_EQ(pair["triton"]["last_line"], 3);
  EXPECT_EQ(pair["score"], 1);
  EXPECT_EQ(pair["signals"]["names"], 1);
  EXPECT_EQ(pair["signals"]["operations"], nullptr);
  EXPECT_EQ(pair["shared"]["words"], Json::array({"gelu"}));
  EXPECT_EQ(File("cu2triton_sft.csv"), "prompt,completion\r\n");
}

TEST_F(PairsTest, AKernelThatIsNotKeptIsInNoPair) {
  clusters_.mutable_decisions(3)->set_fate(v1::FATE_REJECTED);
  clusters_.mutable_decisions(3)->set_reason("license:GPL-3.0-only");
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Pairs(), ElementsAre("gelu_kernel-_gelu_kernel"));
}

TEST_F(PairsTest, PairsOfTheListAreCuratedAndNoCandidates) {
  AddPair(2, 5);
  AddPair(1, 4);
  AddPair(2, 7);
  AddPair(1, 4);  // again: as good as the second
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Pairs(), ElementsAre("gelu_kernel-_gelu_kernel", "copy_rows-_move!",
                                   "softmax_kernel-_softmax_kernel!", "copy_rows-_copy_rows!"));
  const std::vector<Json> pairs = Lines("cuda_triton_pairs.jsonl");
  EXPECT_EQ(pairs[1]["score"], 0);  // no threshold for what a person says
  EXPECT_EQ(pairs[2]["score"], 1);
  EXPECT_EQ(pairs[3]["score"], nullptr);  // of two sources
  const std::string csv = File("cu2triton_sft.csv");
  EXPECT_THAT(
      csv,
      HasSubstr("\r\n\"__global__ void copy_rows() {\n  a();\n  b();\n}\n\",\"import triton\n"));
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["pairs"], Json({{"candidates", 1}, {"curated", 3}, {"unmade", Json::array()}}));
}

TEST_F(PairsTest, PairsThatCouldNotBeMadeAreInTheReport) {
  AddPair(1, 4);
  AddPair(1, 9);
  ASSERT_THAT(Export(), IsOk());
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["pairs"]["curated"], 1);
  EXPECT_EQ(report["pairs"]["unmade"],
            Json::array({{{"pair", 1}, {"problem", "triton: no such kernel"}}}));
}

TEST_F(PairsTest, CudaHasNoRowAmongTheExamplesOfTriton) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(File("fim_sft.csv"), Not(HasSubstr("__global__")));
  for (const Json& record : Lines("kernels.jsonl")) {
    EXPECT_EQ(record["fim_sha1"].is_null(), record["dsl"] == "cuda");
  }
}

TEST_F(PairsTest, AnotherExportHasTheSameBytes) {
  AddPair(2, 5);
  ASSERT_THAT(Export(), IsOk());
  const auto first = AllFiles();
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(AllFiles(), first);
}

TEST_F(ExporterTest, FunctionsAreFencedAsPython) {
  ASSERT_THAT(Export(), IsOk());
  const Json functions = Json::parse(File("triton_functions.json"));
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[2]["input"],
            "```python\nimport triton\n\n@triton.jit\r\ndef k6(x):\r\n    g\n```");
}

TEST_F(ExporterTest, TheManifestListsFilesThatHoldKeptKernels) {
  ASSERT_THAT(Export(), IsOk());
  const Json manifest = Json::parse(File("MANIFEST.json"));
  EXPECT_EQ(manifest["created"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(manifest["extraction_dir"], ".");
  EXPECT_EQ(manifest["total_files"], 3);
  EXPECT_EQ(manifest["total_size_bytes"], 300);
  EXPECT_EQ(manifest["total_lines"], 30);
  EXPECT_EQ(manifest["dataset"], cas::ToString(request_.dataset));
  const Json& a = manifest["categories"]["cat-a"];
  EXPECT_EQ(a["total_files"], 2);
  EXPECT_EQ(a["files"][0]["path"], "a.py");
  EXPECT_EQ(a["files"][1]["path"], "z.py");
  EXPECT_EQ(a["files"][1]["has_triton_jit"], true);
  EXPECT_EQ(a["files"][1]["hash_sha256"], Sha256Hex("z.py"));
}

TEST_F(ExporterTest, TheReportAddsUp) {
  v1::Failure failure;
  failure.set_source("https://example.org/gone");
  failure.set_code("NOT_FOUND");
  request_.failures.push_back(failure);
  for (const char* path : {"z.py", "a.py"}) {  // quarantined; in the order in which they ended
    v1::Failure file;
    file.set_source("a");
    file.set_path(path);
    request_.failures.push_back(file);
  }
  ASSERT_THAT(Export(), IsOk());
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["files"]["seen"], 9);
  EXPECT_EQ(report["files"]["extracted"], 6);
  EXPECT_EQ(report["files"]["support"], 1);
  EXPECT_EQ(report["files"]["skipped_by_reason"]["symlink"], 3);
  EXPECT_EQ(report["kernels"]["found"], 6);
  EXPECT_EQ(report["kernels"]["kept"], 3);
  EXPECT_EQ(report["kernels"]["rejected"], 1);
  EXPECT_EQ(report["kernels"]["duplicate"], 1);
  EXPECT_EQ(report["kernels"]["contaminated"], 1);
  EXPECT_EQ(report["kernels"]["holdout"], 1);
  EXPECT_EQ(report["kernels"]["functions_of_other_dsls"], Json({{"cute", 7}}));
  EXPECT_EQ(report["kernels"]["by_reason"]["rejected"]["license:GPL-3.0-only"], 1);
  EXPECT_EQ(report["sources"].size(), 4u);
  EXPECT_EQ(report["sources"][3]["failed"], true);
  EXPECT_EQ(report["categories"]["cat-a"]["checks"]["has_docstring"]["percent"], 50);
  EXPECT_EQ(report["categories"]["cat-a"]["tokens"]["source"]["cl100k_base"], 20)
      << "of the kept alone";
  EXPECT_EQ(report["tokens"]["module"]["cl100k_base"], 300);
  EXPECT_FALSE(report["categories"].contains("cat-h"));
  ASSERT_EQ(report["failures"].size(), 3u);
  EXPECT_EQ(report["failures"][0]["path"], "a.py");
  EXPECT_EQ(report["failures"][1]["path"], "z.py");
  EXPECT_EQ(report["failures"][2]["code"], "NOT_FOUND");
  EXPECT_FALSE(report["failures"][2].contains("path"));
}

TEST_F(ExporterTest, TheLockFileIsTheLock) {
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(File("job.lock.yaml"), config::JobFileYaml(request_.lock));
}

TEST_F(ExporterTest, ExportingTwiceGivesTheSameBytesInItsPlace) {
  ASSERT_THAT(Export(), IsOk());
  const auto first = AllFiles();
  EXPECT_EQ(first.size(), 10u);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(AllFiles(), first);
  request_.out_dir = root_.path() + "/elsewhere/deep";
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(AllFiles(), first);
}

TEST_F(ExporterTest, ALedgerThatDoesNotAddUpIsNotExported) {
  clusters_.mutable_decisions()->RemoveLast();
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_TRUE(fs::is_empty(root_.path()));
}

TEST_F(ExporterTest, ADuplicateOfNothingIsNotExported) {
  clusters_.mutable_decisions(4)->set_leader(1);
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_TRUE(fs::is_empty(root_.path()));
}

TEST_F(ExporterTest, ALostBlobLeavesTheEarlierExportAsItWas) {
  ASSERT_THAT(Export(), IsOk());
  const auto before = AllFiles();
  *manifest_.mutable_sources(1)->mutable_kernels(0) = cas::DigestOf("gone");
  EXPECT_THAT(Export(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(AllFiles(), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace kernelmill::exporter
