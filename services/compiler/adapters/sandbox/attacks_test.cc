// Attacks on both layers by plain Python: a confined process forks a child of sandbox.py for each.
#include "services/compiler/adapters/sandbox/attacks/attacks.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/compiler/adapters/sandbox/confined_process.h"
#include "services/compiler/adapters/sandbox/support.h"
#include "services/compiler/adapters/sandbox/system_python.h"

namespace kernelmill::compiler {
namespace {

using ::kernelmill::testing::IsOk;

// Runs modules of descriptor 3, one in each line, as a zygote does. Prints the outcome of each, and
// what the next kernel sees: "refused TAB same".
constexpr char kDriver[] = R"(
import base64, dataclasses, json, os, signal, sys, types
lines = os.fdopen(3).read().splitlines()
harness = sys.modules["kernelmill_harness"] = types.ModuleType("kernelmill_harness")
for name in ("rights", "scratch", "sandbox"):
    module = types.ModuleType("kernelmill_harness." + name)
    sys.modules[module.__name__] = harness.__dict__[name] = module
    exec(base64.b64decode(lines.pop(0)), module.__dict__)
sandbox = harness.sandbox
layer = sandbox.Layer(execute=os.environ["LAYER"] == "executes", seconds=4, cpu_seconds=2, memory_bytes=1 << 30, file_bytes=64 << 20)

def load(text):
    try:
        exec(compile(text, "attack.py", "exec"), {"__name__": "attack"})
    except PermissionError as error:
        return f"refused {error}".encode()
    except OSError as error:
        return f"{'ended' if error.errno in (24, 27) else 'OSError'} {error}".encode()
    return b"contained"

def next_kernel():
    opened = [n for n in range(64) if not is_closed(n)]
    return repr([sorted(os.listdir()), sorted(set(os.environ) - {"LC_CTYPE"}), opened, os.getcwd() == os.environ["HOME"],
                 hasattr(json, "poisoned"), sys.meta_path[0], callable(open), signal.pthread_sigmask(0, []),
                 os.umask(0)]).encode()

def is_closed(number):
    try:
        os.fstat(number)
        return False
    except OSError:
        return True

sandbox.protect_zygote()
first = sandbox.run(next_kernel, layer)
attacked = dataclasses.replace(layer, strict=os.environ["LAYER"] == "strict")
for line in lines:
    came = sandbox.run(lambda: load(base64.b64decode(line)), attacked)
    after = sandbox.run(next_kernel, layer)
    text = came.data.decode("utf-8", "replace") if came.kind in ("ok", "error") else came.kind
    same = "same" if after.kind == "ok" and after.data == first.data else f"{after} instead of {first}"
    os.write(4, f"{came.limit} {text}\t{same}".replace("\n", " ").encode() + b"\n")
)";

// The layer that the attacks run in: that of a module being loaded, the same where a refusal ends
// it, that of the compiler's own programs, or none.
enum class Layer { kModules, kStrict, kExecutes, kNone };

absl::string_view GetName(Layer layer) {
  if (layer == Layer::kStrict) return "strict";
  return layer == Layer::kExecutes ? "executes" : "modules";
}

struct Outcome {
  std::string text;  // "False refused [Errno 13] ...", "True cpu"
  std::string next;  // "same"
};

std::string ReadAll(int fd) {
  std::string text(1 << 16, '\0'), all;
  for (ssize_t n = 0; (n = ::read(fd, text.data(), text.size())) > 0;) all.append(text, 0, n);
  return all;
}

// Returns the outcomes of the attacks, up to the one that ended the process.
std::vector<Outcome> RunAttacks(const std::vector<Attack>& attacks, Layer layer,
                                SandboxLimits limits, Ending* ending, bool private_scratch = true) {
  SystemPython python;
  python.policy().limits = limits;
  python.policy().unsafe_no_sandbox = layer == Layer::kNone;
  python.policy().private_scratch = layer != Layer::kNone && private_scratch;
  std::string jobs;
  for (const char* module : {"rights", "scratch", "sandbox"}) {
    const auto text = ReadFile(absl::StrCat(KM_SANDBOX "/", module, ".py"), 1 << 20);
    EXPECT_THAT(text, IsOk());
    absl::StrAppend(&jobs, absl::Base64Escape(*text), "\n");
  }
  for (const Attack& attack : attacks)
    absl::StrAppend(&jobs, absl::Base64Escape(attack.module), "\n");
  absl::StatusOr<TempDir> folder = TempDir::Create();
  EXPECT_THAT(WriteFile(folder->path() + "/jobs", jobs), IsOk());
  const FileDescriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const FileDescriptor file(::open((folder->path() + "/jobs").c_str(), O_RDONLY | O_CLOEXEC));
  int fds[2];
  EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  const FileDescriptor results(fds[0]);
  FileDescriptor write(fds[1]);
  auto process =
      ConfinedProcess::Start({{kSystemPython, "-I", "-B", "-c", kDriver},
                              {"PATH=/usr/bin:/bin", absl::StrCat("LAYER=", GetName(layer))},
                              {null.get(), null.get(), STDERR_FILENO, file.get(), write.get()}},
                             python.policy());
  EXPECT_THAT(process, IsOk());
  write.Close();
  std::vector<Outcome> outcomes;
  for (const absl::string_view line :
       absl::StrSplit(ReadAll(results.get()), '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    outcomes.push_back({parts.first, parts.second});
  }
  *ending = (*process)->Wait();
  return outcomes;
}

bool CameAsItMust(const Attack& attack, const std::string& text) {
  switch (attack.fate) {
    case Fate::kRefused:
      return absl::StartsWith(text, "False refused ") || text == "False forbidden" ||
             text == "False garbled";
    case Fate::kSilenced:
      return text == "False exit" || text == "False signal";
    case Fate::kEnded:
      return absl::StartsWith(text, "True ") || absl::StartsWith(text, "False ended ");
    case Fate::kContained:
      return text == "False contained";
    case Fate::kOverrun:
    case Fate::kForged:
      return false;
  }
  return false;
}

class AttacksTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const absl::Status status = CheckSandbox(); !status.ok()) GTEST_SKIP() << status;
  }
};

