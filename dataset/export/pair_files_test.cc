#include "dataset/export/pair_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"
#include "dataset/output/json.h"
#include "dataset/testing/export_fixture.h"

namespace kernelmill::dataset {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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
    kernel.set_dsl(dsl::kCuda);
    kernel.set_form(v1::KERNEL_FORM_QUALIFIED);
    const std::string head = absl::StrCat("__global__ void ", name, "() {\n");
    kernel.set_source(head + "  a = 1;\n  b();\n}\n");
    kernel.set_module(kernel.source());
    kernel.set_body_offset(static_cast<int>(head.size()));
    return kernel;
  }

  void AddPair(int cuda, int triton) {
    v1::CuratedPair* pair = manifest_.add_pairs();
    pair->mutable_cuda()->set_id(Id(cuda));
    pair->mutable_triton()->set_id(Id(triton));
  }

  void AddReview(int cuda, int triton, v1::ReviewDecision decision) {
    v1::Review* review = manifest_.add_reviews();
    review->mutable_cuda()->set_id(Id(cuda));
    review->mutable_triton()->set_id(Id(triton));
    review->set_flag("pair");
    review->set_decision(decision);
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
  EXPECT_EQ(File("cu2triton_sft.csv"), "prompt,completion,split\r\n");
}

TEST_F(PairsTest, ParallelRowsHaveBothKernelsWithTheirTexts) {
  ASSERT_THAT(Export(), IsOk());
  const std::vector<Json> rows = Lines("parallel.jsonl");
  ASSERT_EQ(rows.size(), 2u);
  const Json& row = rows[0];
  EXPECT_EQ(row["languages"], Json::array({"cuda", "triton"}));
  EXPECT_EQ(row["operation"], "gelu");
  EXPECT_EQ(row["phase"], "forward");
  EXPECT_EQ(row["a"]["id"], Id(3));
  EXPECT_EQ(row["b"]["id"], Id(6));
  EXPECT_THAT(row["a"]["module"].get<std::string>(), HasSubstr("__global__ void gelu_kernel"));
  EXPECT_THAT(row["b"]["module"].get<std::string>(), HasSubstr("def _gelu_kernel"));
  EXPECT_EQ(row["group"], std::min(Id(3), Id(6)));
  EXPECT_EQ(row["unique"], true);
  EXPECT_EQ(row["curated"], false);
  EXPECT_EQ(row["split"], "train");
  EXPECT_EQ(row["license"], row["a"]["license"]);
  EXPECT_EQ(row["evidence"][0]["kind"], "name");
  EXPECT_EQ(row["evidence"][0]["shared"], Json::array({"gelu"}));
  EXPECT_EQ(Json::parse(File("report.json"))["parallel"],
            Json({{"by_languages", {{"cuda-triton", 2}}}, {"groups", 2}, {"across_splits", 0}}));
}

// A kernel in a third language, which cuda_triton_pairs.jsonl does not have.
TEST_F(PairsTest, AnyTwoLanguagesAreCompared) {
  StartSource("r", v1::SOURCE_ROLE_CANDIDATE, 1);
  v1::Kernel cute = MakeKernel(8, "cute/rope.py", 1, "    r\n", "rope_fwd_sm90");
  cute.set_dsl("cute");
  AddShard({cute, MakeKernel(9, "rope.py", 1, "    t\n", "_rope_forward"),
            MakeKernel(10, "vendor/rope.py", 1, "    v\n", "_rope_forward_tiled")});
  EndSource();
  for (uint32_t i = 7; i < 10; ++i) Decide(v1::FATE_KEPT, "", i, 1);
  ASSERT_THAT(Export(), IsOk());
  std::vector<Json> rows = Lines("parallel.jsonl");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2]["languages"], Json::array({"cute", "triton"}));
  EXPECT_EQ(rows[2]["b"]["id"], Id(9));
  EXPECT_EQ(rows[3]["b"]["id"], Id(10));
  EXPECT_EQ(rows[2]["group"], rows[3]["group"]);
  EXPECT_EQ(rows[2]["unique"], false);
  EXPECT_THAT(Pairs(), ElementsAre("gelu_kernel-_gelu_kernel", "softmax_kernel-_softmax_kernel"));
}

TEST_F(PairsTest, ASharedTestIsEvidence) {
  v1::ReferenceShard cuda;
  v1::ReferenceShard triton;
  for (int i = 0; i < 3; ++i) {
    cuda.add_kernels();
    triton.add_kernels();
  }
  for (v1::ReferenceShard* shard : {&cuda, &triton}) {
    v1::TestReference* test = shard->mutable_kernels(0)->add_tests();
    test->set_path("tests/test_softmax.py");
    test->set_qualname("test_softmax");
    test->mutable_reference()->set_path("tests/test_softmax.py");
    test->mutable_reference()->set_name("naive_softmax");
  }
  *manifest_.mutable_sources(0)->add_references() = *cas::PutMessage(store_, cuda);
  *manifest_.mutable_sources(0)->add_references() = *cas::PutMessage(store_, triton);
  ASSERT_THAT(Export(), IsOk());
  const Json row = Lines("parallel.jsonl").at(1);
  EXPECT_EQ(row["operation"], "softmax");
  const Json& evidence = row["evidence"];
  ASSERT_GE(evidence.size(), 2u);
  EXPECT_EQ(evidence[evidence.size() - 2],
            Json({{"kind", "test"},
                  {"shared", {"tests/test_softmax.py::test_softmax"}},
                  {"score", nullptr}}));
  EXPECT_EQ(evidence.back()["shared"], Json::array({"tests/test_softmax.py::naive_softmax"}));
}

