#include "services/validator/core/license/words/notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/spdx/text/words.h"

namespace kernelmill::validator {
namespace {

using spdx::SentenceWords;

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
