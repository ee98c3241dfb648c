#include "common/python/module_paths.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelmill::python {
namespace {

std::string FindPath(const ModulePaths& paths, const char* importer, int level,
                     const char* module) {
  return paths.Find(importer, level, module).path;
}

TEST(ModulePathsTest, RelativeImportsCountFromTheImportersFolder) {
  const ModulePaths paths({"p/__init__.py", "p/a.py", "p/q/__init__.py", "p/q/b.py"});
  EXPECT_EQ(FindPath(paths, "p/q/b.py", 2, "a"), "p/a.py");
  EXPECT_EQ(FindPath(paths, "p/q/b.py", 1, ""), "p/q/__init__.py");
  EXPECT_EQ(FindPath(paths, "p/q/__init__.py", 1, "b"), "p/q/b.py");
  EXPECT_EQ(FindPath(paths, "p/a.py", 1, "q.b"), "p/q/b.py");
  EXPECT_TRUE(paths.Find("p/a.py", 1, "gone").in_source);
  EXPECT_TRUE(paths.Find("p/a.py", 9, "a").in_source);
  EXPECT_EQ(FindPath(paths, "p/a.py", 9, "a"), "");
}

TEST(ModulePathsTest, AbsoluteImportsAreFoundFromWhereTheirPackageStands) {
  const ModulePaths paths({"src/p/__init__.py", "src/p/a.py", "python/lib/r/__init__.py",
                           "python/lib/r/c.py", "tests/t.py", "tests/helper.py"});
  EXPECT_EQ(FindPath(paths, "src/p/a.py", 0, "p"), "src/p/__init__.py");
  EXPECT_EQ(FindPath(paths, "tests/t.py", 0, "p.a"), "src/p/a.py");
  EXPECT_EQ(FindPath(paths, "tests/t.py", 0, "r.c"), "python/lib/r/c.py");
  EXPECT_EQ(FindPath(paths, "tests/t.py", 0, "helper"), "tests/helper.py");
  EXPECT_FALSE(paths.Find("src/p/a.py", 0, "helper").in_source);
  EXPECT_TRUE(paths.Find("src/p/a.py", 0, "p.gone").in_source);
}

TEST(ModulePathsTest, APartOfAPackageIsNoPackageOfThatName) {
  const ModulePaths paths({"jax/__init__.py", "jax/numpy/__init__.py", "jax/a.py"});
  EXPECT_FALSE(paths.Find("jax/a.py", 0, "numpy").in_source);
  EXPECT_FALSE(paths.Find("jax/numpy/__init__.py", 0, "numpy").in_source);
}

TEST(ModulePathsTest, OfTwoPackagesOfANameTheImportersOwnIsMeantElseNeither) {
  const ModulePaths paths(
      {"one/p/__init__.py", "one/p/a.py", "two/p/__init__.py", "two/p/a.py", "t.py"});
  EXPECT_EQ(FindPath(paths, "two/p/a.py", 0, "p.a"), "two/p/a.py");
  EXPECT_TRUE(paths.Find("t.py", 0, "p.a").in_source);
  EXPECT_EQ(FindPath(paths, "t.py", 0, "p.a"), "");
}

TEST(ModulePathsTest, InstalledModulesAreNotLookedForInTheSource) {
  const ModulePaths paths({"triton/__init__.py", "types.py", "jax/__init__.py", "t.py"});
  EXPECT_FALSE(paths.Find("t.py", 0, "triton").in_source);
  EXPECT_FALSE(paths.Find("t.py", 0, "types").in_source);
  EXPECT_FALSE(paths.Find("t.py", 0, "jax.numpy").in_source);
  EXPECT_TRUE(IsInstalledModule("jax.experimental.pallas"));
  EXPECT_TRUE(IsInstalledModule("triton_dist.language"));
  EXPECT_FALSE(IsInstalledModule("triton_dist.kernels"));
  EXPECT_FALSE(IsInstalledModule("numpy"));
}

}  // namespace
}  // namespace kernelmill::python
