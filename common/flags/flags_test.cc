#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/file.h"
#include "common/flags/parser.h"
#include "common/flags/server_flags.h"
#include "common/flags/settings_file.h"

namespace kernelmill::flags {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Sets an environment variable while it lives.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_.c_str()); }

 private:
  const std::string name_;
};

struct Program {
  ServerFlags server;
  WorkerFlags worker;
  int64_t bytes = 7;
  std::optional<int> exit;
  std::string error;

  explicit Program(std::vector<std::string> words) {
    CLI::App app("", "program");
    AddServerFlags(app, &server);
    AddWorkerFlags(app, &worker);
    AsBytes(app.add_option("--cache-bytes", bytes, ""))->envname("KERNELMILL_CACHE_BYTES");
    words.insert(words.begin(), "program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    ::testing::internal::CaptureStderr();
    exit = ParseFlags(app, static_cast<int>(argv.size()), argv.data());
    error = ::testing::internal::GetCapturedStderr();
  }
};

TEST(ParseFlags, UnknownFlagNamesTheOneThatIsMeant) {
  const Program program({"--lisen", "127.0.0.1:1"});
  EXPECT_EQ(program.exit, 2);
  EXPECT_THAT(program.error, HasSubstr("--lisen: unknown option (did you mean --listen?)\n"));
  EXPECT_THAT(Program({"--frobnicate=-1"}).error, HasSubstr("--frobnicate: unknown option\n"));
  EXPECT_THAT(Program({"--slots", "-1"}).error, HasSubstr("--slots: "));
}

class FlagsTest : public ::testing::Test {
 protected:
  std::string File(const std::string& text) {
    const std::string path = dir_.path() + "/settings.yaml";
    EXPECT_TRUE(WriteFile(path, text).ok());
    return path;
  }

 private:
  TempDir dir_ = *TempDir::Create();
};

TEST_F(FlagsTest, FlagGoesBeforeEnvironmentAndThatBeforeTheFile) {
  const std::string file = File("store: file:1\ncoordinator: file:2\nname: file\n");
  const Variable coordinator("KERNELMILL_COORDINATOR", "environment:2");
  const Variable name("KERNELMILL_NAME", "environment");
  const Program program({"--config", file, "--name", "flag"});
  EXPECT_EQ(program.exit, std::nullopt) << program.error;
  EXPECT_EQ(program.worker.store, "file:1");
  EXPECT_EQ(program.worker.coordinator, "environment:2");
  EXPECT_EQ(program.worker.name, "flag");
}

TEST_F(FlagsTest, EnvironmentNamesTheFileToo) {
  const Variable config("KERNELMILL_CONFIG", File("slots: 3\n"));
  EXPECT_EQ(Program({}).worker.slots, 3);
}

TEST_F(FlagsTest, BytesHaveUnits) {
  EXPECT_EQ(Program({"--cache-bytes", "10GB"}).bytes, int64_t{10} << 30);
  EXPECT_EQ(Program({"--cache-bytes=512"}).bytes, 512);
  EXPECT_EQ(Program({"--config", File("cache-bytes: 2MiB")}).bytes, 2 << 20);
  const Variable bytes("KERNELMILL_CACHE_BYTES", "1KB");
  EXPECT_EQ(Program({}).bytes, 1024);
}

TEST_F(FlagsTest, AWrongValueNamesItsFlagAndEndsWith2) {
  const Program flag({"--slots", "many"});
  EXPECT_EQ(flag.exit, 2);
  EXPECT_THAT(flag.error, HasSubstr("--slots"));
  const Program file({"--config", File("store: s:1\nslots: 1000\n")});
  EXPECT_EQ(file.exit, 2);
  EXPECT_THAT(file.error, HasSubstr("settings.yaml:2: slots: "));
  const Variable slots("KERNELMILL_SLOTS", "0");
  const Program environment({});
  EXPECT_EQ(environment.exit, 2);
  EXPECT_THAT(environment.error, HasSubstr("slots"));
}

TEST_F(FlagsTest, AnUnknownSettingIsRefused) {
  const Program program({"--config", File("slot: 2\n")});
  EXPECT_EQ(program.exit, 2);
  EXPECT_THAT(program.error,
              HasSubstr("settings.yaml:1: slot: unknown setting (did you mean slots?)"));
  EXPECT_EQ(Program({"--config", "/nonexistent"}).exit, 2);
}

TEST(ParserTest, SetsEachKindOfFlagAndChecksItsValue) {
  const auto parse = [](std::vector<std::string> words) {
    Parser parser("", "program");
    std::vector<std::string> hosts;
    int tries = 0;
    double seconds = 0;
    bool local = false;
    parser.Add("--hosts", &hosts, "")
        .Separator(',')
        .OneArgument()
        .Check([](const std::string& host) { return host == "*" ? "any host" : ""; });
    parser.Add("--tries", &tries, "").Range(1, 3);
    parser.Add("--seconds", &seconds, "").NotNegative();
    parser.Add("--local", &local, "").Variable("KERNELMILL_LOCAL");
    parser.AddCommand("repair", "");
    words.insert(words.begin(), "program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    if (ParseFlags(parser.app(), static_cast<int>(argv.size()), argv.data()))
      return std::string("refused");
    return absl::StrCat(absl::StrJoin(hosts, "+"), " ", tries, " ", seconds, local ? " local" : "",
                        parser.HasCommand("repair") ? " repair" : "");
  };
  EXPECT_EQ(parse({"--hosts", "a,b", "--tries=2", "--seconds", "0.5"}), "a+b 2 0.5");
  const Variable local("KERNELMILL_LOCAL", "true");
  EXPECT_EQ(parse({"repair", "--tries", "3"}), " 3 0 local repair");
  for (const char* wrong : {"--hosts=a,*", "--tries=4", "--seconds=-1"}) {
    EXPECT_EQ(parse({wrong}), "refused") << wrong;
  }
}

TEST_F(FlagsTest, WithoutTlsOnlyThisMachineIsServedUnlessToldSo) {
  ServerFlags flags;
  for (const char* address : {"127.0.0.1:7070", "localhost:1", "[::1]:7070", "unix:/tmp/s"}) {
    flags.listen = address;
    EXPECT_TRUE(CheckListen(flags).ok()) << address;
  }
  for (const char* address : {"0.0.0.0:7070", "[::]:7070", "10.0.0.1:1", "store:7071"}) {
    flags.listen = address;
    EXPECT_THAT(CheckListen(flags).ToString(), AllOf(HasSubstr(address), HasSubstr("--insecure")));
  }
  flags.insecure = true;
  EXPECT_TRUE(CheckListen(flags).ok());
  flags.insecure = false;
  flags.identity.authority = "ca.crt";
  EXPECT_TRUE(CheckListen(flags).ok());
}

}  // namespace
}  // namespace kernelmill::flags
