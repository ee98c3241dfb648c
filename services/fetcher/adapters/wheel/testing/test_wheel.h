#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_TESTING_TEST_WHEEL_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_TESTING_TEST_WHEEL_H_

#include <string>
#include <vector>

namespace kernelmill::fetcher {

struct TestMember {
  std::string path;  // UTF-8
  std::string content;
  std::string link_to = "";  // makes it a symbolic link
};

// A zip archive with these members, all with the same time, made for tests. Fails the test if
// libarchive does.
std::string MakeTestWheel(const std::vector<TestMember>& members);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_WHEEL_TESTING_TEST_WHEEL_H_
