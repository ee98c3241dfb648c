#include "client/catalog/search/search_index.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/catalog/search/data_files.h"
#include "client/catalog/search/facet_column.h"
#include "client/catalog/search/postings.h"
#include "client/catalog/testing/catalog_rows.h"
#include "client/catalog/web/page.h"
#include "common/base/file.h"
#include "common/dsl/names.h"
#include "common/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kernelmill::client {
namespace {

using ::kernelmill::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

v1::KernelRow Kernel(int number, const std::string& name) {
  v1::KernelRow kernel;
  kernel.set_id(absl::StrFormat("%032x", number));
  kernel.set_name(name);
  kernel.set_qualname(name);
  kernel.set_repository("a/kernels");
  kernel.set_path("ops/file.py");
  kernel.set_first_line(3);
  kernel.set_last_line(9);
  kernel.set_dsl(dsl::kTriton);
  kernel.mutable_license()->set_expression("MIT");
  kernel.set_source(absl::StrCat("def ", name, "(x):\n    return tl.load(x)\n"));
  kernel.mutable_tokens()->set_cl100k_base(100 + number);
  kernel.mutable_quality()->set_score(0.5);
  return kernel;
}

// A site's files by their paths.
using Files = std::map<std::string, std::string>;

Files WriteSite(const std::vector<v1::KernelRow>& kernels, size_t run_entries = 1 << 20) {
  auto site = TempDir::Create();
  EXPECT_THAT(site, IsOk());
  auto index = SearchIndex::Create(site->path(), {.title = "Kernels", .run_entries = run_entries});
  EXPECT_THAT(index, IsOk());
  for (const v1::KernelRow& kernel : kernels) EXPECT_THAT(index->Add(kernel, {}), IsOk());
  EXPECT_THAT(index->Finish(), IsOk());
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(site->path())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string path = std::filesystem::relative(entry.path(), site->path()).string();
    // The index removes its temp files in its destructor.
    if (absl::StartsWith(path, "data/") || absl::StartsWith(path, "lists/") ||
        path == "index.html") {
      files[path] = std::string(std::istreambuf_iterator<char>(file), {});
    }
  }
  return files;
}

// Returns the value of a data file.
nlohmann::json Data(const Files& files, const std::string& name) {
  const auto at = files.find(absl::StrCat("data/", name, ".js"));
  if (at == files.end()) return {};
  const std::string begin = absl::StrCat("kernelmill(\"", name, "\",");
  EXPECT_TRUE(absl::StartsWith(at->second, begin));
  EXPECT_TRUE(absl::EndsWith(at->second, ");\n"));
  return nlohmann::json::parse(
      at->second.substr(begin.size(), at->second.size() - begin.size() - 3));
}

// Returns the fields of each line.
std::vector<std::vector<std::string>> Fields(const std::string& lines) {
  std::vector<std::vector<std::string>> rows;
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) {
    rows.push_back(absl::StrSplit(line, '\t'));
  }
  return rows;
}

std::vector<std::vector<std::string>> ReadRows(const Files& files, size_t number) {
  return Fields(Data(files, absl::StrCat("rows/", number)).get<std::string>());
}

// Returns the kernels that have a word, with the word's weight.
std::map<uint32_t, int> ReadPostings(const Files& files, const std::string& word) {
  std::map<uint32_t, int> found;
  const size_t shards = Data(files, "meta")["postings"].size();
  for (size_t i = 0; i < shards; ++i) {
    const nlohmann::json shard = Data(files, absl::StrCat("postings/", i));
    const std::vector<std::string> words = absl::StrSplit(shard["words"].get<std::string>(), ' ');
    std::string bytes;
    EXPECT_TRUE(absl::Base64Unescape(shard["bytes"].get<std::string>(), &bytes));
    const auto end_of = [&](size_t word) {
      size_t end = 0;
      for (size_t k = 4; k-- > 0;) {
        end = end << 8 | static_cast<unsigned char>(bytes[4 * (words.size() + word) + k]);
      }
      return end + 8 * words.size();
    };
    for (size_t j = 0; j < words.size(); ++j) {
      if (words[j] != word) continue;
      int64_t kernel = -1;
      size_t at = j > 0 ? end_of(j - 1) : 8 * words.size();
      while (at < end_of(j)) {
        uint32_t distance = 0;
        int shift = 0;
        for (; bytes[at] & 0x80; shift += 7) distance |= (bytes[at++] & 0x7f) << shift;
        distance |= bytes[at++] << shift;
        kernel += distance;
        found[kernel] = static_cast<unsigned char>(bytes[at++]);
      }
    }
  }
  return found;
}

