#include "client/catalog/describe/author.h"

#include <gtest/gtest.h>

namespace kernelmill::client {
namespace {

TEST(CopyrightHolder, IsWhatStandsBehindYearsAndMarks) {
  EXPECT_EQ(CopyrightHolder("# Copyright (c) 2024, Tri Dao."), "Tri Dao");
  EXPECT_EQ(CopyrightHolder("Copyright 2023 Tri Dao, Albert Gu"), "Tri Dao, Albert Gu");
  EXPECT_EQ(CopyrightHolder("// Copyright \xc2\xa9 2019-2024 Ada GmbH. All rights reserved."),
            "Ada GmbH");
  EXPECT_EQ(CopyrightHolder("Copyright (c) 2023-present, the authors <a@b.example>"),
            "the authors");
  EXPECT_EQ(CopyrightHolder("Copyright 3M Company"), "3M Company");
  EXPECT_EQ(CopyrightHolder("Copyright"), "");
}

TEST(Author, IsWhoTheFileNamesElseTheHoldersElseTheOwner) {
  CatalogKernel kernel;
  EXPECT_EQ(AuthorOf(kernel).name, "");
  kernel.repository_url = "https://example.com/ada/kernels";
  EXPECT_EQ(AuthorOf(kernel).name, "ada");
  EXPECT_EQ(AuthorOf(kernel).evidence, "owner");
  kernel.license.copyrights = {"Copyright (c) 2024, A.", "Copyright 2023 A, B", "(c) B"};
  EXPECT_EQ(AuthorOf(kernel).name, "A, B");
  kernel.module = "__author__ = 'C'\nx = 1\n";
  EXPECT_EQ(AuthorOf(kernel).name, "C");
  EXPECT_EQ(AuthorOf(kernel).evidence, "__author__");
}

}  // namespace
}  // namespace kernelmill::client
