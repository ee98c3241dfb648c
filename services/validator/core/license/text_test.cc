#include "services/validator/core/license/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/spdx/text/words.h"
#include "services/validator/core/license/files.h"
#include "services/validator/core/license/notice.h"
#include "services/validator/core/license/samples.h"

namespace kernelmill::validator {
namespace {

using spdx::SentenceWords;

// What a LICENSE file with this text comes to.
std::string Read(const std::string& text) {
  const LicenseFinding finding = ReadLicenseFile(text);
  return finding.license.has_value() ? finding.license->ToString() : kNoAssertion;
}

TEST(LicenseTextTest, RelativesAreToldApart) {
  const std::string mit = SampleText("MIT");
  EXPECT_EQ(Read(mit), "MIT");
  EXPECT_EQ(Read(SampleText("MIT-0")), "MIT-0");
  EXPECT_EQ(Read(SampleText("BSD-2-Clause")), "BSD-2-Clause");
  EXPECT_EQ(Read(SampleText("BSD-3-Clause")), "BSD-3-Clause");
  EXPECT_EQ(Read(SampleText("BSD-4-Clause")), "BSD-4-Clause");
  EXPECT_EQ(Read(SampleText("ISC")), "ISC");
  EXPECT_EQ(Read(SampleText("0BSD")), "0BSD");
}

TEST(LicenseTextTest, WordsSlippedIntoALicenceMakeItAnother) {
  std::string more;
  for (int i = 0; i < 30; ++i) more += "unless the licensor says otherwise ";
  for (const std::string id : {"MIT", "BSD-2-Clause", "Apache-2.0"}) {
    EXPECT_EQ(Read(SampleText(id, more)), kNoAssertion) << id;
    EXPECT_EQ(Read(SampleText(id, "for noncommercial purposes")), kNoAssertion) << id;
    EXPECT_EQ(Read(SampleText(id, "not")), kNoAssertion) << id;
  }
  EXPECT_EQ(Read("Permission is hereby granted, free of charge, to any person obtaining a copy"),
            kNoAssertion);
}

TEST(LicenseTextTest, ARightTakenOutMakesItAnother) {
  std::string mit = SampleText("MIT");
  mit.replace(mit.find("sell"), 4, "");
  EXPECT_EQ(Read(mit), kNoAssertion);
}

TEST(LicenseTextTest, NamesAndTitlesMayDiffer) {
  std::string bsd = SampleText("BSD-3-Clause");
  const std::string holder = "the copyright holder nor the names";
  for (char& c : bsd) c = c == '\n' ? ' ' : c;
  bsd.replace(bsd.find(holder), holder.size(), "Facebook nor Meta Platforms Inc nor the names");
  EXPECT_EQ(Read("The BSD Licence of X\n\nCopyright (c) 2020 X\n\n" + bsd), "BSD-3-Clause");
}

TEST(LicenseTextTest, EvidenceSaysWhereWhichTextAndHowAlike) {
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
  ASSERT_EQ(altered.evidence.size(), 1u);
  EXPECT_EQ(altered.evidence[0].expression(), "");
  EXPECT_EQ(altered.evidence[0].text(), "ISC");
  EXPECT_LT(altered.evidence[0].score(), 1.0);
}

TEST(LicenseTextTest, RestrictionsBesideALicenceAreKept) {
  EXPECT_EQ(Read(SampleText("MIT") + "For non-commercial use."),
            "MIT AND LicenseRef-NonCommercial");
  EXPECT_EQ(Read("\"Commons Clause\" License Condition v1.0\n\n" + SampleText("Apache-2.0")),
            "Apache-2.0 AND LicenseRef-Commons-Clause");
}

TEST(LicenseTextTest, AppendedLicencesHoldTogether) {
  EXPECT_EQ(Read(SampleText("Apache-2.0") + SampleText("BSD-3-Clause") + SampleText("Apache-2.0")),
            "Apache-2.0 AND BSD-3-Clause");
  EXPECT_EQ(Read(SampleText("Apache-2.0") + "\nLLVM Exceptions to the Apache 2.0 License ----\n"),
            "Apache-2.0 WITH LLVM-exception");
  EXPECT_EQ(Read(SampleText("BSD-3-Clause") +
                 "\nContributions since 2017 are licensed under the Apache License, Version 2.0."),
            "BSD-3-Clause AND Apache-2.0");
}

TEST(LicenseTextTest, AChoiceOfTextsIsAnOr) {
  EXPECT_EQ(Read("This is dual licensed: choose one of the two below.\n\n" + SampleText("MIT") +
                 "\n" + SampleText("Apache-2.0")),
            "MIT OR Apache-2.0");
}

TEST(LicenseTextTest, TheGnuTextIsOrLaterWhereTheWordsAroundItSaySo) {
  EXPECT_EQ(Read(SampleText("GPL-3.0-only")), "GPL-3.0-only");
  EXPECT_EQ(Read("X is licensed under the GNU General Public License, either version 3 of the\n"
                 "License, or (at your option) any later version.\n\n" +
                 SampleText("GPL-3.0-only")),
            "GPL-3.0-or-later");
}

TEST(LicenseTextTest, ALicenceAmidMuchOtherTextIsLessSure) {
  std::string prose;
  for (int i = 0; i < 500; ++i) prose += "words about the project ";
  const LicenseFinding alone =
      ReadLicenseFile("MIT License\n\nCopyright (c) X\n\n" + SampleText("MIT"));
  const LicenseFinding amid = ReadLicenseFile(prose + SampleText("MIT"));
  EXPECT_EQ(alone.confidence, 1.0);
  EXPECT_LT(amid.confidence, 0.5);
  EXPECT_GT(amid.confidence, 0.0);
}

TEST(LicenseTextTest, MentionsAreNoLicence) {
  for (const std::string text :
       {"", "\n\n", "BSD", "Copyright 2020 The BSD Institute. All rights reserved.",
        "This was written at MIT.", "Berkeley Software Distribution (BSD) style code",
        "All rights reserved.", "See the licence.", "Licensed under the BSD license.",
        "Redistribution and use in source and binary forms, with or without modification"}) {
    EXPECT_EQ(Read(text), kNoAssertion) << text;
  }
}

TEST(LicenseTextTest, HostileTextIsReadInBoundedTime) {
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
  EXPECT_EQ(Read(many), kNoAssertion);
}

std::string Own(const std::string& text) {
  const Notice notice = ReadNotice(SentenceWords(text));
  if (notice.own.empty()) return "";
  return (notice.choice ? SpdxExpression::Any(notice.own) : SpdxExpression::All(notice.own))
      .ToString();
}

TEST(LicenseNoticeTest, NoticesNameLicences) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Licensed under the Apache License, Version 2.0 (the \"License\");", "Apache-2.0"},
      {"The ASF licenses this file to You under the Apache License, Version 2.0", "Apache-2.0"},
      {"Licensed under the MIT license.", "MIT"},
      {"Licensed under MIT", "MIT"},
      {"licensed under The MIT License [see LICENSE for details]", "MIT"},
      {"Released under a 3-clause BSD license", "BSD-3-Clause"},
      {"is licensed under the BSD 2-Clause \"Simplified\" License", "BSD-2-Clause"},
      {"distributed under the terms of the GNU General Public License as published by the Free "
       "Software "
       "Foundation; either version 3 of the License, or (at your option) any later version.",
       "GPL-3.0-or-later"},
      {"you can redistribute it and/or modify it under the terms of the GNU General Public License "
       "as "
       "published by the Free Software Foundation; version 2 of the License.",
       "GPL-2.0-only"},
      {"under the terms of the GNU Lesser General Public License version 2.1 as published by",
       "LGPL-2.1-only"},
      {"it is licensed under the GNU Affero General Public License v3.0", "AGPL-3.0-only"},
      {"Released under GPLv2 or later", "GPL-2.0-or-later"},
      {"This is licensed under the GPL.", "GPL-1.0-or-later"},
      {"This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0.",
       "MPL-2.0"},
      {"Licensed under either of Apache License, Version 2.0 or MIT license at your option.",
       "Apache-2.0 OR MIT"},
      {"Dual licensed under the MIT and BSD-3-Clause licenses", "MIT OR BSD-3-Clause"},
      {"available under the Apache License v2.0 with LLVM Exceptions.",
       "Apache-2.0 WITH LLVM-exception"},
      {"Licensed under the Boost Software License, Version 1.0.", "BSL-1.0"},
      {"licensed under the Business Source License 1.1", "BUSL-1.1"},
      {"Most of it is licensed under MIT, however portions are not", "MIT"},
      {"given under the terms of the NumPy License.", "BSD-3-Clause"},
      {"may be used and distributed in accordance with the terms of the Llama 3 Community License "
       "Agreement.",
       "LicenseRef-Llama-Community"},
      {"To the extent possible under law, the author has dedicated all copyright and related and "
       "neighboring rights to this software to the public domain worldwide.",
       "CC0-1.0"},
      {"developed under MIT supervision", ""},
      {"We ran it under BSD and Linux.", ""},
      {"Copyright MIT, Apache and BSD people", ""},
  };
  for (const auto& [text, expression] : cases) EXPECT_EQ(Own(text), expression) << text;
}

