// Every form in which the extractor finds or counts kernels must pass the fetcher's filter: the
// extractor cannot count files that the fetcher drops.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/text.h"
#include "common/dsl/languages.h"
#include "common/python/parse/python_parser.h"
#include "services/extractor/core/extract/extract.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill {
namespace {

// Returns the extractor's results for a file: "TRITON DECORATED" for a kernel, "numba" for a
// counted function, "CANDIDATE" for a function that link decides on.
std::string Found(const std::string& path, const std::string& text) {
  v1::FileShard files;
  files.add_files()->set_path(path);
  files.mutable_files(0)->set_content(text);
  const python::StandardParser parser;
  const absl::StatusOr<v1::KernelShard> shard = extractor::ExtractKernels(files, parser);
  if (!shard.ok()) return shard.status().ToString();
  std::vector<std::string> found;
  for (const v1::Kernel& kernel : shard->kernels()) {
    found.push_back(absl::StrCat(absl::AsciiStrToUpper(kernel.dsl()), " ",
                                 v1::KernelForm_Name(kernel.form()).substr(12)));
  }
  for (const v1::OtherDsl& other : shard->files(0).other_dsls()) found.push_back(other.name());
  for (int i = 0; i < shard->candidates_size(); ++i) found.push_back("CANDIDATE");
  return absl::StrJoin(found, ", ");
}

void ExpectFetchedAndFound(const std::string& path, const std::string& text,
                           absl::string_view found) {
  EXPECT_EQ(fetcher::ContentSkipReason(text), "") << "the fetcher leaves it behind:\n" << text;
  EXPECT_EQ(Found(path, text), found) << "the extractor does not find it:\n" << text;
}

// The ways to import a maker and to write it as a decorator.
std::vector<std::string> Spellings(const dsl::Makers& makers, absl::string_view name) {
  const std::string module(makers.module);
  const std::string maker = absl::StrCat(module, ".", name);
  if (makers.as_written) return {absl::StrCat("from .common import *\n@", maker)};
  const std::string holder = maker.substr(0, maker.rfind('.'));
  const absl::string_view last = LastPart(maker);
  std::vector<std::string> spellings = {
      absl::StrCat("import ", module, "\n@", maker),
      absl::StrCat("import ", module, " as m\n@m.", name),
      absl::StrCat("from ", holder, " import ", last, "\n@", last),
      absl::StrCat("from ", holder, " import ", last, " as z\n@z(1)"),
  };
  if (const size_t dot = module.rfind('.'); dot != std::string::npos) {
    const std::string above = module.substr(0, dot);
    spellings.push_back(absl::StrCat("from ", above, " import ", LastPart(module), "\n@",
                                     LastPart(module), ".", name));
    spellings.push_back(
        absl::StrCat("from ", above, " import ", LastPart(module), " as m\n@m.", name));
  }
  return spellings;
}

TEST(KernelForms, EveryMakerOfEveryLanguageIsFetchedAndFound) {
  for (const dsl::Language& language : dsl::Languages()) {
    const bool extracted = language.by_default;
    const std::string found = extracted ? absl::AsciiStrToUpper(language.name) + " DECORATED"
                                        : std::string(language.name);
    for (const dsl::Makers& makers : language.makers) {
      for (const absl::string_view name : makers.names) {
        for (const std::string& spelling : Spellings(makers, name)) {
          const std::string text = spelling + "\ndef f(x): pass\n";
          ExpectFetchedAndFound("a.py", text, found);
          ExpectFetchedAndFound("a.json", absl::StrCat("{\"code\": ", JsonString(text), "}"),
                                found);
        }
      }
    }
  }
}

TEST(KernelForms, EveryFormIsFetchedAndFound) {
  const struct {
    const char* path;
    const char* text;
    const char* found;
  } kForms[] = {
      {"a.py", "import triton\ndef w(f): return triton.jit(f)\n@w\ndef k(x): pass\n",
       "TRITON WRAPPED"},
      {"a.py",
       "import triton.language as tl\nfrom .u import my_jit\n@my_jit\ndef k(x): tl.load(x)\n",
       "CANDIDATE"},
      {"a.py", "import triton\ndef k(x): pass\nk = triton.jit(k)\n", "TRITON CALLED"},
      {"a.py",
       "from jax.experimental import pallas as pl\ndef k(x): pass\ny = pl.pallas_call(k)(x)\n",
       "PALLAS KERNEL_ARGUMENT"},
      {"a.py",
       "from jax.experimental.pallas import mosaic_gpu as plgpu\n@plgpu.kernel\ndef k(x): pass\n",
       "PALLAS DECORATED"},
      {"a.py",
       "k = async_compile.triton('k', '''\nimport triton\n@triton.jit\ndef k(x): pass\n''')\n",
       "TRITON STRING"},
      {"a.py", "t = TritonTemplate('t', g, r'''\n{{def_kernel('A')}}\n    tl.load(A)\n''')\n",
       "TRITON TEMPLATE"},
      {"a.py.jinja", "{{def_kernel('A')}}\n    tl.load(A)\n", "TRITON TEMPLATE"},
      {"a.cu", "__global__ void k(int* x) { *x = 1; }\n", "CUDA QUALIFIED"},
      {"a.cuh", "__device__ int f(int x) { return x; }\n", "CUDA QUALIFIED"},
  };
  for (const auto& form : kForms) ExpectFetchedAndFound(form.path, form.text, form.found);
}

// If the fetcher drops a file, the extractor finds nothing in it.
TEST(KernelForms, WhatHasNoMarkerIsNotFoundEither) {
  for (const char* path : {"a.py", "a.py.jinja", "a.cu"}) {
    for (const char* text : {"@w\ndef k(x): x.load()\n", "import jax\n@jax.jit\ndef f(x): pass\n",
                             "__host__ int f() { return 0; }\n"}) {
      EXPECT_EQ(fetcher::ContentSkipReason(text), "no_kernel_marker");
      EXPECT_EQ(Found(path, text), "") << path << ":\n" << text;
    }
  }
}

}  // namespace
}  // namespace kernelmill
