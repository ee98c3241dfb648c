#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_REQUEST_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_REQUEST_H_

#include <string>
#include <vector>

namespace kernelmill::fetcher {

// What to fetch of a repository. Ids are 40 hexadecimal digits.
struct ObjectRequest {
  std::vector<std::string> want;
  // A commit without its parents and with its trees alone, else exactly the objects.
  bool shallow_commit = false;
  std::string have = "";  // a commit that is here with its trees, but no parents; empty: none is
};

// The bodies of requests in version 2 of git's protocol, gitprotocol-v2(5). They name no capability
// that a server has to offer, for nobody has asked it what it offers.
std::string RefsRequest(const std::vector<std::string>& prefixes);
std::string FetchRequest(const ObjectRequest& request);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_REQUEST_H_
