#include "services/validator/core/license/tree/package_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace kernelmill::validator {
namespace {

// "expression@line" of what a file declares; "" if nothing.
std::string Declared(const std::string& path, const std::string& content) {
  const auto license = ReadDeclared(path, ReadDeclarations(path, content));
  if (!license.has_value()) return "";
  return absl::StrCat(license->expression(), "@", license->found(0).first_line());
}

TEST(PackageMetadataTest, PyprojectDeclaresByExpressionTableOrClassifier) {
  EXPECT_EQ(Declared("pyproject.toml", "[project]\nname = \"x\"\nlicense = \"MIT\"\n"), "MIT@3");
  EXPECT_EQ(Declared("a/pyproject.toml", "[project]\nlicense = { text = \"BSD-3-Clause\" }\n"),
            "BSD-3-Clause@2");
  EXPECT_EQ(Declared("pyproject.toml", "[project]\nlicense = {file = \"LICENSE\"}\n"), "");
  EXPECT_EQ(Declared("pyproject.toml", "[tool.poetry]\nlicense = 'Apache-2.0'  # x\n"),
            "Apache-2.0@2");
  EXPECT_EQ(Declared("pyproject.toml",
                     "[project]\nclassifiers = [\n  \"Topic :: X\",\n"
                     "  \"License :: OSI Approved :: MIT License\",\n]\n"),
            "MIT@4");
  EXPECT_EQ(Declared("pyproject.toml", "[tool.other]\nlicense = \"MIT\"\n"), "");
  EXPECT_EQ(Declared("pyproject.toml", "# [project]\n# license = \"MIT\"\n"), "");
}

TEST(PackageMetadataTest, SetupCfgAndSetupPyDeclareToo) {
  EXPECT_EQ(Declared("setup.cfg", "[metadata]\nlicense = BSD-2-Clause\n"), "BSD-2-Clause@2");
  EXPECT_EQ(
      Declared("setup.cfg",
               "[metadata]\nclassifiers =\n    License :: OSI Approved :: ISC License (ISCL)\n"),
      "ISC@3");
  EXPECT_EQ(Declared("setup.cfg", "[options]\nlicense = MIT\n"), "");
  EXPECT_EQ(Declared("setup.py", "setup(\n  name='x',\n  license='Apache 2.0',\n)\n"),
            "Apache-2.0@3");
  EXPECT_EQ(Declared("setup.py", "setup(classifiers=['License :: OSI Approved :: MIT License'])"),
            "MIT@1");
  EXPECT_EQ(Declared("setup.py", "# license='MIT'\nlicense = read('x')\n"), "");
}

TEST(PackageMetadataTest, AVagueDeclarationAssertsNothing) {
  EXPECT_EQ(Declared("setup.py", "setup(license='BSD')"), "NOASSERTION@1");
  EXPECT_EQ(Declared("setup.cfg", "[metadata]\nlicense = see LICENSE\n"), "NOASSERTION@2");
}

TEST(PackageMetadataTest, TheNearestPackageSpeaks) {
  v1::SourceTree tree;
  const auto add = [&](const std::string& path, const std::string& content) {
    v1::SourceFile& file = *tree.add_license_files();
    file.set_path(path);
    file.set_content(content);
  };
  add("pyproject.toml", "[project]\nlicense = \"MIT\"\n");
  add("setup.py", "setup(license='ISC')");
  add("sub/setup.py", "setup(license='Zlib')");
  add("bare/setup.py", "setup()");
  const PackageMetadata packages(tree);
  EXPECT_EQ(packages.Nearest("k.py")->expression(), "MIT");
  EXPECT_EQ(packages.Nearest("k.py")->evidence(), "metadata:pyproject.toml");
  EXPECT_EQ(packages.Nearest("sub/a/k.py")->expression(), "Zlib");
  EXPECT_EQ(packages.Nearest("bare/k.py")->expression(), "MIT");
  *tree.add_declared_licenses() = "BSD-3-Clause";
  EXPECT_EQ(PackageMetadata(tree).Nearest("sub/a/k.py")->expression(), "BSD-3-Clause");
}

TEST(PackageMetadataTest, HostileFilesAreHarmless) {
  EXPECT_EQ(Declared("pyproject.toml", "[project]\n" + std::string(1 << 20, '"')), "");
  EXPECT_EQ(Declared("setup.py", std::string(1 << 20, '(')), "");
  EXPECT_EQ(Declared("setup.cfg", std::string(1 << 20, '\0')), "");
}

}  // namespace
}  // namespace kernelmill::validator