TEST(SearchIndexTest, AWordInTheNameWeighsMoreThanOneInTheCode) {
  v1::KernelRow caller = Kernel(1, "attention");
  caller.set_source("softmax(x)");
  const Files files = WriteSite({Kernel(0, "fused_softmax"), caller, Kernel(2, "matmul")});
  const auto found = ReadPostings(files, "softmax");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found.at(0), Gt(found.at(1)));
}

TEST(SearchIndexTest, OfTwoThatFitAsWellTheBetterWeighsMore) {
  v1::KernelRow better = Kernel(0, "softmax");
  better.mutable_quality()->set_score(0.9);
  v1::KernelRow same = Kernel(1, "softmax");
  const auto found = ReadPostings(WriteSite({same, better}), "softmax");
  EXPECT_GT(found.at(0), found.at(1));  // the site's order has the better one first
}

TEST(SearchIndexTest, AShortNameWeighsMoreThanALongOne) {
  const auto found = ReadPostings(
      WriteSite({Kernel(0, "fused_softmax_quantize_kernel"), Kernel(1, "softmax_kernel")}),
      "softmax");
  EXPECT_GT(found.at(1), found.at(0));
}

TEST(SearchIndexTest, WhatNobodyLaunchesAndOneVendorsKernelsComeLater) {
  const v1::KernelRow launched = Kernel(0, "softmax");
  v1::KernelRow helper = Kernel(1, "softmax"), test = Kernel(2, "softmax"),
                ascend = Kernel(3, "softmax"), backward = Kernel(4, "softmax");
  helper.set_role(v1::KERNEL_ROLE_DEVICE);
  test.set_kind("test");
  ascend.set_target("ascend");
  backward.add_tags("backward");
  const auto found = ReadPostings(WriteSite({launched, helper, test, ascend, backward}), "softmax");
  for (uint32_t i = 1; i < 5; ++i) EXPECT_GT(found.at(0), found.at(i)) << i;
}

TEST(SearchIndexTest, AttentionThatKeepsARunningMaximumIsFlashAttention) {
  v1::KernelRow kernel = Kernel(0, "_attn_fwd");
  kernel.add_tags("attention");
  kernel.set_source("for i in range(n):\n  m = tl.maximum(m, tl.dot(q, k))\n  p = tl.exp2(m)\n");
  v1::KernelRow other = Kernel(1, "_attn_fwd");
  other.add_tags("attention");
  EXPECT_EQ(ReadPostings(WriteSite({kernel, other}), "flashattention").size(), 1u);
}

TEST(SearchIndexTest, AFlagOfAKernelIsAWordOfIt) {
  v1::KernelRow kernel = Kernel(0, "norm_kernel");
  kernel.add_parameters()->set_name("IS_RMS_NORM");
  EXPECT_EQ(ReadPostings(WriteSite({kernel}), "rmsnorm").size(), 1u);
}

TEST(SearchIndexTest, TheVocabularyHasWordsOfNamesTheMostFrequentFirst) {
  v1::KernelRow typo = Kernel(3, "matmul");
  typo.set_source("sofmax(x); sofmax(y)");
  const nlohmann::json words = Data(
      WriteSite({Kernel(0, "softmax"), Kernel(1, "softmax"), Kernel(2, "softmax_matmul"), typo}),
      "vocabulary");
  const std::vector<std::string> all = absl::StrSplit(words.get<std::string>(), ' ');
  const auto place = [&](absl::string_view word) {
    return std::find(all.begin(), all.end(), word) - all.begin();
  };
  EXPECT_LT(place("softmax"), place("matmul"));
  EXPECT_LT(place("matmul"), static_cast<ptrdiff_t>(all.size()));
  EXPECT_EQ(place("sofmax"), static_cast<ptrdiff_t>(all.size()));
}