TEST_F(PairsTest, ListedPairsAreParallelToo) {
  AddPair(2, 7);
  ASSERT_THAT(Export(), IsOk());
  const Json row = Lines("parallel.jsonl").back();
  EXPECT_EQ(row["curated"], true);
  EXPECT_EQ(row["operation"], "copy_rows");
  EXPECT_EQ(row["score"], nullptr);  // from two sources
  EXPECT_EQ(row["evidence"][0]["kind"], "list");
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
  EXPECT_EQ(pairs[3]["score"], nullptr);  // from two sources
  const std::string csv = File("cu2triton_sft.csv");
  EXPECT_THAT(
      csv,
      HasSubstr("\r\n\"__global__ void copy_rows() {\n  a = 1;\n  b();\n}\n\",\"import triton\n"));
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["pairs"], Json({{"candidates", 1},
                                   {"curated", 3},
                                   {"repeats", 0},
                                   {"word_overlaps", 0},
                                   {"across_splits", 0},
                                   {"unmade", Json::array()}}));
}

TEST_F(PairsTest, AnAcceptedCandidateIsARowAndARejectedOneIsNoCandidate) {
  AddReview(1, 4, v1::REVIEW_DECISION_ACCEPT);
  AddReview(3, 6, v1::REVIEW_DECISION_REJECT);
  AddReview(3, 9, v1::REVIEW_DECISION_ACCEPT);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Pairs(), ElementsAre("softmax_kernel-_softmax_kernel!"));
  EXPECT_THAT(File("cu2triton_sft.csv"), HasSubstr("softmax_kernel"));
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["pairs"]["unmade"], Json::array());
  EXPECT_EQ(report["reviews"]["accepted"], Json({{"pair", 2}}));
  EXPECT_EQ(report["reviews"]["rejected"], Json({{"pair", 1}}));
  EXPECT_EQ(report["reviews"]["unmatched"],
            Json::array({{{"review", 2}, {"problem", "triton: no such kernel"}}}));
}

TEST_F(PairsTest, EqualTextsAreOneRow) {
  // The same two texts except for blanks, in another file.
  StartSource("r", v1::SOURCE_ROLE_CANDIDATE, 1);
  v1::Kernel copy = Cuda(8, "copy.cu", "softmax_kernel");
  copy.set_source("\n" + copy.source());
  copy.set_module(copy.source());
  AddShard({copy});
  EndSource();
  Decide(v1::FATE_KEPT, "", 7, 1);
  AddPair(1, 4);
  AddPair(8, 4);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_THAT(Pairs(), ::testing::Contains("softmax_kernel-_softmax_kernel!").Times(2));
  const std::string csv = File("cu2triton_sft.csv");
  EXPECT_EQ(csv.find("softmax_kernel"), csv.rfind("__global__ void softmax_kernel") + 16);
  const Json report = Json::parse(File("report.json"));
  EXPECT_EQ(report["pairs"]["curated"], 2);
  EXPECT_EQ(report["pairs"]["repeats"], 1);
}

TEST_F(PairsTest, APairOfTwoSplitsIsLeftOutAndCounted) {
  AddPair(1, 4);
  v1::Splits splits;
  for (const v1::Decision& decision : clusters_.decisions()) {
    splits.add_splits(decision.fate() == v1::FATE_KEPT ? v1::SPLIT_TRAIN : v1::SPLIT_UNSPECIFIED);
  }
  splits.set_splits(3, v1::SPLIT_TEST);
  *manifest_.mutable_splits() = *cas::PutMessage(store_, splits);
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(File("cu2triton_sft.csv"), "prompt,completion,split\r\n");
  EXPECT_GE(Json::parse(File("report.json"))["pairs"]["across_splits"], 1);
  for (const Json& row : Lines("cuda_triton_pairs.jsonl")) EXPECT_EQ(row["split"], "train");
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
    EXPECT_EQ(record["fim_excluded"] == "language", record["dsl"] == "cuda");
  }
}

TEST_F(PairsTest, AnotherExportHasTheSameBytes) {
  AddPair(2, 5);
  ASSERT_THAT(Export(), IsOk());
  const auto first = AllFiles();
  ASSERT_THAT(Export(), IsOk());
  EXPECT_EQ(AllFiles(), first);
}

}  // namespace
}  // namespace kernelmill::dataset
