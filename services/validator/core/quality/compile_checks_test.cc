#include "services/validator/core/quality/compile_checks.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelmill::validator {
namespace {

void AddImport(const std::string& toolchain, bool ok, v1::CompiledKernel* compiled) {
  v1::ModuleImport& import = *compiled->add_imports();
  import.set_toolchain(toolchain);
  import.set_ok(ok);
}

v1::CompileResult& AddResult(const std::string& toolchain, v1::CompileStatus status,
                             v1::CompiledKernel* compiled) {
  v1::CompileResult& result = *compiled->add_results();
  result.set_toolchain(toolchain);
  result.set_target("cuda:90");
  result.set_status(status);
  return result;
}

void ExpectRule(const std::string& check, const v1::CompiledKernel& compiled,
                v1::RuleResult::Outcome outcome, const std::string& reason) {
  const v1::RuleResult result = CompilerRule(check, compiled);
  EXPECT_EQ(result.rule(), check);
  EXPECT_EQ(result.outcome(), outcome) << check;
  EXPECT_EQ(result.reason(), reason) << check;
}

TEST(CompileChecks, OneCompilerThatTakesTheKernelIsEnough) {
  v1::CompiledKernel compiled;
  AddImport("old", false, &compiled);
  AddImport("new", true, &compiled);
  AddResult("old", v1::COMPILE_STATUS_ERROR, &compiled).set_stage("import");
  AddResult("new", v1::COMPILE_STATUS_OK, &compiled);
  ExpectRule("compiles", compiled, v1::RuleResult::OUTCOME_PASS, "");
  ExpectRule("imports", compiled, v1::RuleResult::OUTCOME_PASS, "");
}

TEST(CompileChecks, ARefusalCountsWhereNobodyTakesTheKernel) {
  v1::CompiledKernel compiled;
  AddImport("old", true, &compiled);
  AddResult("old", v1::COMPILE_STATUS_UNKNOWN, &compiled).set_missing("type:x");
  v1::CompileResult& refused = AddResult("new", v1::COMPILE_STATUS_ERROR, &compiled);
  refused.set_stage("frontend");
  refused.set_message("password = 'a secret of the source'");
  ExpectRule("compiles", compiled, v1::RuleResult::OUTCOME_FAIL, "frontend: new for cuda:90");
  ExpectRule("imports", compiled, v1::RuleResult::OUTCOME_PASS, "");
}

TEST(CompileChecks, AModuleThatCannotBeLoadedFailsBoth) {
  v1::CompiledKernel compiled;
  AddImport("new", false, &compiled);
  AddResult("new", v1::COMPILE_STATUS_ERROR, &compiled).set_stage("import");
  ExpectRule("compiles", compiled, v1::RuleResult::OUTCOME_FAIL, "import: new for cuda:90");
  ExpectRule("imports", compiled, v1::RuleResult::OUTCOME_FAIL, "import: new");
}

TEST(CompileChecks, WhatSaysNothingOfTheKernelIsExempt) {
  v1::CompiledKernel absent_package;
  AddImport("new", false, &absent_package);
  AddResult("new", v1::COMPILE_STATUS_UNKNOWN, &absent_package).set_missing("import");
  v1::CompiledKernel untried;
  untried.set_not_attempted("dsl:cuda");
  for (const char* check : {"compiles", "imports"}) {
    ExpectRule(check, absent_package, v1::RuleResult::OUTCOME_EXEMPT, "unknown: import");
    ExpectRule(check, untried, v1::RuleResult::OUTCOME_EXEMPT, "not compiled: dsl:cuda");
    ExpectRule(check, v1::CompiledKernel(), v1::RuleResult::OUTCOME_EXEMPT, "unknown: no result");
  }
}

}  // namespace
}  // namespace kernelmill::validator