TEST(SearchIndexTest, TheFirstPageSaysWhatTheDatasetIs) {
  v1::KernelRow cuda = Kernel(1, "softmax");
  cuda.set_dsl(dsl::kCuda);
  cuda.set_repository("<b>/kernels");
  cuda.mutable_tags()->Add("layer_norm");
  const std::string page = WriteSite({Kernel(0, "softmax"), cuda}).at("index.html");
  EXPECT_THAT(page, HasSubstr("<strong>2 kernels</strong> from 2 repositories, in 2 languages and "
                              "under 1 licence."));
  EXPECT_THAT(page, HasSubstr("<a href=\"#op=layer_norm\">layer norm</a>"));
  EXPECT_THAT(page, Not(HasSubstr("<b>/")));
}

TEST(PostingsTest, AListOfSeveralFilesBeginsTheFirst) {
  auto site = TempDir::Create();
  ASSERT_THAT(site, IsOk());
  auto postings = Postings::Create(site->path(), 1 << 20);
  ASSERT_THAT(postings, IsOk());
  constexpr uint32_t kKernels = 140'000;
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < kKernels; ++i) {
    WordUses uses = {{"word", {.fields = 1}}};
    if (i == 0) uses["aa"] = uses["zz"] = {.fields = 1};
    ASSERT_THAT(postings->Add(uses, 1, 0.5), IsOk());
    places.push_back(i);
  }
  const auto first_words = postings->Write(site->path(), places);
  ASSERT_THAT(first_words, IsOk());
  EXPECT_THAT(*first_words, ElementsAre("aa", "word", "word"));
}

TEST(SearchIndexTest, TwoNeighbouringWordsOfANameAreAlsoFoundAsOne) {
  const Files files = WriteSite({Kernel(0, "layer_norm_fwd"), Kernel(1, "matmul")});
  EXPECT_EQ(ReadPostings(files, "layernorm").size(), 1u);
  EXPECT_EQ(ReadPostings(files, "normfwd").size(), 1u);
}

TEST(SearchIndexTest, BytesDoNotDependOnHowOftenPostingsGoToDisk) {
  std::vector<v1::KernelRow> kernels;
  for (int i = 0; i < 200; ++i)
    kernels.push_back(Kernel(i, absl::StrCat("kernel_", i % 17, "abc")));
  EXPECT_EQ(WriteSite(kernels), WriteSite(kernels, 10));
}

TEST(SearchIndexTest, FirstPageHasTheBestKernelsAndCounts) {
  std::vector<v1::KernelRow> kernels;
  for (int i = 0; i < 70; ++i) kernels.push_back(Kernel(i, "softmax"));
  kernels[66].mutable_quality()->set_score(0.9);
  testing::SetTexts({"softmax", "backward"}, kernels[3].mutable_tags());
  const nlohmann::json meta = Data(WriteSite(kernels), "meta");
  EXPECT_EQ(meta["kernels"], 70);
  const auto top = Fields(meta["top"]);
  ASSERT_EQ(top.size(), 20u);
  EXPECT_EQ(top[0][0], kernels[66].id());
  EXPECT_EQ(top[1][0], kernels[0].id());
  EXPECT_EQ(meta["facets"][0]["top"], nlohmann::json::parse(R"([["softmax", 1]])"));
  EXPECT_EQ(meta["facets"][1]["top"],
            nlohmann::json::parse(R"([["forward", 69], ["backward", 1]])"));
}