TEST(LicenseNoticeTest, OthersCodeIsKeptApart) {
  for (const std::string text :
       {"This file incorporates code from Unsloth licensed under the Apache License, Version 2.0.",
        "Quack (adapted under Apache-2.0): the source",
        "adapted from Quack (Apache-2.0; see NOTICE)"}) {
    const Notice notice = ReadNotice(SentenceWords(text));
    EXPECT_TRUE(notice.own.empty()) << text;
    ASSERT_EQ(notice.portions.size(), 1u) << text;
    EXPECT_EQ(notice.portions[0].ToString(), "Apache-2.0");
  }
  const Notice unclear =
      ReadNotice(SentenceWords("adapted from x, licensed under a BSD-style license"));
  ASSERT_EQ(unclear.portions.size(), 1u);
  EXPECT_EQ(unclear.portions[0].ToString(), "LicenseRef-unclear");
}

TEST(LicenseNoticeTest, VagueNamesAreFamilies) {
  EXPECT_THAT(
      ReadNotice(SentenceWords("licensed under the BSD-style license found in LICENSE")).families,
      ::testing::ElementsAre("BSD-"));
  EXPECT_THAT(ReadNotice(SentenceWords("licensed under the Apache License.")).families,
              ::testing::ElementsAre("Apache-"));
}

TEST(LicenseNoticeTest, BareNamesMustBeTheWholeText) {
  const auto name = [](const std::string& text) {
    const Notice notice = ReadLicenseName(text);
    return notice.own.empty() ? "" : notice.own[0].ToString();
  };
  EXPECT_EQ(name("The MIT License (MIT)"), "MIT");
  EXPECT_EQ(name("BSD 3-Clause License"), "BSD-3-Clause");
  EXPECT_EQ(name("Apache License 2.0"), "Apache-2.0");
  EXPECT_EQ(name("GNU General Public License v3 or later (GPLv3)"), "GPL-3.0-or-later");
  EXPECT_EQ(name("ISC License (ISCL)"), "ISC");
  EXPECT_EQ(name("BSD"), "");
  EXPECT_EQ(name("MIT and some words"), "");
  EXPECT_EQ(name(""), "");
}

}  // namespace
}  // namespace kernelmill::validator
