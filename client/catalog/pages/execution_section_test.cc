#include "client/catalog/pages/execution_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelmill::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void AddOutcomes(const char* device, int64_t exact, int64_t close, v1::TaskRow* task) {
  v1::TaskRow::Outcomes* outcomes = task->add_outcomes();
  outcomes->set_device(device);
  outcomes->set_toolchain("torch 2.9.0, triton 3.5.1");
  outcomes->set_exact(exact);
  outcomes->set_close(close);
}

v1::TaskRow Task() {
  v1::TaskRow task;
  task.set_cases_total(4);
  task.set_verified(true);
  AddOutcomes("cuda:90", 4, 0, &task);
  v1::TaskRow::Case* one = task.add_cases();
  one->set_grid("[4, 1, 1]");
  one->set_origin("recorded");
  v1::TaskRow::Argument* argument = one->add_arguments();
  argument->set_name("x_ptr");
  argument->set_kind("tensor");
  argument->set_dtype("float32");
  argument->set_shape("[4, 128]");
  task.add_hidden_cases()->set_grid("[99, 1, 1]");
  task.mutable_adequacy()->set_score(0.9);
  v1::TaskRow::Adequacy::Mutants* mutants = task.mutable_adequacy()->add_mutants();
  mutants->set_kind("store_dropped");
  mutants->set_total(10);
  mutants->set_caught(9);
  return task;
}

v1::ReferenceRow Reference() {
  v1::ReferenceRow row;
  row.set_status("reference");
  row.mutable_test()->set_path("tests/test_softmax.py");
  row.mutable_test()->set_qualname("test_softmax");
  row.mutable_test()->set_url("https://github.com/a/kernels/blob/c0ffee/tests/test_softmax.py#L3");
  row.add_chain("softmax");
  row.add_comparisons()->set_text("torch.testing.assert_close(y, y_torch)");
  row.mutable_reference()->set_module("import torch\n\n\ndef reference(x):\n    return x\n");
  row.mutable_test()->set_first_line(3);
  row.mutable_test()->set_last_line(9);
  row.mutable_reference()->set_path("tests/test_softmax.py");
  row.mutable_reference()->set_first_line(8);
  row.mutable_reference()->set_last_line(8);
  row.mutable_reference()->set_self_contained(true);
  return row;
}

TEST(ExecutionLine, SaysWhereItRanAndWhatCameOfIt) {
  v1::TaskRow task = Task();
  EXPECT_THAT(ExecutionLine({.task = &task}),
              HasSubstr("on NVIDIA GPU (cuda:90): exact on 4 of 4 cases; <span "
                        "class=\"ok\">verified</span>: a test compares it with a reference, and "
                        "its cases notice most mistakes."));
  AddOutcomes("cpu", 3, 1, &task);
  EXPECT_THAT(ExecutionLine({.task = &task}),
              HasSubstr("; on CPU (Triton’s interpreter): exact on 3, close on 1 of 4 cases"));
}

TEST(ExecutionLine, SaysWhyAKernelIsNotVerified) {
  v1::TaskRow task = Task();
  task.set_verified(false);
  task.set_not_verified("low_adequacy");
  EXPECT_THAT(ExecutionLine({.task = &task}),
              HasSubstr("not verified</span>: its cases would notice too few mistakes."));
}

TEST(ExecutionLine, CasesThatRanAgainAreCountedAsRuns) {
  v1::TaskRow task = Task();
  task.mutable_outcomes(0)->set_exact(8);
  EXPECT_THAT(ExecutionLine({.task = &task}), HasSubstr("exact on 8 of 8 runs"));
}

TEST(ExecutionLine, WithoutExecutionsItIsEmpty) {
  const v1::ReferenceRow reference = Reference();
  EXPECT_EQ(ExecutionLine({.reference = &reference}), "");
}

TEST(ExecutionSection, HasCasesOutcomesAdequacyTestAndReference) {
  const v1::TaskRow task = Task();
  const v1::ReferenceRow reference = Reference();
  const std::string html = ExecutionSection({&task, &reference});
  for (const char* part :
       {"torch 2.9.0, triton 3.5.1", "x_ptr: float32 [4, 128]", "1 more replayed", "90 %",
        "<code>store_dropped</code></td><td>10</td><td>9", "<code>test_softmax</code> in <a",
        "assert_close(y, y_torch)", "It compares the kernel’s result with a reference."}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_THAT(html, Not(HasSubstr("[99, 1, 1]"))) << "a hidden case is for the judge";
}

TEST(ExecutionSection, OneLineIsNoRange) {
  const v1::TaskRow task = Task();
  const v1::ReferenceRow reference = Reference();
  const std::string html = ExecutionSection({.task = &task, .reference = &reference});
  EXPECT_THAT(html, HasSubstr("test_softmax.py:3-9"));
  EXPECT_THAT(html, HasSubstr("test_softmax.py:8"));
  EXPECT_THAT(html, Not(HasSubstr("test_softmax.py:8-8")));
}

TEST(ExecutionSection, IsEmptyWithoutRows) { EXPECT_EQ(ExecutionSection({}), ""); }

TEST(ExecutionSection, TextOfStrangersIsTextAndBounded) {
  std::string evil = "</script><img src=x onerror=alert(1)>\"'";
  v1::TaskRow task = Task();
  v1::ReferenceRow reference = Reference();
  for (int i = 0; i < 3000; ++i) evil += "<img src=x>";
  for (std::string* text : {task.mutable_outcomes(0)->mutable_device(),
                            task.mutable_outcomes(0)->mutable_toolchain(),
                            task.mutable_cases(0)->mutable_grid(),
                            task.mutable_cases(0)->mutable_origin(),
                            task.mutable_cases(0)->mutable_arguments(0)->mutable_name(),
                            task.mutable_cases(0)->mutable_arguments(0)->mutable_shape(),
                            task.mutable_adequacy()->mutable_mutants(0)->mutable_kind(),
                            task.mutable_not_verified(),
                            task.add_tolerances()->mutable_dtype(),
                            task.add_speed()->mutable_device(),
                            task.mutable_speed(0)->mutable_hardware(),
                            task.mutable_speed(0)->mutable_sizes(),
                            reference.mutable_status(),
                            reference.mutable_chain(0),
                            reference.mutable_test()->mutable_path(),
                            reference.mutable_test()->mutable_qualname(),
                            reference.mutable_comparisons(0)->mutable_text(),
                            reference.mutable_reference()->mutable_module(),
                            reference.mutable_reference()->mutable_path(),
                            reference.mutable_reference()->mutable_name()}) {
    *text = evil;
  }
  task.set_verified(false);
  for (int i = 0; i < 500; ++i) {
    *task.add_cases() = task.cases(0);
    *task.add_outcomes() = task.outcomes(0);
    *task.add_speed() = task.speed(0);
    *task.add_tolerances() = task.tolerances(0);
    *reference.add_comparisons() = reference.comparisons(0);
    reference.add_chain(evil);
  }
  const ExecutionRows rows = {&task, &reference};
  const std::string html = ExecutionLine(rows) + ExecutionSection(rows);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_LT(html.size(), 80'000u);
}

}  // namespace
}  // namespace kernelmill::client
