#include "services/compiler/core/cuda/refusals.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::compiler::cuda {
namespace {

// Returns the status and what is missing of a module that is refused: "unknown header:x.h".
std::string Read(const std::string& error, const std::string& module = "") {
  v1::ModuleImport failed;
  failed.set_error(error);
  const v1::CompileResult result = JudgeReading(module, failed);
  return result.status() == v1::COMPILE_STATUS_ERROR ? "error " + result.stage()
                                                     : "unknown " + result.missing();
}

TEST(RefusalsTest, WhatThisCompilerLacksIsUnknown) {
  EXPECT_EQ(Read("cannot open source file \"ATen/ATen.h\""), "unknown header:ATen/ATen.h");
  EXPECT_EQ(Read("namespace \"std\" has no member \"vector\""), "unknown name:std::vector");
  EXPECT_EQ(Read("identifier \"cudaMalloc\" is undefined"), "unknown name:cudaMalloc");
  EXPECT_EQ(Read("identifier \"BLOCK\" is undefined"), "unknown name:BLOCK");
  EXPECT_EQ(Read("qualified name is not allowed"), "unknown name");
  EXPECT_EQ(Read("#error directive: unsupported"), "unknown macro");
  EXPECT_EQ(Read("device code does not support exception handling"), "unknown host");
}

// The source compiles for those who wrote it: by nvcc, which takes what GNU's compilers take.
TEST(RefusalsTest, WhatOnlyThisWayOfCompilingRefusesIsUnknown) {
  EXPECT_EQ(Read("static and nonstatic member functions with same parameter types cannot be "
                 "overloaded"),
            "unknown host");
  EXPECT_EQ(Read("expected an expression", "#define F(x) ({ x; })\n"), "unknown host");
  EXPECT_EQ(Read("expected an expression", "int x = ;\n"), "error frontend");
  EXPECT_EQ(
      Read("function template \"f\" has already been defined (previous definition at line 7)"),
      "unknown macro");
  EXPECT_EQ(Read("cannot determine which instance of function template \"k\" is intended"),
            "unknown template:");
}

TEST(RefusalsTest, WhatIsWrongWithTheTextIsAnError) {
  EXPECT_EQ(Read("expected a \";\""), "error frontend");
  EXPECT_EQ(Read("identifier \"sum\" is undefined", "void k() { sum = 1; }"), "error frontend");
  EXPECT_EQ(
      Read("identifier \"sum\" is undefined", "#ifdef A\nint sum;\n#endif\nvoid k() { sum = 1; }"),
      "unknown name:sum");
}

TEST(RefusalsTest, BoundsAndTheSandboxAreNamed) {
  EXPECT_EQ(Read("clock: no answer"), "unknown import:clock");
  EXPECT_EQ(Read("sandbox: a system call that is forbidden"), "unknown import:sandbox");
  EXPECT_EQ(Read("limit: not enough memory"), "error limit");
}

std::string Refuse(const std::string& stage, const std::string& message, const std::string& rule,
                   bool elsewhere = false) {
  v1::KernelSignature signature;
  if (!rule.empty()) {
    v1::ConstexprValue& argument = *signature.add_constexprs();
    argument.set_name("T");
    argument.set_rule(rule);
  }
  v1::CompileResult result;
  result.set_status(v1::COMPILE_STATUS_ERROR);
  result.set_stage(stage);
  result.set_message(message);
  JudgeRefusal("", signature, elsewhere, result);
  return result.status() == v1::COMPILE_STATUS_ERROR ? "error" : "unknown " + result.missing();
}

TEST(RefusalsTest, AGuessedArgumentIsNoErrorOfTheKernel) {
  EXPECT_EQ(Refuse("frontend", "no operator matches", "guess:type"), "unknown template:T");
  EXPECT_EQ(Refuse("frontend", "no operator matches", "guess:type", true), "error");
  EXPECT_EQ(Refuse("frontend", "no operator matches", "launch"), "error");
  EXPECT_EQ(Refuse("frontend", "no operator matches", ""), "error");
  EXPECT_EQ(Refuse("limit", "more than 180 s of processor time", "guess:number"),
            "unknown template:T");
}

TEST(RefusalsTest, TheAssemblerKnowsItsTarget) {
  EXPECT_EQ(Refuse("assembler", "Feature 'x' requires .target sm_100 or higher", "guess:type"),
            "error");
  EXPECT_EQ(Refuse("assembler", "Unresolved extern function 'f'", "launch"), "unknown library");
  EXPECT_EQ(Refuse("sandbox", "", "launch"), "unknown sandbox");
}

}  // namespace
}  // namespace kernelmill::compiler::cuda
