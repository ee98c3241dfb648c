#include "services/validator/core/quality/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/dsl/labels.h"
#include "common/dsl/names.h"

namespace kernelmill::validator {
namespace {

v1::Kernel KernelAt(const std::string& path) {
  v1::Kernel kernel;
  kernel.set_dsl(dsl::kTriton);
  kernel.set_path(path);
  kernel.set_name("add_kernel");
  return kernel;
}

std::string Both(const v1::Kernel& kernel, const std::string& file = "") {
  const Label label = FindTarget(kernel, TargetOfImports(file));
  const auto& known = dsl::KernelTargets();
  EXPECT_NE(std::find(known.begin(), known.end(), label.word), known.end()) << label.word;
  return absl::StrCat(label.word, " ", label.rule);
}

TEST(TargetTest, TheInnermostFolderOrTheFileSaysIt) {
  EXPECT_EQ(Both(KernelAt("src/runtime/backend/_ascend/ops/add.py")), "ascend path:_ascend");
  EXPECT_EQ(Both(KernelAt("backend/_cambricon/add.py")), "cambricon path:_cambricon");
  EXPECT_EQ(Both(KernelAt("backend/_kunlunxin/add.py")), "kunlunxin path:_kunlunxin");
  EXPECT_EQ(Both(KernelAt("_gluon_kernels/gfx1250/add.py")), "amd path:gfx1250");
  EXPECT_EQ(Both(KernelAt("nvidia/amd/add.py")), "amd path:amd");
  EXPECT_EQ(Both(KernelAt("kernels/gemm_sm80.py")), "nvidia path:gemm_sm80.py");
  EXPECT_EQ(Both(KernelAt("kernels/hopper_matmul.py")), "nvidia path:hopper_matmul.py");
}

TEST(TargetTest, AVendorsFolderIsNotGeneric) {
  EXPECT_EQ(Both(KernelAt("src/runtime/backend/_thead/ops/add.py")), "thead path:_thead");
  EXPECT_EQ(Both(KernelAt("src/runtime/backend/_sunrise/fused/add.py")), "sunrise path:_sunrise");
  EXPECT_EQ(Both(KernelAt("src/runtime/backend/_spacemit/ops/add.py")), "spacemit path:_spacemit");
  EXPECT_EQ(Both(KernelAt("src/runtime/backend/_newcomer/ops/add.py")), "other path:_newcomer");
  EXPECT_EQ(Both(KernelAt("src/runtime/backend/_newcomer/gfx942/add.py")), "amd path:gfx942");
  for (const std::string path : {"src/runtime/backend/_utils.py", "src/runtime/backend/ops/add.py",
                                 "backend/__pycache__/add.py", "ops/_newcomer/add.py"}) {
    EXPECT_EQ(Both(KernelAt(path)), "generic ") << path;
  }
}

TEST(TargetTest, OnlyWholeWordsCountAndFoldersForEveryGpuSayNothing) {
  for (const std::string path :
       {"ops/cuda/add.py", "gpu/add.py", "ops/input.py", "ops/descend.py", "ops/armijo.py",
        "ops/ship.py", "ops/small.py", "ops/sm.py", "ops/nvidia_or_amd.py"}) {
    EXPECT_EQ(Both(KernelAt(path)), "generic ") << path;
  }
}

TEST(TargetTest, NamesCallsAndImportsSayIt) {
  v1::Kernel kernel = KernelAt("ops/add.py");
  kernel.set_name("softplus_npu");
  EXPECT_EQ(Both(kernel), "ascend name:softplus_npu");
  kernel = KernelAt("ops/add.py");
  kernel.add_calls("triton.experimental.gluon.language.amd.cdna4.mfma");
  EXPECT_EQ(Both(kernel), "amd call:triton.experimental.gluon.language.amd.cdna4.mfma");
  kernel.add_calls("triton.language.extra.cuda.gdc_wait");
  EXPECT_EQ(Both(kernel), "generic ") << "it has a way for each";
  kernel = KernelAt("ops/add.py");
  kernel.add_calls("triton.language.extra.cuda.libdevice.rsqrt");
  EXPECT_EQ(Both(kernel), "generic ");
  kernel.set_found_by("jax.experimental.pallas.mosaic_gpu.kernel");
  EXPECT_EQ(Both(kernel), "nvidia call:jax.experimental.pallas.mosaic_gpu.kernel");
  kernel.clear_found_by();
  kernel.add_imports("import torch_npu\n");
  EXPECT_EQ(Both(kernel), "ascend import:torch_npu");
  kernel.clear_imports();
  kernel.add_imports("from triton.language.extra.mlu.libdevice import philox\n");
  EXPECT_EQ(Both(kernel), "cambricon import:triton.language.extra.mlu.libdevice.philox");
}

TEST(TargetTest, TheImportsOfAGluonOrPallasFileSayIt) {
  v1::Kernel kernel = KernelAt("ops/add.py");
  kernel.set_dsl(dsl::kGluon);
  const std::string gluon =
      "from triton.experimental.gluon.language.nvidia import (\n    hopper,\n)\n";
  EXPECT_EQ(Both(kernel, gluon), "nvidia file:triton.experimental.gluon.language.nvidia");
  EXPECT_EQ(Both(kernel, gluon + "import triton.experimental.gluon.language.amd.cdna3 as cdna3\n"),
            "generic ");
  kernel.set_dsl(dsl::kPallas);
  EXPECT_EQ(Both(kernel, "  from jax.experimental.pallas import ops, mosaic_gpu as plgpu\n"),
            "nvidia file:jax.experimental.pallas.mosaic_gpu");
  EXPECT_EQ(Both(kernel, "from jax.experimental import pallas as tpu\n"), "generic ");
  kernel.set_dsl(dsl::kTriton);
  EXPECT_EQ(Both(kernel, gluon), "generic ") << "Triton's imports are often for one target of many";
}

TEST(TargetTest, InlineAssemblySaysIt) {
  v1::Kernel kernel = KernelAt("ops/add.py");
  const auto with = [&](const std::string& assembly) {
    kernel.set_source(absl::StrCat("@triton.jit\ndef k(x):\n    \"v_max is a register; cvt.rn\"\n",
                                   "    return tl.inline_asm_elementwise(\"\"\"", assembly,
                                   "\"\"\", '=r,r', [x], tl.int32, True, 1)\n"));
    return Both(kernel);
  };
  EXPECT_EQ(with("{ .reg .b32 t; cvt.rn.bf16x2.f32 $0, $1; }"), "nvidia asm:cvt.rn.bf16x2.f32");
  EXPECT_EQ(with("@!p ld.global.b32 $0, [$1];"), "nvidia asm:ld.global.b32");
  EXPECT_EQ(with("brev.b32 $0, $1;"), "nvidia asm:brev.b32");
  EXPECT_EQ(with("s_waitcnt vmcnt(0)"), "amd asm:s_waitcnt");
  EXPECT_EQ(with("nothing known"), "generic ");
}

TEST(TargetTest, CudaIsForNvidiaUnlessItsPlaceSaysOtherwise) {
  v1::Kernel kernel = KernelAt("csrc/add.cu");
  kernel.set_dsl(dsl::kCuda);
  EXPECT_EQ(Both(kernel), "nvidia language:cuda");
  kernel.set_path("csrc/hip/add.cu");
  EXPECT_EQ(Both(kernel), "amd path:hip");
  kernel.set_path("csrc/add.hip");
  EXPECT_EQ(Both(kernel), "amd path:add.hip");
}

TEST(TargetTest, HipIsForAmdByItsAssemblyItsBuiltinsAndItsHeaders) {
  const auto with = [](const std::string& source, const std::vector<std::string>& imports) {
    v1::Kernel kernel = KernelAt("csrc/add.cu");
    kernel.set_dsl(dsl::kCuda);
    kernel.set_source(source);
    for (const std::string& line : imports) kernel.add_imports(line);
    return Both(kernel);
  };
  EXPECT_EQ(with("asm volatile(\"v_cmp_ne_u32 %0, %1\" : \"=v\"(a) : \"v\"(b));", {}),
            "amd asm:v_cmp_ne_u32");
  EXPECT_EQ(with("asm(\"mov.b32 %0, %1;\" : \"=r\"(a) : \"r\"(b));", {}), "nvidia asm:mov.b32");
  EXPECT_EQ(with("printf(\"s_waitcnt\");", {}), "nvidia language:cuda") << "no assembly";
  EXPECT_EQ(with("asm(\"\"); printf(\"s_waitcnt\");", {}), "nvidia language:cuda");
  EXPECT_EQ(with("__builtin_amdgcn_s_barrier();", {"#include <cuda.h>\n"}),
            "amd call:__builtin_amdgcn_s_barrier");
  EXPECT_EQ(with("__builtin_amdgcn_s_barrier(); asm(\"bar.sync 0;\");", {}), "nvidia language:cuda")
      << "it has both";
  EXPECT_EQ(with("", {"#include <cstdint>\n", "#include <hip/hip_fp16.h>\n"}),
            "amd import:hip/hip_fp16.h");
  EXPECT_EQ(with("", {"#include \"ck_tile/core.hpp\"\n", "#include <ATen/cuda/Atomic.cuh>\n"}),
            "amd import:ck_tile/core.hpp");
  EXPECT_EQ(with("", {"#include <hip/hip_fp16.h>\n", "#include <cuda_fp16.h>\n"}),
            "nvidia language:cuda");
}

}  // namespace
}  // namespace kernelmill::validator
