#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/path.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/base/word_list.h"

namespace kernelmill {
namespace {

TEST(Hash, KnownAnswers) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(absl::BytesToHexString(Sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  // XXH3's value is part of stored data: a change here changes every dataset.
  EXPECT_EQ(StableHash64("", 0), 0x2d06800538d394c2ULL);
}

TEST(Hash, StreamEqualsWhole) {
  Sha256Stream stream;
  stream.Update("a");
  stream.Update("bc");
  EXPECT_EQ(stream.FinishHex(), Sha256Hex("abc"));
}

TEST(Url, ARepositorysKeyIsTheSameHoweverItIsWritten) {
  for (const char* name : {"https://github.com/A/B.git", "http://github.com/a/b/", "github.com/a/B",
                           "git@github.com:a/b.git", "ssh://git@github.com/a/b", "github.com:a/b",
                           "https://user:password@github.com/a/b"}) {
    EXPECT_EQ(RepositoryKey(name), "github.com/a/b") << name;
  }
  EXPECT_EQ(RepositoryKey("fla-core==0.6.0"), "fla-core");
  EXPECT_EQ(RepositoryKey("./Kernels"), "./kernels");
  EXPECT_EQ(RepositoryKey("https://git.example.org:8443/a@b"), "git.example.org:8443/a@b");
}

TEST(Url, BytesThatAreNotKeptAreEncoded) {
  EXPECT_EQ(PercentEncoded("a b/ü.py~-_+", kUnreserved), "a%20b%2F%C3%BC.py~-_%2B");
  EXPECT_EQ(PercentEncoded("a b/ü.py~-_+", kUnreservedInPath), "a%20b/%C3%BC.py~-_%2B");
  EXPECT_EQ(PercentEncoded("layer_norm-2d", "_"), "layer_norm%2D2d");
  EXPECT_EQ(PercentEncoded(absl::string_view("\0\x7f", 2), ""), "%00%7F");
}

TEST(Text, BrokenUtf8IsRepairedByteByByte) {
  EXPECT_TRUE(IsUtf8("na\xc3\xafve \xf0\x9f\x98\x80"));
  for (const char* bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(bad)) << absl::CHexEscape(bad);
    EXPECT_TRUE(IsUtf8(ToUtf8(bad)));
    const std::string between = absl::StrCat(std::string(17, 'a'), bad, std::string(9, 'b'));
    EXPECT_FALSE(IsUtf8(between)) << "between ASCII text";
    EXPECT_TRUE(IsUtf8(ToUtf8(between)));
  }
  EXPECT_EQ(ToUtf8("a\xff"
                   "b"),
            "a\xef\xbf\xbd"
            "b");
}

TEST(Text, JsonStringEscapesControlBytes) {
  EXPECT_EQ(JsonString(absl::string_view("\"\\\n\t\x01\0", 6)), "\"\\\"\\\\\\n\\t\\u0001\\u0000\"");
}

TEST(Text, ContainsFindsWordsAtBothEndsAndTheEmptyWord) {
  const std::string text = std::string(100, 'x') + "triton" + std::string(1, '\0') + "end";
  EXPECT_TRUE(Contains(text, "triton"));
  EXPECT_TRUE(Contains(text, "xtriton"));
  EXPECT_TRUE(Contains(text, "end")) << "beyond a zero byte";
  EXPECT_TRUE(Contains(text, ""));
  EXPECT_FALSE(Contains(text, "ends"));
  EXPECT_FALSE(Contains("", "a"));
}

TEST(Text, PartsOfADottedName) {
  EXPECT_EQ(FirstPart("triton.language.load"), "triton");
  EXPECT_EQ(LastPart("triton.language.load"), "load");
  EXPECT_EQ(FirstPart("load"), "load");
  EXPECT_EQ(LastPart("load"), "load");
  EXPECT_EQ(LastPart("a."), "");
}

TEST(Text, HexHasAsManyDigitsAsAreAskedFor) {
  EXPECT_TRUE(IsHex("00ffAB", 6));
  EXPECT_FALSE(IsHex("00ffAB", 5));
  EXPECT_FALSE(IsHex("00ffAg", 6));
  EXPECT_FALSE(IsHex("\xc3\xbc", 2));
  EXPECT_TRUE(IsLowerHex("00ffab", 6));
  EXPECT_FALSE(IsLowerHex("00ffAb", 6));
}

constexpr absl::string_view kWords[] = {"if", "elif", "while", "!="};

TEST(WordList, HasItsWordsAlone) {
  for (const absl::string_view word : kWords) EXPECT_TRUE(IsAmong<kWords>(word)) << word;
  for (const absl::string_view other : {"", "i", "of", "ifs", "else", "white", "==", "whiles"}) {
    EXPECT_FALSE(IsAmong<kWords>(other)) << other;
  }
  EXPECT_FALSE(IsAmong<kWords>(std::string(64 + 2, 'i'))) << "as long as a word modulo 64";
}

TEST(Path, BaseNameAndFolder) {
  EXPECT_EQ(BaseName("a/b/c.py"), "c.py");
  EXPECT_EQ(ParentFolder("a/b/c.py"), "a/b");
  EXPECT_EQ(BaseName("c.py"), "c.py");
  EXPECT_EQ(ParentFolder("c.py"), "");
  EXPECT_EQ(BaseName("a/"), "");
  EXPECT_EQ(ParentFolder("/a"), "");
}

TEST(Url, CredentialsAreLeftOutOfMessages) {
  const std::pair<const char*, const char*> urls[] = {
      {"https://a.org/x", "https://a.org/x"},
      {"https://user:pw@a.org:8/x?y#z", "https://***@a.org:8/x?y#z"},
      {"https://token@a.org/x", "https://***@a.org/x"},
      {"HTTP://user:p@w@a.org", "HTTP://***@a.org"},
      {"https://user:@a.org", "https://***@a.org"},
      {"https://user:p/w@a.org/x", "https://***@a.org/x"},
      {"https://user:p#w?@a.org/x", "https://***@a.org/x"},
      {"https://user:p w\"@a.org/x", "https://***@a.org/x"},
      {"ssh://git@a.org/x", "ssh://git@a.org/x"},
      {"git+ssh://git@a.org/x", "git+ssh://git@a.org/x"},
      {"ssh://git:pw@a.org/x", "ssh://***@a.org/x"},
      {"https://a.org:80/pkg@1.0", "https://a.org:80/pkg@1.0"},
      {"https://[::1]:80/pkg@1.0", "https://[::1]:80/pkg@1.0"},
      {"https://a.org/@scope/pkg", "https://a.org/@scope/pkg"},
      {"git@a.org:x/y", "git@a.org:x/y"},
      {"https://", "https://"},
      {"", ""}};
  for (const auto& [url, shown] : urls) {
    EXPECT_EQ(RedactedUrl(url), shown);
  }
  EXPECT_EQ(RedactedText("asked \"https://u:p@a.org/x\", then https://t@b.org: no; a@b.org"),
            "asked \"https://***@a.org/x\", then https://***@b.org: no; a@b.org");
  EXPECT_EQ(RedactedText("https://u:p@a.org/?to=http://v:q@b.org"),
            "https://***@a.org/?to=http://***@b.org");
  EXPECT_EQ(RedactedText("<https://a.org:x> c@d"), "<https://a.org:x> c@d");
  EXPECT_EQ(RedactedText("https://a.org: user@b.org"), "https://a.org: user@b.org");
}

TEST(Clock, MonotonicNowNeverGoesBack) {
  const absl::Duration before = MonotonicNow();
  EXPECT_GT(before, absl::ZeroDuration());
  EXPECT_GE(MonotonicNow(), before);
}

TEST(Status, AnnotateKeepsTheCode) {
  const absl::Status status = Annotate(absl::NotFoundError("gone"), "blob 7");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "blob 7: gone");
}

TEST(File, LimitIsEnforced) {
  auto dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  const std::string path = dir->path() + "/f";
  ASSERT_TRUE(WriteFile(path, "12345").ok());
  EXPECT_EQ(*ReadFile(path, 5), "12345");
  EXPECT_EQ(ReadFile(path, 4).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReadFile(path + "x", 4).status().code(), absl::StatusCode::kNotFound);
}

// A pipe would hang the reader: on opening until a writer comes, then until the writer ends.
TEST(File, WhatIsNotARegularFileIsRefusedAtOnce) {
  const auto dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  const std::string pipe = dir->path() + "/pipe", link = dir->path() + "/link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::symlink(pipe.c_str(), link.c_str()), 0);
  const auto refusal = [](const std::string& path) {
    const absl::Status status = ReadFile(path, 1 << 20).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << path;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal(pipe), pipe + ": must be a regular file, not a pipe");
  EXPECT_EQ(refusal(link), link + ": must be a regular file, not a pipe");
  const FileDescriptor writer(::open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(refusal(pipe), pipe + ": must be a regular file, not a pipe");
  EXPECT_EQ(refusal(dir->path()), dir->path() + ": must be a regular file, not a folder");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: must be a regular file, not a device");
  const FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  const std::string socket = dir->path() + "/socket";
  socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(refusal(socket), socket + ": must be a regular file, not a socket");
}

TEST(File, ALinkAndAFileOfTheKernelAreRegular) {
  const auto dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  ASSERT_TRUE(WriteFile(dir->path() + "/f", "12345").ok());
  ASSERT_EQ(::symlink("f", (dir->path() + "/link").c_str()), 0);
  EXPECT_EQ(*ReadFile(dir->path() + "/link", 5), "12345");
  EXPECT_FALSE(ReadFile("/proc/self/stat", 1 << 16)->empty());
}

// A job file may be "-", standard input, which a shell makes a pipe.
TEST(File, StandardInputMayBeAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const FileDescriptor kept(::dup(STDIN_FILENO));
  ASSERT_GE(::dup2(ends[0], STDIN_FILENO), 0);
  ::close(ends[0]);
  std::thread writer([&] {
    ::usleep(50'000);  // a reader that does not wait would see an error or an end
    EXPECT_TRUE(WriteAll(ends[1], "12345", "pipe").ok());
    ::close(ends[1]);
  });
  const absl::StatusOr<std::string> text = ReadFile("/dev/stdin", 5);
  writer.join();
  ASSERT_GE(::dup2(kept.get(), STDIN_FILENO), 0);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "12345");
}

TEST(FileDescriptor, IsClosedOnceByItsLastOwner) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  FileDescriptor read(fds[0]);
  FileDescriptor write(fds[1]);
  ASSERT_TRUE(WriteAll(write.get(), "abc", "pipe").ok());
  FileDescriptor moved(std::move(write));
  EXPECT_FALSE(write.is_open());
  ASSERT_TRUE(moved.is_open());
  moved = FileDescriptor();  // closes: the other end sees the end
  char bytes[8];
  EXPECT_EQ(::read(read.get(), bytes, sizeof(bytes)), 3);
  EXPECT_EQ(::read(read.get(), bytes, sizeof(bytes)), 0);
  const int fd = read.Release();
  EXPECT_EQ(read.Close(), 0) << "nothing is open";
  EXPECT_EQ(::close(fd), 0) << "it was ours";
}

TEST(File, TempDirIsRemovedWithItsContent) {
  std::string path;
  {
    auto dir = TempDir::Create();
    ASSERT_TRUE(dir.ok());
    path = dir->path();
    ASSERT_TRUE(WriteFile(path + "/f", "x").ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(File, TempDirUnderARelativeFolderHasAnAbsolutePath) {
  auto dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir->path());
  auto inner = TempDir::Create("a/b");
  std::filesystem::current_path(before);
  ASSERT_TRUE(inner.ok());
  EXPECT_TRUE(std::filesystem::is_directory(inner->path()));
}

}  // namespace
}  // namespace kernelmill
