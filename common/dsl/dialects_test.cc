#include "common/dsl/dialects.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/dsl/names.h"

namespace kernelmill::dsl {
namespace {

// "name | requirement | found by"; empty without a dialect.
std::string DescribeDialect(const std::string& import, const std::string& call,
                            const std::string& dsl = kTriton) {
  v1::Kernel kernel;
  kernel.set_dsl(dsl);
  kernel.set_found_by("triton.jit");
  kernel.add_imports("import triton\n");
  kernel.add_imports(absl::StrCat(import, "\n"));
  kernel.add_calls("triton.language.load");
  kernel.add_calls(call);
  const auto dialect = FindDialect(kernel);
  if (!dialect) return "";
  return absl::StrCat(dialect->name, " | ", dialect->requirement, " | ", dialect->found_by);
}

TEST(DialectsTest, CallsOfNamesThatTritonLacksMakeADialect) {
  EXPECT_EQ(DescribeDialect("", "triton.language.extra.tlx.local_alloc"),
            "tlx | facebookexperimental/triton | triton.language.extra.tlx.local_alloc");
  EXPECT_EQ(DescribeDialect("", "triton_dist.language.rank"),
            "triton_dist | ByteDance-Seed/Triton-distributed | triton_dist.language.rank");
  EXPECT_EQ(DescribeDialect("", "triton.language.extra.mystery.f"),
            "mystery |  | triton.language.extra.mystery.f");
  for (const char* call : {"triton.language.extra.cuda.libdevice.exp", "triton_dist.kernels.f",
                           "triton.language.extra.libdevice.exp", "triton.language.extra"}) {
    EXPECT_EQ(DescribeDialect("", call), "") << call;
  }
}

TEST(DialectsTest, ImportsOfTheModuleMakeADialect) {
  for (const char* import :
       {"import triton.language.extra.tlx as tlx", "from triton.language.extra import tlx",
        "from triton.language.extra import (libdevice,\n    tlx as t)",
        "    import os, triton.language.extra.tlx"}) {
    EXPECT_EQ(DescribeDialect(import, "f"),
              "tlx | facebookexperimental/triton | triton.language.extra.tlx")
        << import;
  }
  for (const char* import : {"from triton.language.extra import libdevice", "import tlx",
                             "from tlx import f", "from . import triton_dist"}) {
    EXPECT_EQ(DescribeDialect(import, "f"), "") << import;
  }
}

TEST(DialectsTest, TritonDistributedHasTheDialectsOfItsVendors) {
  EXPECT_EQ(DescribeDialect("from triton_dist.language import rank",
                            "triton.language.extra.cann.extension.sync"),
            "triton_dist | ByteDance-Seed/Triton-distributed | triton_dist.language.rank");
}

TEST(DialectsTest, ADialectBringsItsLanguageAndNoLibrary) {
  EXPECT_TRUE(IsDialectModule("triton_dist"));
  EXPECT_TRUE(IsDialectModule("triton_dist.language.extra"));
  EXPECT_FALSE(IsDialectModule("triton_dist.kernels"));
  EXPECT_FALSE(IsDialectModule("triton_distances"));
}

TEST(DialectsTest, ADecoratorSaysItTooAndOtherLanguagesHaveNone) {
  v1::Kernel kernel;
  kernel.set_dsl(kTriton);
  kernel.set_found_by("triton_dist.jit");
  EXPECT_EQ(FindDialect(kernel)->name, "triton_dist");
  EXPECT_EQ(DescribeDialect("", "triton_dist.language.rank", kPallas), "");
}

}  // namespace
}  // namespace kernelmill::dsl
