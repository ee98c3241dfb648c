#include "services/validator/core/license/tree/license_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/validator/core/license/text/samples.h"

namespace kernelmill::validator {
namespace {

// Returns the result of reading a LICENSE file with this text.
std::string Read(const std::string& text) {
  const LicenseFinding finding = ReadLicenseFile(text);
  return finding.license.has_value() ? finding.license->ToString() : kNoAssertion;
}

TEST(LicenseFileTest, RelativesAreToldApart) {
  const std::string mit = SampleText("MIT");
  EXPECT_EQ(Read(mit), "MIT");
  EXPECT_EQ(Read(SampleText("MIT-0")), "MIT-0");
  EXPECT_EQ(Read(SampleText("BSD-2-Clause")), "BSD-2-Clause");
  EXPECT_EQ(Read(SampleText("BSD-3-Clause")), "BSD-3-Clause");
  EXPECT_EQ(Read(SampleText("BSD-4-Clause")), "BSD-4-Clause");
  EXPECT_EQ(Read(SampleText("ISC")), "ISC");
  EXPECT_EQ(Read(SampleText("0BSD")), "0BSD");
}

TEST(LicenseFileTest, WordsSlippedIntoALicenceMakeItAnother) {
  std::string more;
  for (int i = 0; i < 30; ++i) more += "unless the licensor says otherwise ";
  for (const std::string id : {"MIT", "BSD-2-Clause", "Apache-2.0"}) {
    const std::string altered = "LicenseRef-" + id + "-altered";
    EXPECT_NE(Read(SampleText(id, more)), id);
    EXPECT_EQ(Read(SampleText(id, "for noncommercial purposes")), altered);
    EXPECT_EQ(Read(SampleText(id, "not")), altered);
  }
  EXPECT_EQ(Read("Permission is hereby granted, free of charge, to any person obtaining a copy"),
            kNoAssertion);
}

TEST(LicenseFileTest, ARightTakenOutMakesItAnother) {
  std::string mit = SampleText("MIT");
  mit.replace(mit.find("sell"), 4, "");
  EXPECT_EQ(Read(mit), "LicenseRef-MIT-altered");
}

TEST(LicenseFileTest, NamesAndTitlesMayDiffer) {
  std::string bsd = SampleText("BSD-3-Clause");
  const std::string holder = "the copyright holder nor the names";
  for (char& c : bsd) c = c == '\n' ? ' ' : c;
  bsd.replace(bsd.find(holder), holder.size(), "Facebook nor Meta Platforms Inc nor the names");
  EXPECT_EQ(Read("The BSD Licence of X\n\nCopyright (c) 2020 X\n\n" + bsd), "BSD-3-Clause");
}

TEST(LicenseFileTest, EvidenceSaysWhereWhichTextAndHowAlike) {
  const LicenseFinding finding =
      ReadLicenseFile("X\n\nCopyright (c) 2020 X\n\n" + SampleText("ISC"));
  ASSERT_EQ(finding.evidence.size(), 1u);
  EXPECT_EQ(finding.evidence[0].rule(), "text");
  EXPECT_EQ(finding.evidence[0].expression(), "ISC");
  EXPECT_EQ(finding.evidence[0].text(), "ISC");
  EXPECT_EQ(finding.evidence[0].first_line(), 5);
  EXPECT_GT(finding.evidence[0].last_line(), 14);
  EXPECT_EQ(finding.evidence[0].score(), 1.0);
  EXPECT_THAT(finding.copyrights, ::testing::ElementsAre("Copyright (c) 2020 X"));
  const LicenseFinding altered = ReadLicenseFile(SampleText("ISC", "not"));
  ASSERT_EQ(altered.evidence.size(), 2u);
  EXPECT_EQ(altered.evidence[0].rule(), "residue");
  EXPECT_EQ(altered.evidence[0].text(), "not");
  EXPECT_EQ(altered.evidence[1].expression(), "LicenseRef-ISC-altered");
  EXPECT_EQ(altered.evidence[1].text(), "ISC");
}

TEST(LicenseFileTest, RestrictionsBesideALicenceAreKept) {
  EXPECT_EQ(Read(SampleText("MIT") + "For non-commercial use."),
            "MIT AND LicenseRef-NonCommercial");
  EXPECT_EQ(Read("\"Commons Clause\" License Condition v1.0\n\n" + SampleText("Apache-2.0")),
            "Apache-2.0 AND LicenseRef-Commons-Clause");
}

constexpr const char* kRiders[] = {
    "No part of it may serve to train a neural network.",
    "Machine learning is not among the permitted uses.",
    "Companies with more than ten employees must buy a license.",
    "It is free of charge for students only.",
    "Prohibited for any weapon.",
    "Commons Clause applies.",
    "See TERMS.md for more.",
    "\xe7\xa6\x81\xe6\xad\xa2\xe8\xae\xad\xe7\xbb\x83",
    "N\xd0\xbet for robots.",
};

TEST(LicenseFileTest, ASentenceMoreMayTakeSomethingBackWhereverItIs) {
  for (const std::string id : {"MIT", "BSD-3-Clause", "Apache-2.0", "ISC"}) {
    const std::string text = SampleText(id);
    for (const std::string rider : kRiders) {
      EXPECT_EQ(Read(rider + "\n\n" + text), id + " AND LicenseRef-AdditionalTerms") << rider;
      EXPECT_EQ(Read(text + "\n\n" + rider), id + " AND LicenseRef-AdditionalTerms") << rider;
      EXPECT_EQ(Read("Copyright (c) 2020 Ann. " + rider + "\n\n" + text),
                id + " AND LicenseRef-AdditionalTerms")
          << rider;
      for (const std::string& inside : {"\n\n" + rider + "\n\n", rider}) {
        const std::string read = Read(SampleText(id, inside));
        EXPECT_NE(read, id) << rider;
        EXPECT_NE(read.find("LicenseRef-"), std::string::npos) << rider;
      }
    }
  }
}

TEST(LicenseFileTest, WhatTakesNothingBackChangesNothing) {
  for (const std::string harmless :
       {"Copyright (c) 2019-2021 The Authors of X <x@example.com>. All rights reserved.",
        "\xc2\xa9 2020 Jos\xc3\xa9 N\xc3\xba\xc3\xb1"
        "ez, Isaac Z. Smith and contributors",
        "We thank everybody of the Example Lab.", "For questions, write to ann@example.com.",
        "Written by Ann Lee and Bob Roe", "----------------", "The X Project",
        "X is licensed under the following license:", "Please cite our paper if you use this.",
        "https://example.com/x", "License", "This work was developed by Example, Inc.",
        "xparser -- A C parser in Python", "This package is a modified version of foo's parser.",
        "Except when otherwise stated, all software and documentation is licensed as follows:",
        "Please also refer to the file .github/CONTRIBUTING.md, which clarifies licensing of "
        "external contributions to this project including patches, pull requests, etc.",
        "BSD 3-Clause License Copyright (c) 2023, Bob Co., Ltd. All rights reserved.",
        "Some rights reserved."}) {
    const std::string isc = SampleText("ISC");
    EXPECT_EQ(Read(harmless + "\n\n" + isc), "ISC") << harmless;
    EXPECT_EQ(Read(isc + "\n\n" + harmless), "ISC") << harmless;
  }
}

TEST(LicenseFileTest, ALetterThatIsMissingInAShortWordChangesNothing) {
  std::string bsd = SampleText("BSD-3-Clause");
  bsd.replace(bsd.find("tort"), 4, "tor");
  EXPECT_EQ(Read(bsd), "BSD-3-Clause");
  std::string mit = SampleText("MIT");
  mit.replace(mit.find("sell"), 4, "use");
  EXPECT_NE(Read(mit), "MIT") << "another word";
}

TEST(LicenseFileTest, SeveralTextsMayBeAChoice) {
  EXPECT_EQ(Read("This software is available under 2 licenses -- choose whichever you prefer.\n\n" +
                 SampleText("MIT") + "\n" + SampleText("Unlicense")),
            "MIT OR Unlicense");
}

TEST(LicenseFileTest, PlainWordsInASentenceMayTakeSomethingBack) {
  const std::string mit = SampleText("MIT");
  for (const std::string rider :
       {"All derivative works fall under the same license as this file.",
        "The license is for one person at a time.", "Ask before you fork.",
        "Your fork belongs to the foundation.", "Derivatives are Acme's.",
        "Version 2 is for customers.", "Link to our site on every page."}) {
    EXPECT_EQ(Read(rider + "\n\n" + mit), "MIT AND LicenseRef-AdditionalTerms") << rider;
  }
}

TEST(LicenseFileTest, ClauseThreeMayNameThoseWhoDoNotEndorse) {
  const std::string bsd = SampleText("BSD-3-Clause");
  const size_t begin = bsd.find("neither");
  const size_t end = bsd.find("may", begin);
  ASSERT_NE(end, std::string::npos);
  const std::string names =
      bsd.substr(0, begin) + "the names of the contributors may not" + bsd.substr(end + 3);
  EXPECT_EQ(Read(names), "BSD-3-Clause");
  std::string both = bsd;
  both.replace(end, 3, "may not");
  EXPECT_NE(Read(both), "BSD-3-Clause") << "a double negation";
  EXPECT_NE(Read(bsd.substr(0, begin) + "the names of the contributors may" + bsd.substr(end + 3)),
            "BSD-3-Clause")
      << "no negation";
}

TEST(LicenseFileTest, AHoldersNameIsBoundedInWhatItMaySay) {
  std::string bsd = SampleText("BSD-3-Clause");
  for (char& c : bsd) c = c == '\n' ? ' ' : c;
  const std::string holder = "the copyright holder nor the names";
  const size_t at = bsd.find(holder);
  const auto named = [&](const std::string& name) {
    return Read(bsd.substr(0, at) + name + " nor the names" + bsd.substr(at + holder.size()));
  };
  EXPECT_EQ(named("the University of Example"), "BSD-3-Clause");
  EXPECT_NE(named("X, who may not be a company that trains models,"), "BSD-3-Clause");
}

TEST(LicenseFileTest, TermsOfSomePathsAreAboutThemAlone) {
  const LicenseFinding finding = ReadLicenseFile(
      SampleText("BSD-3-Clause") +
      "\n\nThe files located in the `python/x` directory are licensed under the Acme EULA.\n");
  ASSERT_TRUE(finding.license.has_value());
  EXPECT_EQ(finding.license->ToString(), "BSD-3-Clause");
  ASSERT_EQ(finding.parts.size(), 1u);
  EXPECT_THAT(finding.parts[0].paths, ::testing::ElementsAre("python/x"));
  EXPECT_FALSE(finding.parts[0].license.has_value());
}

TEST(LicenseFileTest, AnExceptionIsReadByItsText) {
  const std::string title = "\n---- LLVM Exceptions to the Apache 2.0 License ----\n\n";
  EXPECT_EQ(Read(SampleText("Apache-2.0") + title + "As an exception, you may not use it."),
            "Apache-2.0 WITH LLVM-exception AND LicenseRef-AdditionalTerms");
}

TEST(LicenseFileTest, AnotherTextWithUseRestrictionsIsNotOpenRail) {
  EXPECT_EQ(Read("CreativeML Open RAIL-M\n\nYou accept the use-based restrictions below."),
            "LicenseRef-OpenRAIL AND LicenseRef-UseRestrictions");
  EXPECT_EQ(
      Read(
          "Acme Model License\n\nThis is a license of its own, which was written by the lawyers of "
          "the Acme company for its kernels. Unlike Open RAIL-M it has no use-based restrictions "
          "to "
          "speak of, but it asks you to share whatever you make from the work with us."),
      "LicenseRef-UseRestrictions");
}

TEST(LicenseFileTest, AppendedLicencesHoldTogether) {
  EXPECT_EQ(Read(SampleText("Apache-2.0") + SampleText("BSD-3-Clause") + SampleText("Apache-2.0")),
            "Apache-2.0 AND BSD-3-Clause");
  EXPECT_EQ(Read(SampleText("Apache-2.0") + "\nLLVM Exceptions to the Apache 2.0 License ----\n"),
            "Apache-2.0 WITH LLVM-exception");
  EXPECT_EQ(Read(SampleText("BSD-3-Clause") +
                 "\nContributions since 2017 are licensed under the Apache License, Version 2.0."),
            "BSD-3-Clause AND Apache-2.0");
}

TEST(LicenseFileTest, AChoiceOfTextsIsAnOr) {
  EXPECT_EQ(Read("This is dual licensed: choose one of the two below.\n\n" + SampleText("MIT") +
                 "\n" + SampleText("Apache-2.0")),
            "MIT OR Apache-2.0");
}

TEST(LicenseFileTest, OfAnAggregateTheMainPartIsRead) {
  const std::string apache = SampleText("Apache-2.0");
  const std::string mit = SampleText("MIT");
  const std::string cut = mit.substr(0, mit.size() / 2);
  const std::vector<std::string> others = {
      "\n## Some of X's code is derived from others, which is subject to the following:\n\n",
      "\n----- LICENSE FOR Y -----\n\n",
      "\n====================\nTHIRD-PARTY NOTICES\n\n",
      "\nX bundles several libraries that are compatibly licensed. We list these here.\n\n",
      "\nX SUBCOMPONENTS:\n\nThe X project contains subcomponents with separate copyright "
      "notices\n",
      "\nThis repository also contains code from Y.\n\n"};
  for (const std::string& sign : others) {
    const LicenseFinding finding = ReadLicenseFile(absl::StrCat(apache, sign, mit, cut));
    ASSERT_TRUE(finding.license.has_value()) << sign;
    EXPECT_EQ(finding.license->ToString(), "Apache-2.0") << sign;
    EXPECT_EQ(finding.evidence.back().rule(), "aggregate") << sign;
    EXPECT_GT(finding.evidence.back().first_line(), 10) << sign;
  }
}

TEST(LicenseFileTest, WithoutASignTextsHoldTogether) {
  const std::string apache = SampleText("Apache-2.0");
  EXPECT_EQ(Read(absl::StrCat(apache, "\n-----\n\n", SampleText("MIT"))), "Apache-2.0 AND MIT");
  EXPECT_EQ(Read(absl::StrCat("This repository also contains code from Y.\n", apache)),
            "Apache-2.0")
      << "no main part is before the sign";
  EXPECT_EQ(Read(absl::StrCat("Our own terms.\n\n--- LICENSE FOR Y ---\n\n", SampleText("MIT"))),
            Read(absl::StrCat("Our own terms.\n\n", SampleText("MIT"))))
      << "a main part that is not understood is not the licence";
}

TEST(LicenseFileTest, ASourcesLegacyLicenceIsNotOthers) {
  const std::string rule = std::string(70, '=') + "\n";
  const std::string text = absl::StrCat(
      SampleText("Apache-2.0"), "\n", rule, "Software from third parties included in X:\n", rule,
      "X contains third party software which is under different license terms.\n\n", rule,
      "Legacy X License (https://example.com):\n", rule, SampleText("NCSA"));
  const LicenseFinding finding = ReadLicenseFile(text);
  ASSERT_TRUE(finding.license.has_value());
  EXPECT_EQ(finding.license->ToString(), "Apache-2.0 AND NCSA");
}

TEST(LicenseFileTest, PartsHaveTitlesPathsAndLicences) {
  const LicenseFinding finding = ReadLicenseFile(
      absl::StrCat(SampleText("Apache-2.0"), "\n--------\nSome of the code in this project are ",
                   "adapted from other open-source projects.\n\nMIT License\n-----------\n\n",
                   "3rdparty/x\ninclude/y.cuh (from y)\nhttps://example.com/z\n\n",
                   "Z License\n---------\n\n", SampleText("Zlib")));
  ASSERT_EQ(finding.parts.size(), 2u);
  EXPECT_EQ(finding.parts[0].title, "MIT License");
  EXPECT_EQ(finding.parts[0].license->ToString(), "MIT");
  EXPECT_THAT(finding.parts[0].paths, ::testing::ElementsAre("3rdparty/x", "include/y.cuh"));
  EXPECT_EQ(finding.parts[1].license->ToString(), "Zlib");
}

TEST(LicenseFileTest, TheGnuTextIsOrLaterWhereTheWordsAroundItSaySo) {
  EXPECT_EQ(Read(SampleText("GPL-3.0-only")), "GPL-3.0-only");
  EXPECT_EQ(Read("X is licensed under the GNU General Public License, either version 3 of the\n"
                 "License, or (at your option) any later version.\n\n" +
                 SampleText("GPL-3.0-only")),
            "GPL-3.0-or-later");
}

TEST(LicenseFileTest, ALicenceAmidMuchOtherTextIsLessSure) {
  std::string prose;
  for (int i = 0; i < 500; ++i) prose += "words about the project ";
  const LicenseFinding alone =
      ReadLicenseFile("MIT License\n\nCopyright (c) X\n\n" + SampleText("MIT"));
  const LicenseFinding amid = ReadLicenseFile(prose + SampleText("MIT"));
  EXPECT_EQ(alone.confidence, 1.0);
  EXPECT_LT(amid.confidence, 0.5);
  EXPECT_GT(amid.confidence, 0.0);
}

TEST(LicenseFileTest, MentionsAreNoLicence) {
  for (const std::string text :
       {"", "\n\n", "BSD", "Copyright 2020 The BSD Institute. All rights reserved.",
        "This was written at MIT.", "Berkeley Software Distribution (BSD) style code",
        "All rights reserved.", "See the licence.", "Licensed under the BSD license.",
        "Redistribution and use in source and binary forms, with or without modification"}) {
    EXPECT_EQ(Read(text), kNoAssertion) << text;
  }
}

TEST(LicenseFileTest, HostileTextIsReadInBoundedTime) {
  std::string anchors;
  while (anchors.size() < (2 << 20)) {
    anchors += "redistribution and use in source and binary forms with or without modification ";
  }
  EXPECT_EQ(Read(anchors), kNoAssertion);
  EXPECT_EQ(Read(std::string(4 << 20, '\0')), kNoAssertion);
  std::string triggers;
  while (triggers.size() < (1 << 20)) triggers += "under the terms of a gnu ";
  EXPECT_EQ(Read(triggers), kNoAssertion);
  std::string many;
  while (many.size() < (1 << 20))
    many += SampleText("MIT", "not") + SampleText("GPL-3.0-only", "x");
  EXPECT_NE(Read(many), "MIT AND GPL-3.0-only");
}

}  // namespace
}  // namespace kernelmill::validator
