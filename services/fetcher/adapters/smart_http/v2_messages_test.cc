#include "services/fetcher/adapters/smart_http/v2_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::fetcher {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kOne(40, '1');
const std::string kTwo(40, '2');

// Data packets; "0000" and "0001" stand for themselves.
std::string Packets(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    if (text == "0000" || text == "0001") {
      bytes += text;
    } else {
      AppendPacket(bytes, text);
    }
  }
  return bytes;
}

absl::Status ReadAll(V2Response& response, absl::string_view bytes) {
  const absl::Status read = response.Read(bytes);
  return read.ok() ? response.Finish() : read;
}

absl::Status ReadPack(const std::vector<std::string>& texts, std::string* pack = nullptr) {
  const auto sink = [&](absl::string_view bytes) {
    if (pack != nullptr) absl::StrAppend(pack, bytes);
    return absl::OkStatus();
  };
  PackResponse response(sink);
  return ReadAll(response, Packets(texts));
}

TEST(V2Request, RefsAreAskedForByPrefix) {
  EXPECT_EQ(RefsRequest({"HEAD"}),
            Packets({"command=ls-refs\n", "0001", "peel\n", "ref-prefix HEAD\n", "0000"}));
}

TEST(V2Request, CommitComesWithoutParentsAndBlobs) {
  EXPECT_EQ(FetchRequest({{kOne}, true, ""}),
            Packets({"command=fetch\n", "0001", "no-progress\n", "ofs-delta\n", "deepen 1\n",
                     "filter blob:none\n", absl::StrCat("want ", kOne, "\n"), "done\n", "0000"}));
}

TEST(V2Request, PackIsThinOnlyIfSomethingIsHad) {
  const std::string with = FetchRequest({{kOne}, true, kTwo});
  EXPECT_THAT(with, HasSubstr("thin-pack\n"));
  EXPECT_THAT(with, HasSubstr(absl::StrCat("shallow ", kTwo, "\n")));
  EXPECT_THAT(with, HasSubstr(absl::StrCat("have ", kTwo, "\n")));
  EXPECT_THAT(FetchRequest({{kOne}, true, ""}), Not(HasSubstr("thin-pack")));
}

TEST(V2Request, ObjectsAreWantedExactly) {
  const std::string body = FetchRequest({{kOne, kTwo}, false, ""});
  EXPECT_THAT(body, HasSubstr(absl::StrCat("want ", kOne, "\n0032want ", kTwo, "\n")));
  EXPECT_THAT(body, Not(HasSubstr("deepen")));
  EXPECT_THAT(body, Not(HasSubstr("filter")));
}

TEST(RefsResponse, KeepsTheRefsThatWereAskedFor) {
  RefsResponse response({"refs/tags/v1", "refs/tags/v1^{}"});
  const std::string bytes = Packets({absl::StrCat(kOne, " refs/tags/v1 peeled:", kTwo, "\n"),
                                     absl::StrCat(kTwo, " refs/tags/v10\n"), "0000"});
  ASSERT_THAT(ReadAll(response, bytes), IsOk());
  EXPECT_EQ(response.refs(), (RefIds{{"refs/tags/v1", kOne}, {"refs/tags/v1^{}", kTwo}}));
}

TEST(RefsResponse, NoRefsAreAnAnswer) {
  RefsResponse response({"HEAD"});
  EXPECT_THAT(ReadAll(response, "0000"), IsOk());
  EXPECT_TRUE(response.refs().empty());
}

TEST(RefsResponse, EmptyAndOtherAnswersAreUnimplemented) {
  for (const std::string& bytes :
       {std::string(), std::string("<html></html>"), Packets({"nospace", "0000"}),
        Packets({"# service=git-upload-pack\n", "0001"}),
        Packets({"ERR unknown command 'ls-refs'"})}) {
    RefsResponse response({"HEAD"});
    EXPECT_THAT(ReadAll(response, bytes), StatusIs(absl::StatusCode::kUnimplemented)) << bytes;
  }
}

// row 27
TEST(RefsResponse, AnswerThatIsCutShortIsUnavailable) {
  for (const char* end : {"", "0", "0008ab"}) {
    RefsResponse response({"HEAD"});
    EXPECT_THAT(ReadAll(response, absl::StrCat(Packets({kOne + " HEAD\n"}), end)),
                StatusIs(absl::StatusCode::kUnavailable));
  }
}

TEST(PackResponse, PackIsWhatTheFirstBandCarries) {
  std::string pack;
  EXPECT_THAT(ReadPack({"shallow-info\n", absl::StrCat("shallow ", kOne, "\n"), "0001",
                        "packfile\n", "\2counting\n", "\1PACK", "\1", "\1more", "0000"},
                       &pack),
              IsOk());
  EXPECT_EQ(pack, "PACKmore");
}

TEST(PackResponse, MissingObjectIsNotFoundWithTheServersWords) {
  const absl::Status status = ReadPack({absl::StrCat("ERR upload-pack: not our ref ", kOne, "\n")});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("not our ref ", kOne)));
}

TEST(PackResponse, RefusedFilterIsUnimplemented) {
  EXPECT_THAT(ReadPack({"ERR unexpected line: 'filter blob:none'"}),
              StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(ReadPack({}), StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(ReadPack({"acknowledgments\n", "NAK\n", "0000"}),
              StatusIs(absl::StatusCode::kUnimplemented));
}

// row 27
TEST(PackResponse, ErrorWhileItIsSentIsTheServersWordsInShort) {
  const absl::Status status =
      ReadPack({"packfile\n", "\1PACK", absl::StrCat("\3", std::string(5000, '\xff'))});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_LT(status.message().size(), 2000u);
}

// row 27
TEST(PackResponse, DamageThatTheServerComplainsOfIsDataLoss) {
  EXPECT_THAT(ReadPack({"packfile\n", "\2fatal: unable to read tree 00\n",
                        "\3aborting due to possible repository corruption"}),
              StatusIs(absl::StatusCode::kDataLoss));
}

// row 27
TEST(PackResponse, AnswerThatIsCutShortIsUnavailable) {
  EXPECT_THAT(ReadPack({"packfile\n", "\1PACK"}), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(ReadPack({"packfile\n"}), StatusIs(absl::StatusCode::kUnavailable));
}

// row 27
TEST(PackResponse, EndlessProgressIsGivenUp) {
  std::vector<std::string> texts = {"packfile\n"};
  texts.resize(100, absl::StrCat("\2", std::string(60'000, '.')));
  EXPECT_THAT(ReadPack(texts), StatusIs(absl::StatusCode::kFailedPrecondition));
}

// row 27
TEST(PackResponse, WhatFollowsTheEndIsRefused) {
  EXPECT_THAT(ReadPack({"packfile\n", "\1PACK", "0000", "\1more"}),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(PackResponse, SinksErrorEndsIt) {
  const auto sink = [](absl::string_view) { return absl::CancelledError("enough"); };
  PackResponse response(sink);
  EXPECT_THAT(response.Read(Packets({"packfile\n", "\1PACK"})),
              StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace kernelmill::fetcher
