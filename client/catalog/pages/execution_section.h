#ifndef KERNELMILL_CLIENT_CATALOG_PAGES_EXECUTION_SECTION_H_
#define KERNELMILL_CLIENT_CATALOG_PAGES_EXECUTION_SECTION_H_

#include <string>

#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::client {

// The rows about a kernel's executions, and about the test that reaches it. Null: the dataset has
// no such row.
struct ExecutionRows {
  const v1::TaskRow* task = nullptr;
  const v1::ReferenceRow* reference = nullptr;
};

// Returns the outcome in one sentence, such as "Ran on NVIDIA GPU (cuda:90): exact on 4 of 4
// cases; verified.", which leads to the section; empty without executions.
std::string ExecutionLine(const ExecutionRows& rows);

// Returns the evidence, folded: cases, outcomes, adequacy and speed, then the test and the
// reference that it compares with. Empty without rows. Hidden cases, by which answers of models are
// judged, are only counted.
std::string ExecutionSection(const ExecutionRows& rows);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_CATALOG_PAGES_EXECUTION_SECTION_H_
