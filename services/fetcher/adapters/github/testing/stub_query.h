#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TESTING_STUB_QUERY_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TESTING_STUB_QUERY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// A repository that the stub knows.
struct StubRepository {
  std::string name;  // owner/name
  int64_t stars = 0;
  std::string language = "Python";
  std::vector<std::string> topics = {};
  std::string readme = "";
  std::string code = "";  // the text of its one file
  int64_t code_bytes = 100;
  bool fork = false;
  bool archived = false;
  bool is_private = false;
};

// A path's query, decoded: "a=b&c=d".
std::map<std::string, std::string> DecodeQuery(absl::string_view query);

// The words and qualifiers of a search, as GitHub's documentation has them. Knows the qualifiers
// that kernelmill uses, and no other: a typing error in one must not pass for a condition.
class StubQuery {
 public:
  // None: GitHub would say that the validation failed.
  static std::optional<StubQuery> Parse(absl::string_view text);

  bool MatchesRepository(const StubRepository& repository) const;
  bool MatchesCode(const StubRepository& repository) const;

 private:
  bool AddTerm(absl::string_view term);
  bool AddQualifier(absl::string_view name, absl::string_view value);

  struct Range {
    int64_t low = 0;
    int64_t high = INT64_MAX;
    bool Has(int64_t number) const { return low <= number && number <= high; }
  };
  static bool ParseRange(absl::string_view text, Range& range);

  std::vector<std::string> phrases_, topics_;
  std::string language_;
  Range stars_, bytes_;
  bool in_readme_ = false, forks_ = false, no_archived_ = false, public_ = false;
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GITHUB_TESTING_STUB_QUERY_H_
