#include "common/base/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace kernelmill {
namespace {

constexpr int64_t kMebibyte = 1 << 20;

int64_t ResidentMebibytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096 / kMebibyte;
}

// Allocates 256 MiB in small pieces and frees all except the last one, which keeps malloc from
// shrinking the heap by itself.
std::unique_ptr<std::string> FillAndFree() {
  std::vector<std::unique_ptr<std::string>> pieces;
  for (int i = 0; i < 256 * 1024; ++i) pieces.push_back(std::make_unique<std::string>(1000, 'x'));
  return std::move(pieces.back());
}

TEST(Memory, WhatIsFreeGoesBackToTheSystem) {
  const int64_t before = ResidentMebibytes();
  std::unique_ptr<std::string> left;
  std::thread([&] { left = FillAndFree(); }).join();
  ASSERT_GT(ResidentMebibytes(), before + 128) << "malloc keeps nothing: no test";
  ReturnFreeMemory(kKeptBetweenTasks);
  EXPECT_LT(ResidentMebibytes(), before + 32);
}

}  // namespace
}  // namespace kernelmill
