// Heads of files in the wordings that people write, each below a root LICENSE that is MIT.
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

// Returns the expression of a file with this head in a source with these licence files.
std::string FindIn(const Files& files, const std::string& head, const std::string& path) {
  v1::SourceTree tree;
  for (const auto& [name, content] : files) {
    v1::SourceFile& file = *tree.add_license_files();
    file.set_path(name);
    file.set_content(content);
  }
  LicenseFinder finder(tree);
  return finder.Find(path, head + "\nimport triton\n").expression();
}

// Returns the expression of a file with this head, beside LICENSE (MIT) and other files.
std::string Find(const std::string& head, const std::string& path = "src/k.py",
                 const Files& others = {}) {
  Files files = {{"LICENSE", SampleText("MIT")}};
  files.insert(files.end(), others.begin(), others.end());
  return FindIn(files, head, path);
}

TEST(LicenseHeadTest, EveryStyleOfCommentIsRead) {
  EXPECT_EQ(Find("/*\n * foo.cu\n *\n * Copyright (C) 2020 Ann\n *\n"
                 " * This program is free software; you can redistribute it and/or modify\n"
                 " * it under the terms of the GNU General Public License as published by\n"
                 " * the Free Software Foundation; either version 2 of the License, or\n"
                 " * (at your option) any later version.\n */\n",
                 "src/k.cu"),
            "GPL-2.0-or-later");
  EXPECT_EQ(Find("// Copyright Ann\n// Released under the GNU GPL, version 3.\n", "src/k.cuh"),
            "GPL-3.0-only");
  EXPECT_EQ(Find("/**\n * @file k.cu\n * @license GPL-3.0-or-later\n */\n", "src/k.cu"),
            "GPL-3.0-or-later");
  EXPECT_EQ(Find("r\"\"\"\nLicence: AGPL-3.0-only\n\"\"\"\n"), "AGPL-3.0-only");
  EXPECT_EQ(Find("# +-----+\n# | This library is free software; you can redistribute it and/or |\n"
                 "# | modify it under the terms of the GNU Lesser General Public |\n"
                 "# | License as published by the Free Software Foundation; either |\n"
                 "# | version 2.1 of the License, or (at your option) any later version. |\n"
                 "# +-----+\n"),
            "LGPL-2.1-or-later");
}

TEST(LicenseHeadTest, TagsHoldWhereverTheyStandInALine) {
  EXPECT_EQ(Find("/* k.cu -- a thing -- SPDX-License-Identifier: GPL-2.0-only */\n", "src/k.cu"),
            "GPL-2.0-only");
  EXPECT_EQ(Find("# Copyright Ann, SPDX-License-Identifier: Apache-2.0\n"), "Apache-2.0");
  EXPECT_EQ(Find("# SPDX-License-Identifier: Apache-2.0 OR MIT\n"
                 "# SPDX-License-Identifier: GPL-2.0-only OR ISC\n"),
            "(Apache-2.0 OR MIT) AND (GPL-2.0-only OR ISC)");
  EXPECT_EQ(Find("# SPDX-License-Identifier: MIT\n# SPDX-SnippetBegin\n"
                 "# SPDX-License-Identifier: GPL-3.0-only\n"),
            "MIT AND GPL-3.0-only");
}

TEST(LicenseHeadTest, NamesOfCreativeCommonsAreRead) {
  EXPECT_EQ(Find("\"\"\"Kernels.\n\nThis file is licensed under the Creative Commons "
                 "Attribution-NonCommercial 4.0 International License.\n\"\"\"\n"),
            "CC-BY-NC-4.0");
  EXPECT_EQ(Find("# This work is licensed under a Creative Commons "
                 "Attribution-NonCommercial-ShareAlike 4.0 International License.\n"),
            "CC-BY-NC-SA-4.0");
}

TEST(LicenseHeadTest, AFileThatAHeadNamesDecidesUnlessTheHeadNamesItsLicence) {
  const std::string boost =
      "// Copyright Ann 2010.\n// Distributed under the Boost Software License, Version 1.0.\n"
      "// (See accompanying file LICENSE_1_0.txt or copy at\n"
      "// http://www.boost.org/LICENSE_1_0.txt)\n";
  EXPECT_EQ(Find(boost, "src/k.hpp"), "BSL-1.0");
  EXPECT_EQ(
      Find("// Use, modification and distribution are subject to the Boost Software License,\n"
           "// Version 1.0. (See accompanying file LICENSE_1_0.txt or copy at\n"
           "// http://www.boost.org/LICENSE_1_0.txt)\n",
           "src/k.hpp"),
      "BSL-1.0");
  EXPECT_EQ(Find("# Licensed under the Apache License 2.0, see LICENSE.foo\n"), "Apache-2.0");
  EXPECT_EQ(Find("# Licensed under the Foo licence, see LICENSE.foo\n"), kNoAssertion);
  EXPECT_EQ(Find("# Licensed under the terms in LICENSE.gpl\n"), kNoAssertion);
  EXPECT_EQ(Find("# Licensed under the terms in LICENSE.gpl\n", "src/k.py",
                 {{"LICENSE.gpl", "GPL-3.0-only"}}),
            "MIT AND GPL-3.0-only");
  EXPECT_EQ(Find("# Licensed under the MIT license as amended by LICENSE-more.\n"), kNoAssertion)
      << "it is amended";
}

