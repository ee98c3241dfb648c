#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_TEST_REPOSITORY_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_TEST_REPOSITORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/base/file.h"

namespace kernelmill::fetcher {

// A repository made by the git program, for tests. Objects are written one by one and are loose, so
// that a test can damage them. Fails the test if git fails.
class TestRepository {
 public:
  struct Item {
    std::string mode;  // "100644", "120000", "160000", "40000"
    std::string name;  // any bytes but NUL
    std::string id;
  };

  TestRepository();

  const std::string& path() const { return folder_.path(); }

  std::string Blob(absl::string_view content);
  // Items are written as given: names that git would refuse too.
  std::string Tree(const std::vector<Item>& items);
  std::string Commit(const std::string& tree, int64_t time = 1'600'000'000);
  void SetRef(const std::string& ref, const std::string& id);
  // An annotated tag object.
  std::string Tag(const std::string& name, const std::string& commit);
  // The file of a loose object.
  std::string ObjectFile(const std::string& id) const;
  // git <arguments>; its output without the final newline.
  std::string Git(const std::vector<std::string>& arguments, absl::string_view input = "");

 private:
  TempDir folder_;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TESTING_TEST_REPOSITORY_H_
