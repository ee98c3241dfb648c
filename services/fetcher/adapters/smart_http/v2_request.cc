#include "services/fetcher/adapters/smart_http/v2_request.h"

#include "absl/strings/str_cat.h"
#include "services/fetcher/adapters/smart_http/packet_line.h"

namespace kernelmill::fetcher {
namespace {

template <typename... Words>
void AppendLine(std::string& to, const Words&... words) {
  AppendPacket(to, absl::StrCat(words..., "\n"));
}

}  // namespace

std::string RefsRequest(const std::vector<std::string>& prefixes) {
  std::string body;
  AppendLine(body, "command=ls-refs");
  AppendDelimiter(body);
  AppendLine(body, "peel");
  for (const std::string& prefix : prefixes) AppendLine(body, "ref-prefix ", prefix);
  AppendFlush(body);
  return body;
}

// With `done` the server does not first tell what it knows of what is had: a round trip less, and
// one that does not know it sends everything. The pack of a request that has nothing cannot be
// thin.
std::string FetchRequest(const ObjectRequest& request) {
  std::string body;
  AppendLine(body, "command=fetch");
  AppendDelimiter(body);
  if (!request.have.empty()) AppendLine(body, "thin-pack");
  AppendLine(body, "no-progress");
  AppendLine(body, "ofs-delta");
  if (!request.have.empty()) AppendLine(body, "shallow ", request.have);
  if (request.shallow_commit) {
    AppendLine(body, "deepen 1");
    AppendLine(body, "filter blob:none");
  }
  for (const std::string& id : request.want) AppendLine(body, "want ", id);
  if (!request.have.empty()) AppendLine(body, "have ", request.have);
  AppendLine(body, "done");
  AppendFlush(body);
  return body;
}

}  // namespace kernelmill::fetcher
