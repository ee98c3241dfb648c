#include "services/validator/core/quality/kind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/dsl/labels.h"
#include "common/dsl/names.h"
#include "services/validator/core/quality/text_signals.h"

namespace kernelmill::validator {
namespace {

v1::Kernel KernelAt(const std::string& path, const std::string& name = "add_kernel") {
  v1::Kernel kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  kernel.set_path(path);
  kernel.set_name(name);
  kernel.set_qualname(name);
  kernel.set_signature(absl::StrCat("def ", name, "(p):"));
  kernel.set_source(absl::StrCat("@triton.jit\ndef ", name, "(p):\n    tl.store(p, 1)\n"));
  return kernel;
}

v1::Kernel WithBody(const std::string& body) {
  v1::Kernel kernel = KernelAt("ops/add.py");
  kernel.set_source(absl::StrCat("@triton.jit\n", kernel.signature(), "\n", body));
  return kernel;
}

std::string Both(const v1::Kernel& kernel, const std::string& generated = "") {
  const Label label = FindKind(kernel, CollectProse(kernel, ""), generated);
  return absl::StrCat(label.word, " ", label.rule);
}

std::string KindAt(const std::string& path) { return Both(KernelAt(path)); }

TEST(KindTest, AKernelIsAnOperationAndADeviceFunctionAHelper) {
  EXPECT_EQ(KindAt("src/ops/add.py"), "operation role:kernel");
  v1::Kernel kernel = KernelAt("src/ops/add.py");
  kernel.set_role(v1::KERNEL_ROLE_DEVICE);
  EXPECT_EQ(Both(kernel), "helper role:device");
  EXPECT_EQ(Both(kernel, "do not edit"), "generated generated:do not edit");
}

TEST(KindTest, ASketchThatDoesNotParseIsBroken) {
  v1::Kernel kernel = KernelAt("docs/pipelining.ipynb");
  kernel.set_signature("def add_kernel(p, ...):");
  kernel.set_parse_error(true);
  EXPECT_EQ(Both(kernel), "broken syntax:error");
}

TEST(KindTest, FoldersAndFilesOfTestsBenchmarksAndExamplesSayWhatAKernelIs) {
  EXPECT_EQ(KindAt("python/test/unit/core.py"), "test path:test");
  EXPECT_EQ(KindAt("op_tests/triton/x.py"), "test path:op_tests");
  EXPECT_EQ(KindAt("src/test_add.py"), "test path:test_add.py");
  EXPECT_EQ(KindAt("src/AddTest.cu"), "test path:AddTest.cu");
  EXPECT_EQ(KindAt("tests/conftest.py"), "test path:conftest.py");
  EXPECT_EQ(KindAt("op_tests/op_benchmarks/triton/x.py"), "benchmark path:op_benchmarks");
  EXPECT_EQ(KindAt("tests/bench_add.py"), "benchmark path:bench_add.py");
  EXPECT_EQ(KindAt("tutorials/01-add.py"), "example path:tutorials");
  EXPECT_EQ(KindAt("lecture_008/add.cu"), "example path:lecture_008");
  EXPECT_EQ(KindAt("samples/add.py"), "example path:samples");
}

TEST(KindTest, OnlyWholeWordsAtTheEndsOfANameCount) {
  for (const std::string path :
       {"tritonbench/operators/add.py", "ops/latest/add.py", "ops/contest.py", "ops/attestation.py",
        "fla/ops/ttt/test_time_training.py", "deepseek2/sample_kv.py", "ops/a_test_b/add.py"}) {
    EXPECT_EQ(KindAt(path), "operation role:kernel") << path;
  }
}

TEST(KindTest, WhatAFolderOfTestsLaunchesItselfMayBeAnOperationToCompareWith) {
  v1::Kernel kernel = KernelAt("tests/reference/scan.py");
  kernel.set_tokens(200);
  kernel.mutable_launcher()->set_path("tests/reference/scan.py");
  EXPECT_EQ(Both(kernel), "operation role:kernel");
  kernel.mutable_launcher()->set_path("tests/test_scan.py");
  EXPECT_EQ(Both(kernel), "test path:tests");
  kernel.mutable_launcher()->set_path("tests/reference/scan.py");
  kernel.set_tokens(100);
  EXPECT_EQ(Both(kernel), "test path:tests");
  kernel.set_tokens(200);
  kernel.set_path("tests/test_scan.py");
  EXPECT_EQ(Both(kernel), "test path:test_scan.py");
}

TEST(KindTest, NamesAndWhatIsAroundAKernelSayItToo) {
  EXPECT_EQ(Both(KernelAt("a.py", "test_load")), "test name:test");
  EXPECT_EQ(Both(KernelAt("a.py", "bench_copy")), "benchmark name:bench");
  v1::Kernel kernel = KernelAt("ops/a.py");
  kernel.set_qualname("Suite.test_add.kernel");
  EXPECT_EQ(Both(kernel), "test function:test_add");
  kernel.set_qualname("Suite.test_add_raises.kernel");
  EXPECT_EQ(Both(kernel), "broken function:test_add_raises");
  kernel.set_qualname("Suite.test_no_race.kernel");
  EXPECT_EQ(Both(kernel), "test function:test_no_race");
  kernel.set_qualname("Suite.test_race_detection.kernel");
  EXPECT_EQ(Both(kernel), "test function:test_race_detection");
  kernel.set_qualname("raises_error.kernel");
  EXPECT_EQ(Both(kernel), "operation role:kernel");
}

TEST(KindTest, WhatIsWrongOnPurposeIsBroken) {
  EXPECT_EQ(Both(WithBody("    # Deliberately reads out of bounds.\n    tl.load(p)\n")),
            "broken words:deliberately reads out of bounds");
  EXPECT_EQ(Both(WithBody("    # this kernel is\n    # intentionally racy\n    tl.load(p)\n")),
            "broken words:intentionally racy");
  EXPECT_EQ(Both(WithBody("    tl.load(p)  # expected to fail\n")),
            "broken words:expected to fail");
  EXPECT_EQ(Both(KernelAt("a.py", "buggy_add")), "broken name:buggy");
  EXPECT_EQ(Both(KernelAt("a.py", "load_oob_kernel")), "broken name:oob");
  EXPECT_EQ(Both(KernelAt("a.py", "no_oob_kernel")), "operation role:kernel");
  EXPECT_EQ(Both(KernelAt("examples/sanitizer/add.py")), "broken path:sanitizer");
  EXPECT_EQ(Both(KernelAt("examples/data-race.py")), "broken path:data-race.py");
  EXPECT_EQ(Both(KernelAt("tests/test_sanitizer.py")), "test path:test_sanitizer.py");
  EXPECT_EQ(Both(KernelAt("bench_sanitizer.py")), "benchmark path:bench_sanitizer.py");
}

TEST(KindTest, ProseThatSpeaksOfFaultsIsNoFault) {
  for (const std::string comment :
       {"# LION is intentionally excluded here.", "# deliberately omits the read fence",
        "# BUG: have to store and load; else a race condition", "# intentionally avoids a race",
        "# deliberately. Race conditions are elsewhere", "# fails to compile on Triton 2.0",
        "# TODO: implement weight decay", "# Kernel is buggy if BLOCK is 128",
        "# out of bounds rows are masked"}) {
    EXPECT_EQ(Both(WithBody(absl::StrCat("    ", comment, "\n    tl.store(p, 1)\n"))),
              "operation role:kernel")
        << comment;
  }
  EXPECT_EQ(Both(KernelAt("a.py", "quantize_error_kernel")), "operation role:kernel");
}

TEST(KindTest, AnUnfilledTemplateIsBroken) {
  EXPECT_EQ(Both(WithBody("    x = tl.load(p)\n    GENERATE_TEST_HERE\n")),
            "broken unfilled:GENERATE_TEST_HERE");
  EXPECT_EQ(Both(WithBody("    x = tl.load(p)\n    # Your code here!\n    return\n")),
            "broken unfilled:your code here");
  EXPECT_EQ(Both(WithBody("    x = load_HERE(p)\n")), "operation role:kernel");
}

TEST(KindTest, CodeBelowAPlaceholderThatComputesIsNoTemplate) {
  for (const std::string body :
       {"    x = tl.load(p)\n    # Finish me!\n    tl.store(p, x + 1)\n",
        "    # TODO: fill me in\n    for i in range(2):\n        tl.atomic_add(p, i)\n",
        "    # Your code here\n    y = tl.load(p) * 2\n    return y\n"}) {
    EXPECT_NE(Both(WithBody(body)), "broken unfilled:finish me") << body;
    EXPECT_NE(Both(WithBody(body)).substr(0, 6), "broken") << body;
  }
  for (const std::string body : {"    x = tl.load(p)\n    # Finish me!\n    return\n",
                                 "    # Finish me!\n    pass\n    tl.store(p, 1)\n",
                                 "    # Finish me!\n    x = None\n    tl.store(p, x)\n",
                                 "    tl.store(p, 1)\n    # Finish me!\n"}) {
    EXPECT_EQ(Both(WithBody(body)), "broken unfilled:finish me") << body;
  }
  v1::Kernel unbound = WithBody("    # Finish me!\n    tl.store(p, x)\n");
  v1::UnresolvedName& name = *unbound.add_unresolved_names();
  name.set_name("x");
  name.set_reason("undefined");
  EXPECT_EQ(Both(unbound), "broken unfilled:finish me");
  v1::Kernel cuda = WithBody("");
  cuda.set_dsl(dsl::kCuda);
  cuda.set_signature("__global__ void k(int* p)");
  cuda.set_source("__global__ void k(int* p) {\n  // Your code here\n  p[0] = 1;\n}\n");
  EXPECT_NE(Both(cuda), "broken unfilled:your code here");
  cuda.set_source("__global__ void k(int* p) {\n  int i = p[0];\n  // Your code here\n}\n");
  EXPECT_EQ(Both(cuda), "broken unfilled:your code here");
}

TEST(KindTest, ABodyThatDoesNothingIsAStub) {
  for (const std::string body : {"    pass\n", "    ...\n", "    return\n", "    'Adds.'\n",
                                 "    raise NotImplementedError('soon')\n", "    pass; return\n"}) {
    EXPECT_EQ(Both(WithBody(body)), "broken stub:empty") << body;
  }
  EXPECT_EQ(Both(WithBody("    tl.static_assert(p > 0)\n    tl.device_print('p', p)\n")),
            "broken stub:asserts");
  EXPECT_EQ(Both(WithBody("    assert p\n    tl.store(p, 1)\n")), "operation role:kernel");
  EXPECT_EQ(Both(WithBody("    if tl.program_id(0) == 0:\n        tl.device_print('p', p)\n")),
            "helper stub:prints");
  v1::Kernel inline_body = KernelAt("a.py");
  inline_body.set_source(absl::StrCat(inline_body.signature(), " pass\n"));
  EXPECT_EQ(Both(inline_body), "broken stub:empty");
}

TEST(KindTest, AnEmptyConstructorOfCudaIsAHelper) {
  v1::Kernel kernel = KernelAt("a.cuh", "Half");
  kernel.set_dsl(dsl::kCuda);
  kernel.set_role(v1::KERNEL_ROLE_DEVICE);
  kernel.set_signature("__device__ Half(float x) : x_(x)");
  kernel.set_source("__device__ Half(float x) : x_(x) {}\n");
  EXPECT_EQ(Both(kernel), "helper role:device");
  kernel.set_role(v1::KERNEL_ROLE_KERNEL);
  EXPECT_EQ(Both(kernel), "broken stub:empty");
  kernel.set_source("__device__ Half(float x) : x_(x) { printf(\"%f\", x); assert(false); }\n");
  EXPECT_EQ(Both(kernel), "broken stub:asserts");
  kernel.set_source("__device__ Half(float x) : x_(x) { if (x > 0) { y = x; } }\n");
  EXPECT_EQ(Both(kernel), "operation role:kernel");
}

TEST(KindTest, MethodsAndWhatReturnsAValueAreHelpersUnlessTheyAreLaunched) {
  v1::Kernel kernel = WithBody("    tl.store(p, 1)\n");
  kernel.add_parameters()->set_name("self");
  EXPECT_EQ(Both(kernel), "helper method");
  kernel.mutable_launcher()->set_path("a.py");
  EXPECT_EQ(Both(kernel), "operation role:kernel");
  kernel = WithBody("    if p:\n        return\n    return tl.program_id(0) + p\n");
  EXPECT_EQ(Both(kernel), "helper returns");
  kernel.mutable_launcher()->set_path("a.py");
  EXPECT_EQ(Both(kernel), "operation role:kernel");
  EXPECT_EQ(Both(WithBody("    tl.store(p, 1)\n    return  # done\n    return None\n")),
            "operation role:kernel");
}

TEST(KindTest, EveryKindIsAWordThatJobFilesKnow) {
  for (const std::string path : {"a.py", "tests/a.py", "bench/a.py", "examples/a.py"}) {
    const Label label = FindKind(KernelAt(path), "", "");
    EXPECT_NE(std::find(dsl::KernelKinds().begin(), dsl::KernelKinds().end(), label.word),
              dsl::KernelKinds().end())
        << label.word;
  }
}

}  // namespace
}  // namespace kernelmill::validator
