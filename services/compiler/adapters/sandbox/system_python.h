#ifndef KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SYSTEM_PYTHON_H_
#define KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SYSTEM_PYTHON_H_

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/testing/status_matchers.h"
#include "services/compiler/adapters/sandbox/policy.h"

namespace kernelmill::compiler {

inline constexpr char kSystemPython[] = "/usr/bin/python3";

// The program that tests confine: the system's Python. Its scratch folders end with this object.
class SystemPython {
 public:
  SystemPython() : parent_(TempDir::Create()), policy_(InterpreterPolicy(kSystemPython)) {
    EXPECT_THAT(parent_, testing::IsOk());
    EXPECT_THAT(policy_, testing::IsOk());
    ::chmod(parent_->path().c_str(), 0711);
    policy_->scratch_parent = parent_->path();
  }

  Policy& policy() { return *policy_; }

 private:
  absl::StatusOr<TempDir> parent_;
  absl::StatusOr<Policy> policy_;
};

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_ADAPTERS_SANDBOX_SYSTEM_PYTHON_H_