TEST(SearchIndexTest, WithoutWordsCommonHardwareComesFirst) {
  std::vector<v1::KernelRow> kernels = {Kernel(0, "rms_norm"), Kernel(1, "rms_norm")};
  kernels[0].set_target("ascend");
  kernels[0].mutable_quality()->set_score(1);
  for (v1::KernelRow& kernel : kernels) testing::SetTexts({"rms_norm"}, kernel.mutable_tags());
  const Files files = WriteSite(kernels);
  EXPECT_EQ(Fields(Data(files, "meta")["top"])[0][0], kernels[1].id());
  const std::string& list = files.at("lists/rms_norm.html");
  EXPECT_LT(list.find(kernels[1].id()), list.find(kernels[0].id()));
}

TEST(SearchIndexTest, WhatNobodyCompiledIsNoValueOfCompilesOn) {
  v1::KernelRow compiled = Kernel(0, "softmax");
  for (const auto& [target, status] :
       {std::pair("sm90", v1::COMPILE_STATUS_OK), std::pair("gfx942", v1::COMPILE_STATUS_ERROR)}) {
    auto* result = compiled.mutable_compile()->add_results();
    result->set_toolchain("triton-3.5");
    result->set_target(target);
    result->set_status(status);
  }
  const nlohmann::json meta = Data(WriteSite({compiled, Kernel(1, "matmul")}), "meta");
  EXPECT_EQ(meta["facets"][10]["top"], nlohmann::json::parse(R"([["triton-3.5 · sm90", 1]])"));
}

TEST(SearchIndexTest, AKernelThatDoesNotCompileIsMarked) {
  v1::KernelRow fails = Kernel(0, "softmax");
  fails.mutable_checks()->set_compiles(v1::RuleResult::OUTCOME_FAIL);
  const Files files = WriteSite({fails, Kernel(1, "matmul")});
  for (const std::vector<std::string>& row : ReadRows(files, 0)) {
    EXPECT_EQ(row[10], row[1] == "softmax" ? "1" : "0");
  }
  EXPECT_EQ(Data(files, "meta")["facets"][10]["top"],
            nlohmann::json::parse(R"([["nothing: it fails", 1]])"));
}

TEST(SearchIndexTest, RowsAreCutIntoFilesWhoseFirstKernelsAreTold) {
  std::vector<v1::KernelRow> kernels;
  for (int i = 0; i < 2000; ++i) kernels.push_back(Kernel(i, absl::StrCat("kernel", i)));
  const Files files = WriteSite(kernels);
  const auto firsts = Data(files, "meta")["rows"].get<std::vector<size_t>>();
  ASSERT_GT(firsts.size(), 1u);
  size_t next = 0;
  for (size_t i = 0; i < firsts.size(); ++i) {
    EXPECT_EQ(firsts[i], next);
    for (const std::vector<std::string>& row : ReadRows(files, i)) {
      EXPECT_EQ(row[1], absl::StrCat("kernel", next++));
    }
  }
  EXPECT_EQ(next, kernels.size());
}

TEST(SearchIndexTest, RowsOfTheLongestTextsStayBelowAFilesBound) {
  std::vector<v1::KernelRow> kernels;
  for (int i = 0; i < 100; ++i) {
    v1::KernelRow kernel = Kernel(i, std::string(500, '\x01'));
    kernel.set_repository(std::string(1000, '"'));
    kernel.set_path(kernel.repository());
    kernel.set_docstring(kernel.repository());
    kernel.mutable_license()->set_expression(std::string(1000, '\\'));
    for (int tag = 0; tag < 20; ++tag) kernel.add_tags(std::string(300, '\\'));
    kernels.push_back(kernel);
  }
  EXPECT_GT(Data(WriteSite(kernels), "meta")["rows"].size(), 1u);
}

