// Parsing of GitHub's answers. The server is configured by the operator, but its answers are
// treated like any input from the network: a missing or malformed field drops its row, counts are
// bounded, and a URL is only taken if CheckGitUrl accepts it.
#include "services/fetcher/core/discover/discover_answer.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/core/discover/discover_query.h"
#include "services/fetcher/core/url_policy.h"

namespace kernelmill::fetcher {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 8;
constexpr size_t kMaxTopics = 100;
constexpr size_t kMaxErrorBytes = 300;

// Parses JSON; null if it is invalid. Values that are nested deeper than in any real answer are
// dropped while parsing, so that a body of brackets takes no memory.
Json ParseJson(absl::string_view body) {
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; };
  Json json = Json::parse(body.begin(), body.end(), shallow, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

const Json& At(const Json& object, const char* key) {
  static const Json* const kNothing = new Json();
  if (!object.is_object()) return *kNothing;
  const auto found = object.find(key);
  return found == object.end() ? *kNothing : *found;
}

std::string TextAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

bool TrueAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_boolean() && value.get<bool>();
}

// Returns a count; nothing if it is missing or out of range.
std::optional<int64_t> CountAt(const Json& object, const char* key) {
  const Json& value = At(object, key);
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() >> 62)) {
    return std::nullopt;
  }
  const auto count = value.get<int64_t>();
  return count < 0 ? std::nullopt : std::optional<int64_t>(count);
}

std::vector<std::string> ReadTopics(const Json& repository) {
  std::vector<std::string> topics;
  for (const Json& topic : At(repository, "topics")) {
    if (topic.is_string() && topics.size() < kMaxTopics) topics.push_back(topic);
  }
  return topics;
}

bool IsWebUrl(const std::string& url) {
  return CheckGitUrl(url, LocalFolders()).ok() && (absl::StartsWithIgnoreCase(url, "https://") ||
                                                   absl::StartsWithIgnoreCase(url, "http://"));
}

// Reads a repository with its name only, as code search has it.
std::optional<FoundRepository> NamedRepository(const Json& object) {
  FoundRepository repository;
  repository.name = TextAt(object, "full_name");
  if (!IsRepositoryName(repository.name)) return std::nullopt;
  repository.fork = TrueAt(object, "fork");
  repository.closed = TrueAt(object, "private") || TrueAt(object, "disabled");
  return repository;
}

std::optional<FoundRepository> WholeRepository(const Json& object) {
  std::optional<FoundRepository> repository = NamedRepository(object);
  const std::optional<int64_t> stars = CountAt(object, "stargazers_count");
  if (!repository.has_value() || !stars.has_value()) return std::nullopt;
  repository->url = TextAt(object, "html_url");
  if (!IsWebUrl(repository->url)) return std::nullopt;
  repository->stars = *stars;
  repository->archived = TrueAt(object, "archived");
  repository->topics = ReadTopics(object);
  return repository;
}

template <typename ReadRow>
// DATA_LOSS: the answer is no page of a search. `rows` counts also the rows that are dropped,
// because the walk compares it with the total.
absl::StatusOr<SearchPage> ParsePage(absl::string_view body, ReadRow read) {
  const Json json = ParseJson(body);
  const std::optional<int64_t> total = CountAt(json, "total_count");
  const Json& items = At(json, "items");
  if (!total.has_value() || !items.is_array()) {
    return absl::DataLossError("the answer is not that of a search");
  }
  SearchPage page;
  page.total = *total;
  page.incomplete = TrueAt(json, "incomplete_results");
  for (const Json& item : items) {
    if (page.rows == kRowsPerPage) break;
    ++page.rows;
    std::optional<FoundRepository> repository = read(item);
    if (repository.has_value()) page.repositories.push_back(*std::move(repository));
  }
  return page;
}

}  // namespace

absl::StatusOr<SearchPage> ParseRepositorySearch(absl::string_view body) {
  return ParsePage(body, &WholeRepository);
}

absl::StatusOr<SearchPage> ParseCodeSearch(absl::string_view body) {
  return ParsePage(body, [](const Json& item) { return NamedRepository(At(item, "repository")); });
}

absl::StatusOr<FoundRepository> ParseRepository(absl::string_view body) {
  const Json json = ParseJson(body);
  std::optional<FoundRepository> repository = WholeRepository(json);
  if (!repository.has_value())
    return absl::DataLossError("the answer does not describe a repository");
  return *std::move(repository);
}

// The text ends up in logs and in messages to users, so it is cut and its control characters are
// replaced.
std::string ErrorText(absl::string_view body) {
  const Json json = ParseJson(body);
  std::string text = TextAt(json, "message");
  for (const Json& error : At(json, "errors")) {
    const std::string more = TextAt(error, "message");
    if (!more.empty() && text.size() < kMaxErrorBytes) absl::StrAppend(&text, ": ", more);
  }
  text = text.substr(0, kMaxErrorBytes);
  std::replace_if(text.begin(), text.end(), absl::ascii_iscntrl, ' ');
  return ToUtf8(text);
}

}  // namespace kernelmill::fetcher
