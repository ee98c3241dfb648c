// Attacks by modules that are compiled: on real Triton, through both layers of the sandbox.
#include "services/compiler/adapters/sandbox/attacks/attacks.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "services/compiler/adapters/toolchain/testing/toolchain_fixture.h"

namespace kernelmill::compiler {
namespace {

KernelJob AttackJob(const std::string& toolchain, const Attack& attack) {
  KernelJob job = AddJob(toolchain);
  job.module = absl::StrCat(attack.module, job.module);
  job.targets = {"cuda:90"};
  job.max_seconds = 2;
  return job;
}

// Formats everything of a report that goes into a record.
std::string Bytes(const absl::StatusOr<KernelReport>& report) {
  if (!report.ok()) return report.status().ToString();
  std::string bytes = report->module_import.SerializeAsString();
  for (const TargetReport& target : report->targets) {
    absl::StrAppend(&bytes, target.result.SerializeAsString(),
                    target.signature.SerializeAsString());
    for (const v1::IrText& text : target.kept) absl::StrAppend(&bytes, text.text());
  }
  return bytes;
}

void ExpectFate(const Attack& attack, const KernelReport& report) {
  const std::string& error = report.module_import.error();
  switch (attack.fate) {
    case Fate::kRefused:
      EXPECT_TRUE(absl::StartsWith(error, "sandbox: ")) << error;
      break;
    case Fate::kSilenced:
      EXPECT_TRUE(error == "no answer" || absl::StartsWith(error, "signal ")) << error;
      break;
    case Fate::kEnded:
      EXPECT_TRUE(absl::StartsWith(error, "limit: ")) << error;
      break;
    case Fate::kOverrun:
      // A private scratch folder has no room left.
      EXPECT_TRUE(absl::StartsWith(error, "limit: ") || absl::StartsWith(error, "sandbox: "))
          << error;
      break;
    case Fate::kContained:
    case Fate::kForged:
      // Its own record may show what it did to itself.
      return;
  }
  EXPECT_FALSE(report.module_import.ok());
  EXPECT_TRUE(report.targets.empty());
}

class ToolchainAttacksTest : public ToolchainTest {};

TEST_P(ToolchainAttacksTest, EachIsStoppedAndTheNextKernelHasTheSameBytes) {
  KernelJob add = AddJob(GetParam());
  add.keep = {"ttir", "ptx"};
  add.targets = {"cuda:90"};
  const auto unharmed = compiler_->Compile(add);
  ASSERT_TRUE(unharmed.ok()) << unharmed.status();
  ASSERT_EQ(unharmed->targets.at(0).result.status(), v1::COMPILE_STATUS_OK);
  const std::string quiet = Bytes(unharmed);
  for (const std::string& file : AttackFiles()) {
    const size_t count = ListAttacks(file, "").size();
    for (size_t i = 0; i < count; ++i) {
      absl::StatusOr<std::unique_ptr<Victim>> victim = Victim::Create();
      ASSERT_TRUE(victim.ok()) << victim.status();
      const Attack attack = ListAttacks(file, (*victim)->Description())[i];
      SCOPED_TRACE(attack.name);
      const auto report = compiler_->Compile(AttackJob(GetParam(), attack));
      ASSERT_TRUE(report.ok()) << report.status();
      ExpectFate(attack, *report);
      EXPECT_EQ(Bytes(compiler_->Compile(add)), quiet);
      EXPECT_TRUE((*victim)->Unharmed().ok()) << (*victim)->Unharmed();
    }
  }
}

TEST_P(ToolchainAttacksTest, ANeverEndingCompileIsALimit) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.max_seconds = 2;
  absl::StrAppend(&job.module, R"(

@triton.jit
def endless(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for k in tl.static_range(1000000000):
        tl.store(out + i + k, tl.load(x + i + k))
)");
  job.function = "endless";
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->module_import.ok());
  ASSERT_EQ(report->targets.size(), 1);
  EXPECT_EQ(report->targets[0].result.stage(), "limit") << report->targets[0].result.message();
}

// A report with a number that does not fit the record would fail the task with all its kernels.
TEST_P(ToolchainAttacksTest, MoreSharedMemoryThanCanBeCountedIsAnErrorOfTheKernel) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.max_seconds = 2;
  job.gluon = true;
  job.tries[0].signature.clear_constexprs();
  job.function = "large";
  job.module = R"(
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def large(x, y, out, n):
    row: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    block: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    rows = gl.allocate_shared_memory(gl.float32, [1 << 22, 128], row)
    rows.index(0).store(gl.full([128], 1.0, gl.float32, block))
)";
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->targets.size(), 1);
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_ERROR);
}

// A kernel that does not compile.
constexpr absl::string_view kBad = R"(
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    tl.store(out, tl.no_such_function(x))
)";

void ExpectNotOk(Compiler& compiler, const KernelJob& job) {
  const auto report = compiler.Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  for (const TargetReport& target : report->targets)
    EXPECT_NE(target.result.status(), v1::COMPILE_STATUS_OK);
}

