#include "services/validator/core/license/tree/package_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "services/validator/core/license/text/samples.h"

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

TEST(PackageMetadataTest, ALicenceTextMayGoOverSeveralLines) {
  const std::string mit = SampleText("MIT");
  for (const std::string quote : {"\"\"\"", "'''"}) {
    EXPECT_EQ(Declared("pyproject.toml", "[project]\nlicense = {text = " + quote +
                                             "MIT License\n\n" + mit + quote + "}\nname = \"x\"\n"),
              "MIT@2")
        << quote;
    EXPECT_EQ(Declared("pyproject.toml",
                       "[project.license]\ntext = " + quote + "\n" + mit + quote + "\n"),
              "MIT@2");
  }
  EXPECT_EQ(Declared("pyproject.toml", "[project]\nlicense.text = \"Zlib\"\n"), "Zlib@2");
  EXPECT_EQ(Declared("pyproject.toml", "[project.license]\ntext = \"Zlib\"\n"), "Zlib@2");
  EXPECT_EQ(Declared("pyproject.toml", "[project]\nlicense = \"MIT AND (Apache-2.0 OR ISC)\"\n"),
            "MIT AND (Apache-2.0 OR ISC)@2");
}

TEST(PackageMetadataTest, ANamedFileSaysThatThereIsALicence) {
  for (const std::string line :
       {"license = {file = \"LICENSE\"}", "license.file = \"LICENSE\"",
        "license-files = [\"LICENSE\"]", "license-files = [\n  \"LICENSE\",\n]",
        "license-files = { paths = [\"LICENSE\"] }"}) {
    EXPECT_EQ(Declared("pyproject.toml", "[project]\n" + line + "\n").substr(0, 12), "NOASSERTION@")
        << line;
    EXPECT_EQ(Declared("pyproject.toml", "[project]\n" + line +
                                             "\nclassifiers = [\"License :: OSI "
                                             "Approved :: MIT License\"]\n")
                  .substr(0, 4),
              "MIT@")
        << line;
  }
  EXPECT_EQ(Declared("pyproject.toml", "[project.license]\nfile = \"LICENSE\"\n"), "NOASSERTION@2");
  EXPECT_EQ(Declared("pyproject.toml", "[tool.setuptools]\nlicense-files = [\"LICENSE\"]\n"),
            "NOASSERTION@2");
  for (const std::string line : {"license_files = LICENSE, NOTICE", "license_file = LICENSE",
                                 "license_files =\n    LICENSE\n    NOTICE"}) {
    EXPECT_EQ(Declared("setup.cfg", "[metadata]\n" + line + "\nname = x\n").substr(0, 12),
              "NOASSERTION@")
        << line;
  }
  EXPECT_EQ(Declared("setup.py", "setup(license_files=['LICENSE', 'NOTICE'], name='x')"),
            "NOASSERTION@1");
  EXPECT_EQ(Declared("setup.py", "setup(license_file='LICENSE', name='x', license='ISC')"),
            "ISC@1");
  EXPECT_EQ(Declared("setup.py", "setup(license_files=('a',), packages=['MIT'])"), "NOASSERTION@1");
}

TEST(PackageMetadataTest, TheFilesThatAPackageNamesAreRead) {
  v1::SourceTree tree;
  const auto add = [&](const std::string& path, const std::string& content) {
    v1::SourceFile& file = *tree.add_license_files();
    file.set_path(path);
    file.set_content(content);
  };
  add("legal/LICENSE.kernels", SampleText("Zlib"));
  add("legal/COPYING", SampleText("ISC"));
  add("legal/licenses/odd", "terms of our own");
  add("a/pyproject.toml", "[project]\nlicense = \"MIT\"\n");
  add("pyproject.toml",
      "[project]\nlicense-files = [\"legal/LICEN[CS]E*\", \"legal/COPYING\"]\nlicense = \"MIT\"\n");
  add("b/setup.cfg", "[metadata]\nlicense_files = ./LICENSE\n");
  add("b/LICENSE", SampleText("BSD-3-Clause"));
  const PackageMetadata packages(tree);
  EXPECT_EQ(packages.Nearest("k.py")->expression(), "Zlib AND ISC");
  EXPECT_EQ(packages.Nearest("k.py")->evidence(), "metadata:pyproject.toml");
  EXPECT_EQ(packages.Nearest("k.py")->found(0).path(), "legal/LICENSE.kernels");
  EXPECT_EQ(packages.Nearest("a/k.py")->expression(), "MIT");
  EXPECT_EQ(packages.Nearest("b/k.py")->expression(), "BSD-3-Clause");
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
