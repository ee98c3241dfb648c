#include "common/dsl/usual_imports.h"

#include <gtest/gtest.h>

#include <set>

#include "common/dsl/languages.h"
#include "common/dsl/names.h"

namespace kernelmill::dsl {
namespace {

TEST(UsualImportsTest, AStatementBindsTheNameToItsOrigin) {
  const UsualImport* tl = FindUsualImport("tl");
  ASSERT_NE(tl, nullptr);
  EXPECT_EQ(tl->GetStatement(), "import triton.language as tl\n");
  EXPECT_EQ(tl->GetOrigin(), "triton.language");
  const UsualImport* pl = FindUsualImport("pl");
  ASSERT_NE(pl, nullptr);
  EXPECT_EQ(pl->GetStatement(), "from jax.experimental import pallas as pl\n");
  EXPECT_EQ(pl->GetOrigin(), "jax.experimental.pallas");
  EXPECT_EQ(FindUsualImport("triton")->GetStatement(), "import triton\n");
  EXPECT_EQ(FindUsualImport("gluon")->GetStatement(), "from triton.experimental import gluon\n");
  EXPECT_EQ(FindUsualImport("kernel"), nullptr);
}

TEST(UsualImportsTest, EachNameHasOneMeaning) {
  std::set<absl::string_view> names;
  for (const UsualImport& import : UsualImports()) {
    EXPECT_TRUE(names.insert(import.name).second) << import.name;
  }
}

TEST(UsualImportsTest, TheMakersOfTheExtractedLanguagesAreAmongThem) {
  const auto dsl = [](absl::string_view name, absl::string_view member) {
    return FindMakerDsl(FindUsualImport(name)->GetOrigin() + "." + std::string(member));
  };
  EXPECT_EQ(dsl("triton", "jit"), kTriton);
  EXPECT_EQ(dsl("gluon", "jit"), kGluon);
  EXPECT_EQ(dsl("pl", "pallas_call"), kPallas);
  EXPECT_EQ(dsl("pltpu", "emit_pipeline"), kPallas);
  EXPECT_EQ(dsl("plgpu", "kernel"), kPallas);
}

}  // namespace
}  // namespace kernelmill::dsl