TEST(LicenseHeadTest, ASecondHoldersFileIsNotTheFirstsLicence) {
  EXPECT_EQ(Find("# Copyright (c) Ann\n# Licensed under the MIT license.\n\n# Toolkit\n#\n"
                 "# Copyright (C) 2020 Bob\n# For license information, see LICENSE.TXT\n"),
            kNoAssertion);
  EXPECT_EQ(Find("# Copyright (c) Ann\n# Licensed under the MIT license.\n"
                 "# Copyright (C) 2020 Bob\n# See LICENSE.foo for the license.\n"),
            kNoAssertion);
}

TEST(LicenseHeadTest, CodeOfOthersAddsItsLicence) {
  EXPECT_EQ(
      Find("# Copyright Ann, MIT License\n"
           "# Portions of this code come from foo, Copyright Bob, licensed under the GPL v3\n"),
      "MIT AND GPL-3.0-only");
  EXPECT_EQ(Find("# Adapted from https://github.com/a/b (GPL-3.0)\n"), "MIT AND GPL-3.0-only");
  EXPECT_EQ(Find("# Adapted from https://github.com/a/b (CC BY-NC 4.0)\n"), "MIT AND CC-BY-NC-4.0");
  EXPECT_EQ(Find("# Code taken from https://github.com/a/b. Original license: CC-BY-NC-SA-4.0\n"),
            kNoAssertion);
  EXPECT_EQ(
      Find("# Portions of this code are Copyright (c) 2019 Bob Corp. and are confidential.\n"),
      kNoAssertion);
}

TEST(LicenseHeadTest, BriefWordsThatKeepAFileAreTerms) {
  for (const char* head :
       {"# ACME INTERNAL USE ONLY\n", "# DO NOT DISTRIBUTE\n", "# Provided under NDA.\n",
        "# (c) Ann 2024. Not for redistribution.\n", "# Confidential and proprietary.\n",
        "# All rights reserved. No part of this file may be reproduced in any form.\n",
        "# Use of this code requires a patent license from ACME.\n",
        "# This file contains trade secrets of ACME and must not be disclosed.\n",
        "# \xe7\x89\x88\xe6\x9d\x83\xe6\x89\x80\xe6\x9c\x89\xe3\x80\x82\xe7\xa6\x81\xe6\xad\xa2"
        "\xe5\x95\x86\xe4\xb8\x9a\xe7\x94\xa8\xe9\x80\x94\xe3\x80\x82\n",
        "__license__ = \"Proprietary - do not distribute\"\n",
        "# These kernels may only be used for research.\n"}) {
    EXPECT_EQ(Find(head), kNoAssertion) << head;
  }
  EXPECT_EQ(Find("/**\n * @license\n * Copyright Ann. Internal use only.\n */\n", "src/k.cu"),
            kNoAssertion);
}

TEST(LicenseHeadTest, AnUnknownLicenceIsNotTheRootsThoughTheHeadPointsThere) {
  EXPECT_EQ(
      Find("/**\n * This program is free software, you can redistribute it and/or modify it\n"
           " * under the terms and conditions of CANN Open Software License Agreement Version\n"
           " * 2.0 (the \"License\"). You may not use this file except in compliance with the\n"
           " * License. See LICENSE in the root of the software repository for the full text.\n"
           " */\n",
           "src/k.cu"),
      kNoAssertion);
}

TEST(LicenseHeadTest, ProseThatSpeaksOfLicencesStatesNone) {
  for (const char* head :
       {"\"\"\"Scans packages and reports the license of each dependency.\n\nPackages without a "
        "license are listed as unknown; GPL packages are skipped.\n\"\"\"\n",
        "\"\"\"Downloads the weights after the user has accepted the license on the hub.\"\"\"\n",
        "\"\"\"Tests that a file with a proprietary header is rejected.\"\"\"\n",
        "\"\"\"Skips if the repo is gated: it needs a token with accepted terms of use.\"\"\"\n",
        "import torch\n\n# User code must not use the functions of this section.\n",
        "# What is here is for internal use only, and may be changed at any time without notice.\n",
        "import torch\n# The libraries are often proprietary and cannot be customized easily.\n"}) {
    EXPECT_EQ(Find(head), "MIT") << head;
  }
  EXPECT_EQ(Find("# SPDX-License-Identifier: GPL-3.0-or-later\n"
                 "\"\"\"A kernel under the GPL, which the job's licence policy rejects.\"\"\"\n"),
            "GPL-3.0-or-later");
  EXPECT_EQ(Find("import torch\n\n# The following is licensed under the GPLv2, (c) Bob\n"),
            "GPL-2.0-only")
      << "a statement";
  EXPECT_EQ(Find("\"\"\"Kernels.\n\nThis file may not be copied without our permission.\n\"\"\"\n"),
            kNoAssertion)
      << "a statement";
}

