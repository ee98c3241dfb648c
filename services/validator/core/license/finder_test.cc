#include "services/validator/core/license/finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "services/validator/core/license/text/samples.h"

namespace kernelmill::validator {
namespace {

v1::SourceTree MakeTree(const std::vector<std::pair<std::string, std::string>>& files,
                        const std::vector<std::string>& declared = {}) {
  v1::SourceTree tree;
  for (const auto& [path, text] : files) {
    v1::SourceFile& file = *tree.add_license_files();
    file.set_path(path);
    file.set_content(text);
  }
  for (const std::string& license : declared) tree.add_declared_licenses(license);
  return tree;
}

// "expression|evidence" of a file k.py with this content.
std::string Find(const v1::SourceTree& tree, const std::string& content,
                 const std::string& path = "k.py") {
  LicenseFinder finder(tree);
  const v1::License license = finder.Find(path, content);
  EXPECT_EQ(license.confidence() == 0, license.expression() == kNoAssertion);
  return absl::StrCat(license.expression(), "|", license.evidence());
}

const v1::SourceTree& Mit() {
  static const auto* const tree = new v1::SourceTree(MakeTree({{"LICENSE", SampleText("MIT")}}));
  return *tree;
}

TEST(LicenseFinderTest, TagsDecide) {
  EXPECT_EQ(Find(Mit(), "# SPDX-License-Identifier: AGPL-3.0-only\nimport x\n"),
            "AGPL-3.0-only|spdx-tag");
  EXPECT_EQ(Find(Mit(), "\xef\xbb\xbf#!/usr/bin/env python\n# spdx-license-identifier: isc \r\n"),
            "ISC|spdx-tag");
  EXPECT_EQ(Find(Mit(), "'''SPDX-License-Identifier: ISC'''\n"), "ISC|spdx-tag");
  EXPECT_EQ(Find(Mit(), "/* (c) X SPDX-License-Identifier: ISC OR Zlib */\n", "k.cu"),
            "ISC OR Zlib|spdx-tag");
  EXPECT_EQ(Find(Mit(), "// SPDX-License-Identifier: ISC\n", "k.cuh"), "ISC|spdx-tag");
  EXPECT_EQ(Find(Mit(), "# <!-- SPDX-License-Identifier: ISC -->\n"), "ISC|spdx-tag");
}

TEST(LicenseFinderTest, SeveralTagsHoldTogether) {
  EXPECT_EQ(Find(Mit(), "# SPDX-License-Identifier: MIT OR ISC\n# SPDX-License-Identifier: Zlib\n"),
            "(MIT OR ISC) AND Zlib|spdx-tag");
}

TEST(LicenseFinderTest, ATagThatIsNoExpressionIsNotPassedOver) {
  EXPECT_EQ(Find(Mit(), "# SPDX-License-Identifier: see LICENSE\n"), "NOASSERTION|spdx-tag");
  EXPECT_EQ(Find(Mit(), "# SPDX-License-Identifier:\n"), "NOASSERTION|spdx-tag");
  EXPECT_EQ(Find(Mit(), "# SPDX-License-Identifier: MIT\n# SPDX-License-Identifier: (((\n"),
            "NOASSERTION|spdx-tag");
}

TEST(LicenseFinderTest, OthersCodeHoldsBesideATag) {
  EXPECT_EQ(Find(Mit(),
                 "# SPDX-License-Identifier: AGPL-3.0-only\n"
                 "# Parsing adapted from forge, used under the MIT License.\n"),
            "AGPL-3.0-only AND MIT|spdx-tag");
  EXPECT_EQ(Find(Mit(),
                 "# SPDX-License-Identifier: Apache-2.0\n"
                 "# Licensed under the Apache License, Version 2.0.\n"),
            "Apache-2.0|spdx-tag");
}

TEST(LicenseFinderTest, EvidenceNamesPathLinesRuleAndScore) {
  v1::SourceTree tree =
      MakeTree({{"a/LICENSE", "MIT License\n\nCopyright (c) 2020 Ann\n\n" + SampleText("MIT")},
                {"NOTICE", "all of it"},
                {"a/NOTICE.txt", "a's"},
                {"b/NOTICE", "b's"}});
  LicenseFinder finder(tree);
  const v1::License license = finder.Find("a/k.py", "# Copyright 2021 Bob\n");
  EXPECT_EQ(license.expression(), "MIT");
  ASSERT_EQ(license.found_size(), 1);
  EXPECT_EQ(license.found(0).path(), "a/LICENSE");
  EXPECT_EQ(license.found(0).rule(), "text");
  EXPECT_EQ(license.found(0).text(), "MIT");
  EXPECT_EQ(license.found(0).score(), 1.0);
  EXPECT_THAT(license.copyrights(),
              ::testing::ElementsAre("Copyright 2021 Bob", "Copyright (c) 2020 Ann"));
  EXPECT_THAT(license.notices(), ::testing::ElementsAre("a/NOTICE.txt", "NOTICE"));

  const v1::License header =
      finder.Find("a/k.py", "import x\n# Licensed under the Apache License, Version 2.0.\n");
  ASSERT_EQ(header.found_size(), 1);
  EXPECT_EQ(header.found(0).path(), "a/k.py");
  EXPECT_EQ(header.found(0).first_line(), 2);
  EXPECT_EQ(header.found(0).rule(), "notice");
  EXPECT_EQ(header.found(0).text(), "under the apache license version 2.0");
}

TEST(LicenseFinderTest, TheJobsWordCountsWhereNothingElseSpeaks) {
  const auto find = [](const v1::SourceTree& tree, const std::string& content) {
    LicenseFinder finder(tree, {"mit", {}});
    const v1::License license = finder.Find("k.py", content);
    return absl::StrCat(license.expression(), "|", license.evidence());
  };
  EXPECT_EQ(find(MakeTree({}), "x"), "MIT|job");
  EXPECT_EQ(find(MakeTree({}), "# SPDX-License-Identifier: ISC\n"), "ISC|spdx-tag");
  EXPECT_EQ(find(MakeTree({{"LICENSE", "terms of our own"}}), "x"), "NOASSERTION|file:LICENSE");
  EXPECT_EQ(find(MakeTree({}, {"ISC"}), "x"), "ISC|metadata");
}

TEST(LicenseFinderTest, ATagThatIsALicencesNameIsRead) {
  EXPECT_EQ(Find(Mit(), "# SPDX-License-Identifier: GNU Affero General Public License v3.0\n"),
            "AGPL-3.0-only|spdx-tag");
  EXPECT_EQ(Find(Mit(), "# SPDX-License-Identifier: BSD\n"), "BSD|spdx-tag");
}

TEST(LicenseFinderTest, TagsInCodeExamplesOrFarBelowAreNone) {
  EXPECT_EQ(Find(Mit(), "tag = '# SPDX-License-Identifier: ISC'\n"), "MIT|file:LICENSE");
  EXPECT_EQ(Find(Mit(), "x = 1\ny = '''\n# SPDX-License-Identifier: ISC\n'''\n"),
            "MIT|file:LICENSE");
  EXPECT_EQ(Find(Mit(), "# write `SPDX-License-Identifier: ISC` above\n"), "MIT|file:LICENSE");
  EXPECT_EQ(Find(Mit(), std::string(100, '\n') + "# SPDX-License-Identifier: ISC\n"),
            "MIT|file:LICENSE");
  EXPECT_EQ(Find(Mit(), std::string(99, '\n') + "# SPDX-License-Identifier: ISC\n"),
            "ISC|spdx-tag");
}

TEST(LicenseFinderTest, ATagWithinASentenceIsOfAPortion) {
  EXPECT_EQ(Find(Mit(), "'''Ports a kernel of X (SPDX-License-Identifier: ISC, Y 2025) here.'''\n"),
            "MIT AND ISC|header+file:LICENSE");
}

TEST(LicenseFinderTest, HeaderTextsAndNoticesComeBeforeFiles) {
  EXPECT_EQ(Find(Mit(), Commented(SampleText("BSD-3-Clause"))), "BSD-3-Clause|header");
  EXPECT_EQ(Find(Mit(), Commented(SampleText("BSD-3-Clause", std::string(85, '\n')))),
            "LicenseRef-BSD-3-Clause-altered|header")
      << "it goes on below the head";
  std::string zlib = SampleText("Zlib");
  for (char& c : zlib) c = c == '\n' ? ' ' : c;
  EXPECT_EQ(Find(Mit(), Commented(zlib)), "Zlib|header");
  EXPECT_EQ(Find(Mit(), "# Licensed under the Apache License, Version 2.0 (the \"License\");\n"),
            "Apache-2.0|header");
  EXPECT_EQ(Find(Mit(), "# License: ISC from x/y\n"), "ISC|header");
  EXPECT_EQ(Find(Mit(), "# BSD 3-Clause License\n# Copyright x\n"), "BSD-3-Clause|header");
  EXPECT_EQ(Find(Mit(), "\"\"\"X.\n\n:license: Apache2, see LICENSE for more.\n\"\"\"\n"),
            "Apache-2.0|header");
  EXPECT_EQ(Find(Mit(), "import a\n__license__ = 'BSD-3-Clause'\n"), "BSD-3-Clause|header");
  EXPECT_EQ(Find(Mit(), "__license__ = 'see LICENSE'\n__license__ == 'ISC'\n"), "MIT|file:LICENSE");
  EXPECT_EQ(Find(Mit(), "print('Licensed under the GPL')\n"), "MIT|file:LICENSE");
}

TEST(LicenseFinderTest, AFamilyIsSettledByTheLicenceFile) {
  const std::string header =
      "# This source code is licensed under the BSD-style license found in the\n"
      "# LICENSE file in the root directory of this source tree.\n";
  const v1::SourceTree bsd = MakeTree({{"LICENSE", SampleText("BSD-3-Clause")}});
  EXPECT_EQ(Find(bsd, header, "a/k.py"), "BSD-3-Clause|file:LICENSE");
  EXPECT_EQ(Find(Mit(), header), "NOASSERTION|header");
  EXPECT_EQ(Find(MakeTree({}), header), "NOASSERTION|header");
  const v1::SourceTree vendored =
      MakeTree({{"LICENSE", SampleText("MIT")}, {"v/LICENSE", SampleText("BSD-2-Clause")}});
  EXPECT_EQ(Find(vendored, header, "v/k.py"), "BSD-2-Clause|file:v/LICENSE");
}

constexpr char kBsdInRoot[] =
    "# This source code is licensed under the BSD-style license found in the\n"
    "# LICENSE file in the root directory of this source tree.\n";
constexpr char kApacheNotice[] = "# Licensed under the Apache License, Version 2.0 (the X);\n";

TEST(LicenseFinderTest, TwoNoticesInAHeadBothHold) {
  const v1::SourceTree bsd = MakeTree({{"LICENSE", SampleText("BSD-3-Clause")}});
  EXPECT_EQ(Find(bsd, absl::StrCat(kBsdInRoot, "\n", kApacheNotice)),
            "Apache-2.0 AND BSD-3-Clause|header+file:LICENSE");
  EXPECT_EQ(Find(bsd, absl::StrCat(kBsdInRoot, "\n", Commented(SampleText("MIT")))),
            "MIT AND BSD-3-Clause|header+file:LICENSE");
  EXPECT_EQ(Find(Mit(), absl::StrCat(kBsdInRoot, "\n", kApacheNotice)), "NOASSERTION|header")
      << "nothing says which BSD licence";
  EXPECT_EQ(Find(bsd, "# Licensed under the BSD license.\n# BSD 3-Clause License\n"),
            "BSD-3-Clause|header");
  EXPECT_EQ(Find(Mit(), "# Dual licensed under the MIT license and a BSD-style license.\n"),
            "MIT|header")
      << "a choice needs only one known licence";
}

TEST(LicenseFinderTest, ANoticeBesideATagHoldsUnlessItRepeatsIt) {
  EXPECT_EQ(Find(Mit(), absl::StrCat("# SPDX-License-Identifier: MIT\n\n", kApacheNotice)),
            "MIT AND Apache-2.0|spdx-tag+header");
  EXPECT_EQ(Find(MakeTree({{"LICENSE", SampleText("BSD-3-Clause")}}),
                 absl::StrCat("# SPDX-License-Identifier: MIT\n\n", kBsdInRoot)),
            "MIT AND BSD-3-Clause|spdx-tag+file:LICENSE");
  EXPECT_EQ(Find(Mit(),
                 "# SPDX-License-Identifier: GPL-2.0-or-later\n"
                 "# Released under the GNU General Public License version 2.\n"),
            "GPL-2.0-or-later|spdx-tag");
}

TEST(LicenseFinderTest, AHeadThatNamesTheRootsFileIsSettledByIt) {
  const v1::SourceTree tree = MakeTree({{"LICENSE", SampleText("BSD-3-Clause")},
                                        {"a/LICENSE", SampleText("BSD-2-Clause")},
                                        {"third_party/x/LICENSE", SampleText("BSD-2-Clause")}});
  EXPECT_EQ(Find(tree, kBsdInRoot, "a/k.py"), "BSD-3-Clause|file:LICENSE");
  EXPECT_EQ(Find(tree, "# licensed under the BSD-style license found in LICENSE\n", "a/k.py"),
            "BSD-2-Clause|file:a/LICENSE");
  EXPECT_EQ(Find(tree,
                 "# This source code is licensed under the license found in the\n"
                 "# LICENSE file in the root directory of this source tree.\n",
                 "a/k.py"),
            "BSD-3-Clause|file:LICENSE");
  EXPECT_EQ(Find(tree, "# See LICENSE in the project root for license information.\n", "a/k.py"),
            "BSD-3-Clause|file:LICENSE");
  EXPECT_EQ(Find(tree,
                 "# Licensed under the MIT License. See License.txt in the project root for\n"
                 "# license information.\n",
                 "a/k.py"),
            "MIT|header");
  EXPECT_EQ(Find(tree, "# See LICENSE for details.\n", "a/k.py"), "BSD-2-Clause|file:a/LICENSE");
  EXPECT_EQ(Find(tree, kBsdInRoot, "third_party/x/k.py"), "BSD-2-Clause|file:third_party/x/LICENSE")
      << "the root of what was vendored is its folder";
}

TEST(LicenseFinderTest, AVendoredFolderDoesNotInherit) {
  const v1::SourceTree tree = MakeTree({{"LICENSE", SampleText("MIT")},
                                        {"third_party/x/LICENSE", SampleText("ISC")},
                                        {"third_party/y/setup.py", "setup(license='Zlib')"},
                                        {"external/w/LICENSE", SampleText("ISC")}});
  EXPECT_EQ(Find(tree, "", "third_party/x/a/k.py"), "ISC|file:third_party/x/LICENSE");
  EXPECT_EQ(Find(tree, "", "third_party/y/k.py"), "Zlib|metadata:third_party/y/setup.py");
  EXPECT_EQ(Find(tree, "", "third_party/z/k.py"), "NOASSERTION|vendored:third_party/z");
  EXPECT_EQ(Find(tree, "# SPDX-License-Identifier: ISC\n", "third_party/z/k.py"), "ISC|spdx-tag");
  EXPECT_EQ(Find(tree, "", "external/z/k.py"), "MIT|file:LICENSE");
  LicenseFinder finder(tree, {"MIT", {}});
  EXPECT_EQ(finder.Find("third_party/z/k.py", "").expression(), kNoAssertion);
  EXPECT_EQ(finder.Find("third_party/x/a/k.py", "").vendored(), "third_party/x");
  EXPECT_EQ(finder.Find("external/z/k.py", "").vendored(), "external/z");
  EXPECT_EQ(finder.Find("external/z/k.py", "").confidence(), 0.5);
  EXPECT_EQ(finder.Find("external/w/k.py", "").confidence(), 1.0);
  EXPECT_EQ(finder.Find("a/k.py", "").vendored(), "");
}

std::string AggregateText() {
  return absl::StrCat(
      "The following applies to all files unless otherwise noted:\n\n", SampleText("BSD-3-Clause"),
      "\n--\n\nThis repository also contains code from A",
      " and B. Below are licenses used in those files.\n\n",
      "--------------------\n-- LICENSE FOR Alpha and Beta code --\n\n", SampleText("Apache-2.0"),
      "\n--------------------\nLICENSE FOR\nGamma, Inc.\n\n", SampleText("MIT"),
      "\nMore terms\n==========\n\nlibs/delta\n");
}

TEST(LicenseFinderTest, OfAnAggregateTheMainPartHolds) {
  const v1::SourceTree tree = MakeTree({{"LICENSE", AggregateText()}});
  EXPECT_EQ(Find(tree, ""), "BSD-3-Clause|file:LICENSE");
  EXPECT_EQ(Find(tree,
                 "# This source code is licensed under the Apache license found in the\n"
                 "# LICENSE file in the root directory of this source tree.\n"),
            "Apache-2.0|file:LICENSE")
      << "a notice names the other part";
  EXPECT_EQ(Find(tree, "", "libs/delta/k.py"), "NOASSERTION|file:LICENSE")
      << "it is listed under terms that are not understood";
  EXPECT_EQ(Find(tree, "", "libs/deltas/k.py"), "BSD-3-Clause|file:LICENSE");
  LicenseFinder finder(tree);
  EXPECT_EQ(finder.Find("k.py", "", {"https://github.com/o/beta/blob/x.py"}).expression(),
            "BSD-3-Clause AND Apache-2.0")
      << "the file comes from the origin that the part names";
  EXPECT_EQ(finder.Find("k.py", "", {"gamma"}).expression(), "BSD-3-Clause");
  EXPECT_EQ(finder.Find("k.py", "", {"Gamma"}).expression(), "BSD-3-Clause AND MIT");
}

TEST(LicenseFinderTest, ReusesAnnotationsStandBetweenHeadAndFiles) {
  const std::string table =
      "[[annotations]]\npath = '**'\nSPDX-License-Identifier = 'ISC'\n"
      "SPDX-FileCopyrightText = '2024 Ann'\n";
  const auto tree = [&](const std::string& precedence) {
    return MakeTree({{"LICENSE", SampleText("MIT")},
                     {"REUSE.toml", absl::StrCat(table, "precedence = '", precedence, "'\n")}});
  };
  const std::string zlib = "# SPDX-License-Identifier: Zlib\n";
  EXPECT_EQ(Find(tree("closest"), ""), "ISC|annotation:REUSE.toml");
  EXPECT_EQ(Find(tree("closest"), zlib), "Zlib|spdx-tag");
  EXPECT_EQ(Find(tree("closest"), kApacheNotice), "Apache-2.0|header");
  EXPECT_EQ(Find(tree("aggregate"), zlib), "Zlib AND ISC|spdx-tag+annotation:REUSE.toml");
  EXPECT_EQ(Find(tree("override"), zlib), "ISC|annotation:REUSE.toml");
  LicenseFinder finder(tree("override"));
  EXPECT_THAT(finder.Find("k.py", zlib).copyrights(), ::testing::ElementsAre("2024 Ann"));
}

TEST(LicenseFinderTest, TagsMayStandInAFileBeside) {
  const v1::SourceTree tree = MakeTree(
      {{"LICENSE", SampleText("MIT")},
       {"k.py.license", "SPDX-FileCopyrightText: 2024 Ann\nSPDX-License-Identifier: ISC\n"},
       {"l.py.license", "nothing\n"}});
  EXPECT_EQ(Find(tree, "# SPDX-License-Identifier: Zlib\n"), "ISC|spdx-tag");
  EXPECT_EQ(Find(tree, "", "l.py"), "MIT|file:LICENSE");
  LicenseFinder finder(tree);
  const v1::License license = finder.Find("k.py", "");
  EXPECT_EQ(license.found(0).path(), "k.py.license");
  EXPECT_THAT(license.copyrights(), ::testing::ElementsAre("2024 Ann"));
}

TEST(LicenseFinderTest, PortionsAddToTheFilesLicence) {
  const std::string header =
      "'''Incorporates code from X licensed under the Apache License 2.0.'''\n";
  EXPECT_EQ(Find(Mit(), header), "MIT AND Apache-2.0|header+file:LICENSE");
  EXPECT_EQ(Find(MakeTree({}), header), "NOASSERTION|header");
}

TEST(LicenseFinderTest, ShortFilesAndMentionsFallToTheFile) {
  for (const std::string content : {"", "#", "\n", "# BSD\n", "x", "# written at MIT\n", "'''"}) {
    EXPECT_EQ(Find(Mit(), content), "MIT|file:LICENSE") << content;
    EXPECT_EQ(Find(MakeTree({}), content), "NOASSERTION|") << content;
  }
}

TEST(LicenseFinderTest, MetadataComesLast) {
  EXPECT_EQ(Find(MakeTree({}, {"MIT OR Apache-2.0"}), ""), "MIT OR Apache-2.0|metadata");
  EXPECT_EQ(Find(MakeTree({}, {"MIT/Apache-2.0"}), ""), "MIT OR Apache-2.0|metadata");
  EXPECT_EQ(Find(MakeTree({}, {SampleText("BSD-2-Clause")}), ""), "BSD-2-Clause|metadata");
  EXPECT_EQ(
      Find(MakeTree({}, {"BSD 2-CLAUSE LICENSE\n Copyright X\n" + SampleText("BSD-2-Clause")}), ""),
      "BSD-2-Clause|metadata");
  EXPECT_EQ(Find(MakeTree({}, {"BSD", "License :: OSI Approved :: BSD License"}), ""),
            "NOASSERTION|metadata");
  EXPECT_EQ(Find(MakeTree({}, {"License :: OSI Approved :: MIT License"}), ""), "MIT|metadata");
  EXPECT_EQ(Find(MakeTree({}, {"License :: OSI Approved",
                               "License :: OSI Approved :: Apache Software License"}),
                 ""),
            "Apache-2.0|metadata");
  EXPECT_EQ(Find(MakeTree({}, {"License :: OSI Approved :: MIT License",
                               "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"}),
                 ""),
            "MIT AND GPL-3.0-only|metadata");
  EXPECT_EQ(Find(MakeTree({}, {"Proprietary"}), ""), "LicenseRef-Proprietary|metadata");
  EXPECT_EQ(Find(MakeTree({{"p-1.dist-info/LICENSE", SampleText("ISC")}}, {"MIT"}), ""),
            "ISC|file:p-1.dist-info/LICENSE");
}

TEST(LicenseFinderTest, AHeadThatIsNotUnderstoodIsNotTheRoots) {
  for (const std::string head :
       {"# Acme proprietary. No part may be copied.\n", "# GPL\n# X\n",
        "# Licensed under the Acme Source License, version 3\n",
        "# Subject to the Acme Terms of Use\n", "# From a page of the web, CC BY-SA\n",
        "# License: https://www.gnu.org/licenses/gpl-3.0.html\n",
        "# The code may only be used by students.\n", "# BSD-style license, see COPYING.bsd\n",
        "# This file must not be used to train models.\n"}) {
    EXPECT_EQ(Find(Mit(), "# Copyright (c) 2024 Acme\n" + head).substr(0, 4) == "MIT|", false)
        << head;
  }
  EXPECT_EQ(Find(Mit(), "# Commercial use of this file is prohibited.\nimport x\n"),
            "NOASSERTION|header");
}

TEST(LicenseFinderTest, ACommentOnCodeIsNoStatement) {
  for (const std::string head :
       {"# The mask must not be used for the last block.\n",
        "# Only a multiple of 16 is permitted here; other sizes are not supported.\n",
        "# See LICENSE for license information.\n", "# All rights reserved.\n",
        "# This kernel is used in training and inference of large models.\n"}) {
    EXPECT_EQ(Find(Mit(), head), "MIT|file:LICENSE") << head;
  }
}

TEST(LicenseFinderTest, WordsBesideATagOrNoticeHoldToo) {
  EXPECT_EQ(Find(Mit(),
                 "# SPDX-License-Identifier: MIT\n# This file must not be used to train models.\n"),
            "MIT AND LicenseRef-AdditionalTerms|spdx-tag+header");
}

TEST(LicenseFinderTest, ASecondHeaderPointsToItsOwnFile) {
  const std::string content = "/*\n * Copyright (c) 2025 Ann\n" + SampleText("MIT") +
                              "*/\n/*\n * Copyright (c) 2020 Bob. All rights reserved.\n"
                              " * See COPYRIGHT for license information\n */\nint x;\n";
  EXPECT_EQ(Find(Mit(), content, "k.cu"), "NOASSERTION|header");
  EXPECT_EQ(Find(MakeTree({{"LICENSE", SampleText("MIT")}, {"COPYRIGHT", SampleText("ISC")}}),
                 content, "k.cu"),
            "MIT AND ISC|header+file:COPYRIGHT");
}

TEST(LicenseFinderTest, FilesBesideTheLicenceMayTakeSomethingBack) {
  const std::string rider = "This software may not be used to train machine learning models.\n";
  for (const std::string name : {"ADDITIONAL_TERMS.md", "NOTICE", "README.md"}) {
    const std::string text = name == "README.md" ? "# X\n\n## License\n\nMIT. " + rider : rider;
    const v1::SourceTree tree = MakeTree({{"LICENSE", SampleText("MIT")}, {name, text}});
    EXPECT_EQ(Find(tree, "x = 1\n"),
              "MIT AND LicenseRef-AdditionalTerms|file:LICENSE+file:" + name);
    LicenseFinder finder(tree);
    EXPECT_EQ(finder.Find("k.py", "").training_use(), "forbidden") << name;
  }
  EXPECT_EQ(Find(MakeTree({{"LICENSE", SampleText("MIT")},
                           {"NOTICE", "X\nCopyright 2020 Ann\n"},
                           {"README.md", "# X\n\nIt must not be used before it is built.\n"}}),
                 ""),
            "MIT|file:LICENSE");
}

TEST(LicenseFinderTest, WhatATextSaysOfTrainingIsAFact) {
  const auto use = [](const std::string& more) {
    const v1::SourceTree tree = MakeTree({{"LICENSE", SampleText("MIT") + "\n" + more}});
    LicenseFinder finder(tree);
    return finder.Find("k.py", "").training_use();
  };
  EXPECT_EQ(use(""), "");
  EXPECT_EQ(use("You may not use it to train AI models."), "forbidden");
  EXPECT_EQ(use("You may use it to train AI models only with our consent."), "limited");
  EXPECT_EQ(use("You may use this software to train language models."), "permitted");
}

TEST(LicenseFinderTest, TheJobsWordOnAPathCountsWhereTheFileSaysNothing) {
  v1::PathLicense entry;
  entry.add_paths("third_party/ours/**");
  entry.set_license("ISC");
  LicenseFinder finder(Mit(), {"", {entry}});
  EXPECT_EQ(finder.Find("third_party/ours/k.py", "").expression(), "ISC");
  EXPECT_EQ(finder.Find("third_party/ours/k.py", "").evidence(), "job");
  EXPECT_EQ(finder.Find("third_party/x/k.py", "").expression(), kNoAssertion);
  EXPECT_EQ(finder.Find("third_party/ours/k.py", "# SPDX-License-Identifier: Zlib\n").expression(),
            "Zlib");
}

TEST(LicenseFinderTest, OwnCodeInAFolderForOthersHasTheRootsLicence) {
  const v1::SourceTree tree = MakeTree(
      {{"LICENSE", "MIT License\n\nCopyright (c) 2020 Acme, Inc.\n\n" + SampleText("MIT")}});
  const std::string path = "third_party/amd/k.py";
  EXPECT_EQ(Find(tree, "# Copyright 2023 Acme Inc\n", path), "MIT|file:LICENSE");
  EXPECT_EQ(Find(tree, "", path), "MIT|file:LICENSE");
  EXPECT_EQ(Find(tree, "# Copyright 2023 Bob\n", path), "NOASSERTION|vendored:third_party/amd");
}

TEST(LicenseFinderTest, HostileContentIsHarmless) {
  EXPECT_EQ(Find(Mit(), std::string(1 << 20, '#')), "MIT|file:LICENSE");
  EXPECT_EQ(Find(Mit(), std::string(1 << 20, '\0')), "MIT|file:LICENSE");
  EXPECT_EQ(Find(Mit(), "# SPDX-License-Identifier: " + std::string(100'000, '(')),
            "NOASSERTION|spdx-tag");
  EXPECT_EQ(Find(Mit(), "# " + std::string(64 << 10, 'x') + "\n# SPDX-License-Identifier: ISC\n"),
            "MIT|file:LICENSE");
  const v1::SourceTree tree = MakeTree({{"\xff/LICENSE", SampleText("MIT")}});
  LicenseFinder finder(tree);
  EXPECT_TRUE(IsUtf8(finder.Find("\xff/k.py", "").evidence()));
}

}  // namespace
}  // namespace kernelmill::validator
