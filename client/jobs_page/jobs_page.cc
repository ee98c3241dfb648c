// Civetweb serves each request on a thread of its own. An answer is made once and kept for a
// second, so that many viewers cost the coordinator as much as one.
//
// A page of another site cannot read the answers: a request must name this machine or the address
// that the page is served on as its host, which defeats rebinding of names, and the answers allow
// no other origin.

#include "client/jobs_page/jobs_page.h"

#include <CivetServer.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/http/http_server.h"
#include "client/jobs_page/page_state.h"
#include "client/jobs_page/web/assets.h"
#include "common/base/clock.h"
#include "common/base/status.h"

namespace kernelmill::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::Duration kFresh = absl::Seconds(1);
constexpr size_t kKept = 64;  // answers
constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr char kJson[] = "application/json";

struct Answer {
  std::string status = "200 OK";
  std::string type = kJson;
  std::string body;
};

Answer ErrorAnswer(const absl::Status& error) {
  const bool unknown = absl::IsNotFound(error) || absl::IsInvalidArgument(error);
  return {.status = unknown ? "404 Not Found" : "503 Service Unavailable",
          .body = Json{{"error", std::string(error.message())}}.dump(
              -1, ' ', false, Json::error_handler_t::replace)};
}

Answer ToAnswer(const absl::StatusOr<Json>& json) {
  if (!json.ok()) return ErrorAnswer(json.status());
  return {.body = json->dump(-1, ' ', false, Json::error_handler_t::replace)};
}

// Keeps answers for a moment. Thread-safe.
//
// One request for a key makes its answer, without a lock: the coordinator may take minutes for a
// timeline. Another one for that key gets the answer if it comes within kFresh, or else the last
// one; requests for other keys do not wait.
class FreshAnswers {
 public:
  Answer Get(const std::string& key, const std::function<Answer()>& make) {
    const std::shared_ptr<Kept> kept = Find(key);
    {
      const absl::MutexLock lock(&kept->mutex);
      if (kept->is_being_made) {
        kept->mutex.AwaitWithTimeout(absl::Condition(kept.get(), &Kept::IsAtRest), kFresh);
      }
      if (kept->made && (kept->is_being_made || MonotonicNow() - kept->at < kFresh)) {
        return kept->answer;
      }
      if (kept->is_being_made) {
        return ErrorAnswer(absl::UnavailableError("the coordinator has not answered yet"));
      }
      kept->is_being_made = true;
    }
    Answer answer = make();
    const absl::MutexLock lock(&kept->mutex);
    kept->answer = answer;
    kept->at = MonotonicNow();
    kept->made = true;
    kept->is_being_made = false;
    return answer;
  }

 private:
  struct Kept {
    bool IsAtRest() const ABSL_SHARED_LOCKS_REQUIRED(mutex) { return !is_being_made; }

    absl::Mutex mutex;
    bool is_being_made ABSL_GUARDED_BY(mutex) = false;
    bool made ABSL_GUARDED_BY(mutex) = false;
    absl::Duration at ABSL_GUARDED_BY(mutex);
    Answer answer ABSL_GUARDED_BY(mutex);
  };

  std::shared_ptr<Kept> Find(const std::string& key) {
    const absl::MutexLock lock(&mutex_);
    if (kept_.size() >= kKept && !kept_.contains(key)) kept_.clear();
    std::shared_ptr<Kept>& kept = kept_[key];
    if (kept == nullptr) kept = std::make_shared<Kept>();
    return kept;
  }

  absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Kept>> kept_ ABSL_GUARDED_BY(mutex_);
};

class Handler final : public CivetHandler {
 public:
  Handler(std::string host, CrawlClient& jobs, std::string flags)
      : host_(std::move(host)), jobs_(jobs), flags_(std::move(flags)) {}

  bool handleGet(CivetServer*, mg_connection* connection) override {
    const mg_request_info& request = *mg_get_request_info(connection);
    const char* header = mg_get_header(connection, "Host");
    Write(connection, IsOurs(header == nullptr ? "" : header)
                          ? AnswerTo(request.local_uri, connection)
                          : Answer{.status = "403 Forbidden", .body = "{\"error\":\"host\"}"});
    return true;
  }

 private:
  bool IsOurs(absl::string_view header) const {
    const absl::string_view host = GetHost(header);
    return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == host_ ||
           host_ == "0.0.0.0" || host_ == "[::]";
  }

  Answer AnswerTo(const std::string& path, mg_connection* connection) {
    if (path == "/api/state") {
      return answers_.Get(path, [&] { return ToAnswer(ReadState()); });
    }
    if (path == "/api/job") {
      std::string name;
      CivetServer::getParam(connection, "name", name);
      return answers_.Get(absl::StrCat(path, "?", name), [&] { return ToAnswer(ReadJob(name)); });
    }
    if (path == "/") return {.type = kHtml, .body = std::string(kJobsPageHtml)};
    for (const JobsPageAsset& asset : kJobsPageAssets) {
      if (path == absl::StrCat("/assets/", asset.name)) {
        return {.type = std::string(asset.type), .body = std::string(asset.bytes)};
      }
    }
    return ErrorAnswer(absl::NotFoundError(absl::StrCat("no such page: ", path.substr(0, 200))));
  }

  absl::StatusOr<Json> ReadState() {
    ASSIGN_OR_RETURN(const std::vector<v1::JobStatus> jobs, jobs_.ListJobs());
    ASSIGN_OR_RETURN(const std::vector<v1::WorkerInfo> workers, jobs_.ListWorkers());
    return Json{{"now", absl::ToUnixMillis(absl::Now())},
                {"jobs", JobsJson(jobs)},
                {"workers", WorkersJson(workers)},
                {"flags", flags_}};
  }

  absl::StatusOr<Json> ReadJob(const std::string& name) {
    ASSIGN_OR_RETURN(const v1::JobStatus status, jobs_.GetJob(name));
    ASSIGN_OR_RETURN(const Timeline timeline, jobs_.GetTimeline(name));
    return JobJson(status, timeline);
  }

  static void Write(mg_connection* connection, const Answer& answer) {
    const std::string head = absl::StrCat(
        "HTTP/1.1 ", answer.status, "\r\nContent-Type: ", answer.type,
        "\r\nContent-Length: ", answer.body.size(),
        "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: "
        "no-referrer\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; style-src "
        "'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'\r\nConnection: close\r\n\r\n");
    mg_write(connection, head.data(), head.size());
    mg_write(connection, answer.body.data(), answer.body.size());
  }

  const std::string host_;
  CrawlClient& jobs_;
  const std::string flags_;
  FreshAnswers answers_;
};

}  // namespace

struct JobsPage::Parts {
  Handler handler;  // outlives the server
  std::unique_ptr<HttpServer> server;
};

absl::StatusOr<std::unique_ptr<JobsPage>> JobsPage::Start(const std::string& address,
                                                          CrawlClient& jobs, std::string flags) {
  std::unique_ptr<Parts> parts(
      new Parts{Handler(std::string(GetHost(address)), jobs, std::move(flags)), nullptr});
  ASSIGN_OR_RETURN(parts->server, HttpServer::Serve(address, parts->handler));
  return std::unique_ptr<JobsPage>(new JobsPage(std::move(parts)));
}

JobsPage::JobsPage(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
JobsPage::~JobsPage() = default;
int JobsPage::port() const { return parts_->server->port(); }
std::string JobsPage::url() const { return parts_->server->url(); }

}  // namespace kernelmill::client