TEST_P(ToolchainAttacksTest, NoVerdictIsForged) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  for (const Attack& attack : ListAttacks("forge", "")) {
    SCOPED_TRACE(attack.name);
    job.max_seconds = 20;
    job.module =
        absl::StrCat(attack.module, attack.name, "(None)\n", kBad, "\n", attack.name, "(add)\n");
    ExpectNotOk(*compiler_, job);
  }
}

// The kernel's own text, which Triton's frontend interprets, reaches for Python.
TEST_P(ToolchainAttacksTest, AKernelsTextIsKeptWithinTriton) {
  constexpr absl::string_view kPatch =
      "\"import triton.language as tl; tl.no_such_function = tl.load\"";
  for (const std::string& reach : {
           absl::StrCat("tl.core.builtins.exec(", kPatch, ")"),
           absl::StrCat("getattr(tl.core, 'builtins').exec(", kPatch, ")"),
           absl::StrCat("tl.load.__globals__['builtins'].exec(", kPatch, ")"),
           absl::StrCat("getattr(tl.load, '__globals__')['builtins'].exec(", kPatch, ")"),
           absl::StrCat("tl.core.inspect.sys.modules['builtins'].exec(", kPatch, ")"),
           absl::StrCat("helper(", kPatch, ")"),
           std::string("forged(x)"),
           std::string("evaluated()"),
           std::string("python.fn()"),
           std::string("getattr(python, 'fn')()"),
           std::string("with python.fn():\n        pass"),
           std::string("with closing.fn():\n        pass"),
       }) {
    SCOPED_TRACE(reach);
    KernelJob job = AddJob(GetParam());
    job.targets = {"cuda:90"};
    job.module = absl::StrCat(R"(
import triton
import triton.language as tl

helper = exec

@tl.core.builtin
def forged(x, _semantic=None):
    tl.no_such_function = tl.load
    return None

@triton.constexpr_function
def evaluated():
    tl.no_such_function = tl.load
    return 1

@triton.jit
def python(_semantic=None):
    import triton.language
    triton.language.no_such_function = triton.language.load

@triton.constexpr_function
def closing(_semantic=None):
    import triton.language
    triton.language.no_such_function = triton.language.load

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    )",
                              reach, "\n    tl.store(out, tl.no_such_function(x))\n");
    ExpectNotOk(*compiler_, job);
  }
}

// A name with two functions means the one of the record.
TEST_P(ToolchainAttacksTest, TheVerdictIsOfTheRecordsText) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.source = std::string(absl::StripPrefix(kBad, "\n"));
  absl::StrAppend(&job.module, "\ngood = add\n", kBad, "\nadd = good\n");
  ExpectNotOk(*compiler_, job);
}

// Values of the module that compilers need cross all the same.
TEST_P(ToolchainAttacksTest, WhatAKernelUsesOfItsModuleIsKnown) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.module = R"(
import math
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language import float32 as f32

SIZE = tl.constexpr(4)
NAMES = tl.constexpr(("a", "b"))
SMALL = tl.constexpr(-math.inf)
TYPE = tl.constexpr(torch.float32)
LOAD = tl.load

@triton.constexpr_function
def twice(n, by=2):
    return n * by

@tl.constexpr
def widen(type):
    return tl.int64 if type == tl.int32 else type

def make(by):
    @triton.jit
    def scaled(x, k: tl.constexpr = SIZE):
        return x * by * k
    return scaled

scaled = make(tl.constexpr(3))

@triton.jit(noinline=True)
def scalar(n):
    return n + 1

@triton.jit
def helper(x, name: tl.constexpr):
    if name == NAMES[0]:
        return libdevice.exp(x)
    return tl.maximum(x, SMALL)

@triton.autotune([triton.Config({"BLOCK": 128})], key=[])
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < scalar(n)
    v = scaled(LOAD(x + i, m).to(f32)) + i.to(widen(i.dtype)) + twice(SIZE) + triton.cdiv(BLOCK, 3)
    tl.store(out + i, helper(v, "a") + helper(v, "b"), m)
)";
  v1::ConstexprValue& kind = *job.tries[0].signature.add_constexprs();
  kind.set_name("KIND");
  kind.set_value("(True, 1, 2.5, 'a', None, tl.float16, helper)");
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->targets.size(), 1) << report->module_import.error();
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << report->targets[0].result.message();
  EXPECT_EQ(report->targets[0].signature.constexprs(1).value(),
            "(True, 1, 2.5, 'a', None, triton.language.float16, JITFunction(kernel:helper))");
}