void ExpectStopped(const std::string& file, Layer layer) {
  absl::StatusOr<std::unique_ptr<Victim>> victim = Victim::Create();
  ASSERT_THAT(victim, IsOk());
  const std::vector<Attack> attacks = ListAttacks(file, (*victim)->Description());
  ASSERT_FALSE(attacks.empty());
  Ending ending;
  const std::vector<Outcome> outcomes = RunAttacks(attacks, layer, {}, &ending);
  ASSERT_EQ(outcomes.size(), attacks.size()) << GetName(ending.reason) << " " << ending.detail;
  for (size_t i = 0; i < attacks.size(); ++i) {
    SCOPED_TRACE(attacks[i].name);
    EXPECT_TRUE(CameAsItMust(attacks[i], outcomes[i].text)) << outcomes[i].text;
    EXPECT_EQ(outcomes[i].next, "same");
  }
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_THAT((*victim)->Unharmed(), IsOk());
}

// The child cannot even set up its descriptors: the kernel must not be blamed.
TEST(ConfinedChildTest, AChildThatCannotBeConfinedIsTheMachinesFault) {
  if (const absl::Status status = CheckSandbox(); !status.ok()) GTEST_SKIP() << status;
  SandboxLimits limits;
  limits.open_files = 12;
  Ending ending;
  const std::vector<Outcome> outcomes =
      RunAttacks({{.name = "none", .module = "pass"}}, Layer::kModules, limits, &ending);
  ASSERT_EQ(outcomes.size(), 1) << GetName(ending.reason) << " " << ending.detail;
  EXPECT_EQ(outcomes[0].text, "False refused");
  EXPECT_THAT(outcomes[0].next, ::testing::HasSubstr("it ended before it was confined"));
}

TEST_P(AttacksTest, EachIsStoppedAndTheNextKernelGoesOn) {
  ExpectStopped(GetParam(), Layer::kModules);
}

INSTANTIATE_TEST_SUITE_P(Files, AttacksTest,
                         ::testing::Values("channel", "files", "limits", "machine", "network",
                                           "next_kernel"),
                         [](const auto& info) { return info.param; });

// However it hides the refusal. The harness refuses attacks on its channel itself.
TEST_P(AttacksTest, ARefusalEndsAStrictChild) {
  if (GetParam() == "channel") return;
  absl::StatusOr<std::unique_ptr<Victim>> victim = Victim::Create();
  ASSERT_THAT(victim, IsOk());
  std::vector<Attack> attacks;
  for (Attack& attack : ListAttacks(GetParam(), (*victim)->Description())) {
    if (attack.fate == Fate::kRefused) attacks.push_back(std::move(attack));
  }
  Ending ending;
  const std::vector<Outcome> outcomes = RunAttacks(attacks, Layer::kStrict, {}, &ending);
  ASSERT_EQ(outcomes.size(), attacks.size()) << GetName(ending.reason) << " " << ending.detail;
  for (size_t i = 0; i < attacks.size(); ++i) {
    EXPECT_EQ(outcomes[i].text, "False forbidden") << attacks[i].name;
  }
}

class BackendAttacksTest : public AttacksTest {};

// Attacks by the compiler's programs: a kernel's text might exploit ptxas.
TEST_F(BackendAttacksTest, FilesAndTheNetworkAreOutOfReachOfPrograms) {
  ExpectStopped("files", Layer::kExecutes);
  ExpectStopped("network", Layer::kExecutes);
}

// Proves that the attacks are real: without the sandbox they succeed.
TEST(UnconfinedAttacksTest, AttacksSucceed) {
  for (const char* file : {"files", "network"}) {
    for (size_t i = 0; i < ListAttacks(file, "").size(); ++i) {
      absl::StatusOr<std::unique_ptr<Victim>> victim = Victim::Create();
      ASSERT_THAT(victim, IsOk());
      const Attack attack = ListAttacks(file, (*victim)->Description())[i];
      Ending ending;
      const std::vector<Outcome> outcomes = RunAttacks({attack}, Layer::kNone, {}, &ending);
      ASSERT_EQ(outcomes.size(), 1);
      EXPECT_FALSE(absl::StartsWith(outcomes[0].text, "False refused"))
          << attack.name << ": " << outcomes[0].text;
    }
  }
}

class WatcherTest : public AttacksTest {};

TEST_F(WatcherTest, WhatTakesTooMuchEndsAllOfIt) {
  SandboxLimits limits;
  limits.scratch_bytes = 64 << 20;
  limits.scratch_entries = 1000;
  absl::StatusOr<std::unique_ptr<Victim>> victim = Victim::Create();
  ASSERT_THAT(victim, IsOk());
  for (const Attack& attack : ListAttacks("watcher", (*victim)->Description())) {
    SCOPED_TRACE(attack.name);
    Ending ending;
    EXPECT_EQ(
        RunAttacks({attack}, Layer::kModules, limits, &ending, /*private_scratch=*/false).size(),
        0);
    EXPECT_TRUE(ending.limit()) << GetName(ending.reason);
  }
}

}  // namespace
}  // namespace kernelmill::compiler