TEST(SearchIndexTest, KernelsOfTheSameOperationsLieTogetherTheBestFirst) {
  std::vector<v1::KernelRow> kernels;
  for (int i = 0; i < 12; ++i) {
    kernels.push_back(Kernel(i, absl::StrCat("kernel", i)));
    testing::SetTexts({i % 2 ? "softmax" : "matmul"}, kernels.back().mutable_tags());
    kernels.back().mutable_quality()->set_score(i == 9 ? 0.9 : 0.5);
    kernels.back().set_source(i == 9 ? "onlyhere" : "elsewhere");
  }
  const Files files = WriteSite(kernels);
  std::vector<std::string> names;
  for (const std::vector<std::string>& row : ReadRows(files, 0)) names.push_back(row[1]);
  EXPECT_THAT(names,
              ElementsAre("kernel0", "kernel2", "kernel4", "kernel6", "kernel8", "kernel10",
                          "kernel9", "kernel1", "kernel3", "kernel5", "kernel7", "kernel11"));
  // Words and columns number kernels as the rows do.
  EXPECT_THAT(ReadPostings(files, "onlyhere"), ElementsAre(Pair(6, Gt(0))));
  EXPECT_EQ(Data(files, "columns/score-0"),
            EncodeColumn({500, 500, 500, 500, 500, 500, 900, 500, 500, 500, 500, 500}));
  EXPECT_EQ(Data(files, "columns/size-0"),
            EncodeColumn({100, 102, 104, 106, 108, 110, 109, 101, 103, 105, 107, 111}));
  EXPECT_EQ(Data(files, "columns/op-0"), EncodeColumn({0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
}

TEST(SearchIndexTest, HostileTextIsSpelledOutAndEscaped) {
  v1::KernelRow kernel = Kernel(0, "a\u202e</script><b>");
  kernel.set_repository("evil/<img src=x onerror=alert(1)>");
  kernel.set_path("a\"'b\x1b.py");
  kernel.set_docstring("a\ttab\nand a line");
  const Files files = WriteSite({kernel});
  ASSERT_EQ(ReadRows(files, 0).size(), 1u);
  EXPECT_EQ(ReadRows(files, 0)[0].size(), 12u);
  EXPECT_EQ(ReadRows(files, 0)[0][1], "a\\u202e</script><b>");
  const std::string& list = files.at("lists/other.html");
  EXPECT_THAT(list, HasSubstr("a\\u202e&lt;/script&gt;&lt;b&gt;"));
  EXPECT_THAT(list, HasSubstr("a&quot;&#39;b\\x1b.py:3"));
  EXPECT_THAT(list, Not(HasSubstr("<img")));
}

TEST(SearchIndexTest, LongListsGoOnOnFurtherPages) {
  std::vector<v1::KernelRow> kernels;
  for (int i = 0; i < 501; ++i) {
    kernels.push_back(Kernel(i, "softmax"));
    testing::SetTexts({"softmax"}, kernels.back().mutable_tags());
  }
  const Files files = WriteSite(kernels);
  EXPECT_THAT(files.at("lists/softmax.html"), HasSubstr("href=\"softmax-2.html\""));
  EXPECT_THAT(files.at("lists/softmax-2.html"), HasSubstr(kernels[500].id()));
  EXPECT_THAT(files.at("lists/index.html"), HasSubstr("softmax.html"));
}

TEST(SearchIndexTest, ATagThatIsNoFileNameIsListedUnderOther) {
  v1::KernelRow kernel = Kernel(0, "softmax");
  testing::SetTexts({"../../evil"}, kernel.mutable_tags());
  EXPECT_THAT(WriteSite({kernel}).at("lists/other.html"), HasSubstr(kernel.id()));
}

TEST(SearchIndexTest, ADatasetWithoutKernelsHasASite) {
  const Files files = WriteSite({});
  EXPECT_EQ(Data(files, "meta")["kernels"], 0);
  EXPECT_TRUE(files.contains("index.html"));
}

TEST(DataFileTest, NoneIsAboveAMegabyte) {
  auto site = TempDir::Create();
  ASSERT_THAT(site, IsOk());
  EXPECT_THAT(WriteDataFile(site->path(), "meta", std::string(kMaxSiteFile, '1')),
              ::kernelmill::testing::StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace kernelmill::client
