#ifndef KERNELMILL_CLIENT_COMMANDS_TESTING_COMMAND_TEST_H_
#define KERNELMILL_CLIENT_COMMANDS_TESTING_COMMAND_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "client/commands/console.h"
#include "common/base/log.h"

namespace kernelmill::client {

// Runs commands, and keeps what they write.
class CommandTest : public ::testing::Test {
 protected:
  CommandTest() { ConfigureLog("kernelmill", LogLevel::kError); }  // as the program does

  // `out_` and `err_` are then what the command wrote.
  absl::StatusOr<int> Run(bool json, const std::function<absl::StatusOr<int>(Console&)>& command) {
    Console console(json);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    absl::StatusOr<int> code = command(console);
    EXPECT_TRUE(console.Flush().ok());
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  std::string out_, err_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_COMMANDS_TESTING_COMMAND_TEST_H_
