#include "services/fetcher/adapters/github/testing/github_stub.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kernelmill::fetcher {
namespace {

using Json = nlohmann::json;
using Answer = GithubStub::Answer;

constexpr int64_t kReachable = 1000;

Answer JsonAnswer(int code, const Json& body) {
  return Answer{code, "application/json; charset=utf-8", body.dump()};
}

// Minimal, as in the rows of a code search.
Json MinimalJson(const StubRepository& repository) {
  return {{"full_name", repository.name},
          {"private", repository.is_private},
          {"html_url", absl::StrCat("https://github.com/", repository.name)},
          {"url", absl::StrCat("https://api.github.com/repos/", repository.name)},
          {"fork", repository.fork}};
}

Json FullJson(const StubRepository& repository) {
  Json json = MinimalJson(repository);
  json.update({{"stargazers_count", repository.stars},
               {"language", repository.language},
               {"archived", repository.archived},
               {"disabled", false},
               {"topics", repository.topics}});
  return json;
}

}  // namespace

GithubStub::GithubStub() {
  server_.SetHandler([this](const TestHttpServer::Request& request) { return Handle(request); });
}

void GithubStub::Add(StubRepository repository) {
  absl::MutexLock lock(&mutex_);
  repositories_.push_back(std::move(repository));
}

void GithubStub::SetToken(const std::string& token) {
  absl::MutexLock lock(&mutex_);
  token_ = token;
}

void GithubStub::Rename(const std::string& from, const std::string& to) {
  absl::MutexLock lock(&mutex_);
  renamed_[from] = to;
}

void GithubStub::AnswerNext(Answer answer) {
  absl::MutexLock lock(&mutex_);
  next_.push_back(std::move(answer));
}

void GithubStub::LeaveIncomplete(int searches) {
  absl::MutexLock lock(&mutex_);
  incomplete_ = searches;
}

Answer GithubStub::Error(int code, const std::string& message) {
  return JsonAnswer(code, {{"message", message}, {"status", absl::StrCat(code)}});
}

Answer GithubStub::Handle(const TestHttpServer::Request& request) {
  absl::MutexLock lock(&mutex_);
  if (!next_.empty()) {
    Answer answer = std::move(next_.front());
    next_.pop_front();
    return answer;
  }
  const auto header = [&](const char* name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? "" : found->second;
  };
  const std::string given = header("authorization");
  if (!given.empty() && given != absl::StrCat("Bearer ", token_)) {
    return Error(401, "Bad credentials");
  }
  if (given.empty() && absl::StartsWith(request.path, "/search/code")) {
    return Error(401, "Requires authentication");
  }
  Answer answer = HandleApi(request.path);
  if (answer.code != 200) return answer;
  const std::string etag =
      absl::StrCat("W/\"", absl::Hex(std::hash<std::string>()(answer.body)), "\"");
  if (header("if-none-match") == etag) answer = Answer{304};
  answer.headers["ETag"] = etag;
  return answer;
}

Answer GithubStub::HandleApi(absl::string_view path) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(path, absl::MaxSplits('?', 1));
  absl::string_view rest = parts.first;
  if (rest == "/search/repositories") return Search(path, DecodeQuery(parts.second));
  if (rest == "/search/code") return Search(path, DecodeQuery(parts.second));
  if (absl::ConsumePrefix(&rest, "/repos/")) return LookUp(std::string(rest));
  return Error(404, "Not Found");
}

Answer GithubStub::Search(absl::string_view path, const std::map<std::string, std::string>& query) {
  const bool code = absl::StartsWith(path, "/search/code");
  const auto number = [&](const char* key, int64_t otherwise) {
    int64_t value = 0;
    const auto found = query.find(key);
    return found != query.end() && absl::SimpleAtoi(found->second, &value) ? value : otherwise;
  };
  const std::optional<StubQuery> terms =
      query.count("q") > 0 ? StubQuery::Parse(query.at("q")) : std::nullopt;
  if (!terms.has_value()) {
    Json refusal = {{"message", "Validation Failed"}};
    refusal["errors"] = {{{"message", "The search cannot be understood."}, {"field", "q"}}};
    return JsonAnswer(422, refusal);
  }
  const int64_t size = std::min<int64_t>(number("per_page", 30), 100), page = number("page", 1);
  if ((page - 1) * size >= kReachable) {
    return Error(422, "Only the first 1000 search results are available");
  }
  std::vector<const StubRepository*> rows;
  for (const StubRepository& r : repositories_) {
    if (code ? terms->MatchesCode(r) : terms->MatchesRepository(r)) rows.push_back(&r);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto* a, const auto* b) { return a->stars > b->stars; });
  const int64_t total = static_cast<int64_t>(rows.size()), end = std::min(total, kReachable);
  Json items = Json::array();
  for (int64_t i = (page - 1) * size; i < std::min(page * size, end); ++i) {
    items.push_back(code ? Json{{"name", "k.py"}, {"repository", MinimalJson(*rows[i])}}
                         : FullJson(*rows[i]));
  }
  const bool incomplete = incomplete_ > 0;
  if (incomplete) --incomplete_;
  Answer answer = JsonAnswer(
      200, {{"total_count", total}, {"incomplete_results", incomplete}, {"items", items}});
  if (page * size < end) {
    const std::string next = absl::StrReplaceAll(
        path, {{absl::StrCat("&page=", page), absl::StrCat("&page=", page + 1)}});
    answer.headers["Link"] = absl::StrCat("<", Url(), next, ">; rel=\"next\"");
  }
  answer.headers["X-RateLimit-Remaining"] = "9";
  return answer;
}

Answer GithubStub::LookUp(const std::string& name) {
  const auto renamed = renamed_.find(name);
  if (renamed != renamed_.end()) {
    Answer answer = Error(301, "Moved Permanently");
    answer.location = absl::StrCat(Url(), "/repos/", renamed->second);
    return answer;
  }
  for (const StubRepository& repository : repositories_) {
    if (repository.name == name) return JsonAnswer(200, FullJson(repository));
  }
  return Error(404, "Not Found");
}

}  // namespace kernelmill::fetcher