// Modules that hide what the sandbox refused, before a kernel that fails for another reason.
constexpr absl::string_view kHidden[] = {
    "try:\n    open('/etc/passwd')\nexcept OSError as e:\n    raise ValueError('no') from e\n",
    "try:\n    open('/etc/passwd')\nexcept OSError:\n    raise ValueError('no') from None\n",
    "import socket\ntry:\n    socket.socket()\nexcept OSError:\n    raise SystemExit('no')\n",
    "import os\ntry:\n    os.fork()\nexcept OSError:\n    pass\nraise ValueError('no')\n",
    "import os\ntry:\n    os.listdir('/etc')\nexcept OSError:\n    pass\n0 / 0\n",
    "import os\ntry:\n    os.setsid()\nexcept OSError:\n    pass\nassert False\n",
    "import os\ntry:\n    os.mkdir('/tmp/new')\nexcept OSError:\n    pass\n0 / 0\n",
    "import os\nopen('a', 'w').close()\ntry:\n    os.remove('a')\nexcept OSError:\n    0 / 0\n",
    "import subprocess\ntry:\n    subprocess.run(['id'])\nexcept Exception:\n    0 / 0\n",
    "import ctypes\nif ctypes.CDLL(None).open(b'/etc/passwd', 0) < 0:\n    0 / 0\n",
    "import ctypes\nif ctypes.CDLL(None).syscall(41, 1, 1, 0) < 0:\n    0 / 0\n",
    "import threading\n"
    "def work():\n    open('/etc/passwd')\n"
    "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n0 / 0\n",
    // flags that the kernel meets later
    "import socket, sys\ntry:\n    socket.create_connection(('127.0.0.1', 1))\n"
    "except OSError:\n    import triton\n    triton.jit = lambda f: None\n",
    // a full scratch folder
    "try:\n    for i in range(100):\n        open(str(i), 'wb').write(bytes(60 << 20))\n"
    "except OSError:\n    pass\n0 / 0\n",
};

TEST_P(ToolchainAttacksTest, WhatHidesARefusalIsNotBlamedForIt) {
  for (const absl::string_view hidden : kHidden) {
    SCOPED_TRACE(hidden);
    KernelJob job = AddJob(GetParam());
    job.targets = {"cuda:90"};
    job.module = absl::StrCat(hidden, job.module);
    const auto report = compiler_->Compile(job);
    ASSERT_TRUE(report.ok()) << report.status();
    if (report->module_import.ok()) {
      ASSERT_EQ(report->targets.size(), 1);
      EXPECT_EQ(report->targets[0].result.stage(), "sandbox")
          << report->targets[0].result.message();
    } else {
      EXPECT_TRUE(absl::StartsWith(report->module_import.error(), "sandbox: "))
          << report->module_import.error();
    }
  }
}

// The kernel compiles.
TEST_P(ToolchainAttacksTest, ARefusalThatHarmsNothingLeavesTheVerdict) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.module = absl::StrCat(
      "import socket\ntry:\n    socket.socket()\n    open('/etc/passwd')\nexcept OSError:\n    "
      "pass\n",
      job.module);
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->targets.size(), 1);
  EXPECT_EQ(report->targets[0].result.status(), v1::COMPILE_STATUS_OK)
      << report->targets[0].result.message();
}

// A terminal, a page or a log would act on such characters.
TEST_P(ToolchainAttacksTest, MessagesAreSpelledOut) {
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  const std::string raise = "raise ValueError('\\x1b[31m \\u202e \\x07 \\x9b')\n";
  job.module = absl::StrCat(raise, job.module);
  const auto import = compiler_->Compile(job);
  ASSERT_TRUE(import.ok()) << import.status();
  EXPECT_EQ(import->module_import.error(), "ValueError: \\x1b[31m \\u202e \\x07 \\x9b");
  job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  absl::StrAppend(&job.module, "    tl.static_assert(False, '\\x1b[31m \\u202e')\n");
  const auto compile = compiler_->Compile(job);
  ASSERT_TRUE(compile.ok()) << compile.status();
  ASSERT_EQ(compile->targets.size(), 1);
  const std::string& message = compile->targets[0].result.message();
  EXPECT_TRUE(absl::StrContains(message, "\\x1b[31m \\u202e")) << message;
}

// A forked process has a copy of all its parent's memory, including freed memory.
TEST_P(ToolchainAttacksTest, NothingOfTheKernelsBeforeItIsInAKernelsMemory) {
  KernelJob before = AddJob(GetParam());
  before.targets = {"cuda:90"};
  for (int i = 0; i < 40; ++i) absl::StrAppend(&before.module, "# a stranger's secret\n");
  ASSERT_TRUE(compiler_->Compile(before).ok());
  KernelJob job = AddJob(GetParam());
  job.targets = {"cuda:90"};
  job.module = R"(
import ctypes, os
libc = ctypes.CDLL(None)
libc.sbrk.restype, libc.sbrk.argtypes = ctypes.c_void_p, [ctypes.c_long]
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
read, write = os.pipe()
end = begin = libc.sbrk(0)
while libc.write(write, begin - 4096, 1) == 1:  # else it is not mapped
    begin -= 4096
    os.read(read, 1)
found = ctypes.string_at(begin, end - begin).count(b"terces s'regnarts a"[::-1])
raise ValueError(f"{(end - begin) >> 20 > 0} {found}")
)";
  const auto report = compiler_->Compile(job);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->module_import.error(), "ValueError: True 0");
}

INSTANTIATE_TEST_SUITE_P(Toolchains, ToolchainAttacksTest, GetToolchains("triton"),
                         ToolchainTestName());

}  // namespace
}  // namespace kernelmill::compiler