TEST(LicenseHeadTest, KnownNoticesAreHarmlessInEveryArrangement) {
  const std::string asf =
      "# Licensed to the Apache Software Foundation (ASF) under one\n"
      "# or more contributor license agreements.  See the NOTICE file\n"
      "# distributed with this work for additional information\n"
      "# regarding copyright ownership.  The ASF licenses this file\n"
      "# to you under the Apache License, Version 2.0 (the\n"
      "# \"License\"); you may not use this file except in compliance\n"
      "# with the License.  You may obtain a copy of the License at\n#\n"
      "#   http://www.apache.org/licenses/LICENSE-2.0\n";
  EXPECT_EQ(Find(asf), "Apache-2.0");
  EXPECT_EQ(Find("#!/usr/bin/env python3\n" + asf), "Apache-2.0");
  EXPECT_EQ(Find("# Copyright 2018 The Authors. All Rights Reserved.\n" + asf), "Apache-2.0");
  EXPECT_EQ(Find("# Licensed under the BSD 3-Clause License (the \"License\");\n"
                 "# you may not use this file except in compliance with the License.\n"),
            "BSD-3-Clause");
  EXPECT_EQ(
      Find("# BSD 3- Clause License Copyright (c) 2023, Bob Co., Ltd. All rights reserved.\n" +
           Commented(SampleText("BSD-3-Clause"))),
      "BSD-3-Clause");
  EXPECT_EQ(Find("# MIT licensed (see ``LICENSE`` alongside).\n"), "MIT");
  EXPECT_EQ(Find("/* Fast kernels. */\n/* BSD-2-Clause licensed */\n", "src/k.h"), "BSD-2-Clause");
  EXPECT_EQ(Find("/*\n * Licensed under the Apache License, Version 2.0\n *\n * For additional "
                 "information about the PCG random number generation scheme,\n * including its "
                 "license and other licensing options, visit\n *\n *     http://pcg-random.org\n "
                 "*/\n",
                 "src/k.h"),
            "Apache-2.0");
  EXPECT_EQ(Find("// Use of this source code is governed by a BSD-style license that can be\n"
                 "// found in the LICENSE file.\n",
                 "third/k.h", {{"third/LICENSE", SampleText("BSD-3-Clause")}}),
            "BSD-3-Clause");
}

TEST(LicenseHeadTest, AHeadInAFolderForOthersCodePointsToTheRootOfItsHolder) {
  const Files bsd = {
      {"LICENSE", "Copyright (c) Ann Labs. All rights reserved.\n\n" + SampleText("BSD-3-Clause")}};
  const auto head = [](const std::string& holder) {
    return "# Copyright (c) " + holder + ".\n# All rights reserved.\n#\n# This source code is " +
           "licensed under the BSD-style license found in the\n# LICENSE file in the root " +
           "directory of this source tree.\n";
  };
  EXPECT_EQ(FindIn(bsd, head("Ann Labs"), "third_party/k.py"), "BSD-3-Clause");
  EXPECT_EQ(FindIn(bsd, head("Bob"), "third_party/k.py"), kNoAssertion)
      << "the root of Bob's source";
}

TEST(LicenseHeadTest, CodeFromElsewhereInAFolderForOthersCodeIsNotTheRoots) {
  const Files mit = {{"LICENSE", "Copyright (c) Ann.\n\n" + SampleText("MIT")}};
  const std::string path = "third_party/k.py";
  EXPECT_EQ(FindIn(mit, "# Layers.\n", path), "MIT");
  EXPECT_EQ(FindIn(mit, "# a copy-paste from https://github.com/a/b/blob/master/k.py\n", path),
            kNoAssertion);
  EXPECT_EQ(FindIn(mit, "# see https://github.com/a/b\n", path), kNoAssertion);
}

TEST(LicenseHeadTest, ALabelNamesALicenceInShort) {
  EXPECT_EQ(Find("/*\n * Project : X\n * Author  : Ann\n * Licence : BSD-2\n */\n", "src/k.h"),
            "BSD-2-Clause");
  EXPECT_EQ(Find("# License : GPLv3\n"), "GPL-3.0-only");
  EXPECT_EQ(Find("# License: BSD\n"), kNoAssertion) << "a family, and the root is not of it";
  EXPECT_EQ(Find("# License: see LICENSE\n"), "MIT");
}

TEST(LicenseHeadTest, VariablesMayHoldANameOfALicence) {
  EXPECT_EQ(Find("__license__ = \"GPLv3\"\n"), "GPL-3.0-only");
  EXPECT_EQ(Find("__license__ = \"GPL-3.0-only\"\n"), "GPL-3.0-only");
  EXPECT_EQ(Find("__license__ = \"see LICENSE\"\n"), "MIT");
}

}  // namespace
}  // namespace kernelmill::validator
