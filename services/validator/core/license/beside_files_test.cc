// Files beside a licence that add to it or take something back: README, NOTICE, EULA,
// LICENSE-MODEL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/validator/core/license/finder.h"
#include "services/validator/core/license/text/samples.h"

namespace kernelmill::validator {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

constexpr char kAltered[] = "MIT AND LicenseRef-AdditionalTerms";

// Returns the expression of a file of a tree.
std::string Find(const Files& files, const std::string& path = "src/k.py",
                 const std::string& content = "import triton\n") {
  v1::SourceTree tree;
  for (const auto& [name, text] : files) {
    v1::SourceFile& file = *tree.add_license_files();
    file.set_path(name);
    file.set_content(text);
  }
  LicenseFinder finder(tree);
  return finder.Find(path, content).expression();
}

std::string WithMit(const std::string& name, const std::string& text,
                    const std::string& path = "src/k.py") {
  return Find({{"LICENSE", SampleText("MIT")}, {name, text}}, path);
}

TEST(BesideFilesTest, AReadmeMayLimitThePurpose) {
  for (const char* text :
       {"# Foo\n\n## License\n\nThis project may be used for non-commercial purposes only.\n",
        "# Foo\n\nNOTE: The code is released for academic research use only. For commercial use, "
        "contact us.\n",
        "Foo\n===\n\nLicense\n-------\n\nMIT for research; commercial users need a separate "
        "license.\n"}) {
    EXPECT_EQ(WithMit("README.md", text), kAltered) << text;
  }
}

TEST(BesideFilesTest, AReadmeOfCodeAndWeightsTakesNothingBack) {
  for (const char* text :
       {"# Foo\n\n## License\n\nMIT, see LICENSE. Do not use Python 3.7.\n\n## Usage\n\nThe kernel "
        "may not be used with float64.\n",
        "# Foo\n\nThis project is licensed under the MIT License. You must not use a file name "
        "with blanks.\n",
        "# Foo\n\n## License\n\nThe code is MIT. The model weights are released under CC BY-NC "
        "4.0.\n",
        "# Foo\n\n## License\n\nThe weights are for non-commercial use only.\n"}) {
    EXPECT_EQ(WithMit("README.md", text), "MIT") << text;
  }
}

TEST(BesideFilesTest, AReadmeMayNameTheLicenceOfItsFolder) {
  const std::string text =
      "# Models\n\nThe contents of this folder: see below. The files in this folder are licensed "
      "under CC BY-NC 4.0.\n";
  EXPECT_EQ(WithMit("models/README.md", text, "models/k.py"), "MIT AND CC-BY-NC-4.0");
  EXPECT_EQ(WithMit("models/README.md", text), "MIT");
  EXPECT_EQ(Find({{"LICENSE", SampleText("MIT")},
                  {"models/LICENSE", SampleText("ISC")},
                  {"models/README.md", text}},
                 "models/k.py"),
            "ISC")
      << "the folder's own licence is nearer";
}

TEST(BesideFilesTest, ANoticeMayLimitTheProduct) {
  EXPECT_EQ(WithMit("NOTICE", "Foo\n\nThis product may not be used for commercial purposes.\n"),
            kAltered);
  EXPECT_EQ(WithMit("NOTICE",
                    "Foo\nCopyright Ann\n\nThis product includes software developed at "
                    "The Apache Software Foundation.\n"),
            "MIT");
}

TEST(BesideFilesTest, TheLicenceOfAModelIsNotThatOfTheCode) {
  const std::string model =
      "FOO MODEL LICENSE\n\nUse-based restrictions. You agree not to use the Model for war.\n";
  const std::string mit = SampleText("MIT");
  EXPECT_EQ(Find({{"LICENSE-CODE", mit}, {"LICENSE-MODEL", model}}), "MIT");
  EXPECT_NE(Find({{"LICENSE", mit}, {"LICENSE-MODEL", model}}), "MIT")
      << "nothing says that it is not about the code";
  EXPECT_EQ(Find({{"LICENSE", mit}, {"LICENSE-docs", "CC-BY-4.0"}}), "MIT");
  EXPECT_NE(Find({{"LICENSE-MODEL", model}}), "MIT");
}

TEST(BesideFilesTest, AnAgreementCountsWhereNothingSaysWhoseItIs) {
  const std::string agreement =
      "Software License Agreement\n\nYou may use this on our chips only.\n";
  const std::string mit = SampleText("MIT");
  EXPECT_EQ(Find({{"LICENSE", mit}, {"EULA.txt", agreement}}), kAltered);
  EXPECT_EQ(Find({{"LICENSE", mit}, {"EULA.txt", agreement}}, "src/k.py",
                 "# SPDX-License-Identifier: MIT\n"),
            "MIT")
      << "the file states its own licence";
  const std::string scoped = absl::StrCat(
      mit, "\nCertain files within this repository are subject to separate licensing terms:\n\n",
      "- The files located in the `python/dsl` directory are licensed under the\n",
      "  Foo End User License Agreement (EULA).\n");
  EXPECT_EQ(Find({{"LICENSE", scoped}, {"EULA.txt", agreement}}, "python/core/k.py"), "MIT");
  EXPECT_NE(Find({{"LICENSE", scoped}, {"EULA.txt", agreement}}, "python/dsl/k.py"), "MIT");
  EXPECT_EQ(Find({{"LICENSE", mit}, {"ADDITIONAL_TERMS.md", agreement}}, "src/k.py",
                 "# SPDX-License-Identifier: MIT\n"),
            kAltered)
      << "terms that add to every licence";
}

}  // namespace
}  // namespace kernelmill::validator
