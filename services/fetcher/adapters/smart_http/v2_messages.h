#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_MESSAGES_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_MESSAGES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/fetcher/adapters/smart_http/packet_line.h"

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

// The answers to the requests above, read as they come: nobody needs them whole.
// UNIMPLEMENTED: it is no such answer, so the server does not speak this protocol, or not all of
// it. What the server itself says went wrong: as CodeOfGitError; else UNIMPLEMENTED, for it may
// be the request that it does not understand, or UNAVAILABLE once it has begun to send objects.
class V2Response {
 public:
  virtual ~V2Response() = default;

  absl::Status Read(absl::string_view bytes);

  // The answer is over. UNIMPLEMENTED: it was empty, which is how git's own server refuses what it
  // does not understand; UNAVAILABLE: it was cut short.
  absl::Status Finish() const;

 protected:
  // Whether this packet was the answer's last one.
  virtual absl::StatusOr<bool> OnPacket(const Packet& packet) = 0;

 private:
  PacketReader reader_;
  bool began_ = false;
  bool ended_ = false;
};

// Ids by the names of refs; what a tag "x" is peeled to has the name "x^{}".
using RefIds = std::map<std::string, std::string>;

// Keeps the refs of these names alone.
class RefsResponse : public V2Response {
 public:
  explicit RefsResponse(std::set<std::string> names) : names_(std::move(names)) {}
  const RefIds& refs() const { return refs_; }

 protected:
  absl::StatusOr<bool> OnPacket(const Packet& packet) override;

 private:
  void Add(const std::string& name, absl::string_view id);

  const std::set<std::string> names_;
  RefIds refs_;
};

// Takes the bytes of a pack as they come.
using PackSink = absl::FunctionRef<absl::Status(absl::string_view bytes)>;

// Hands on the pack; the first error of the sink ends it. FAILED_PRECONDITION: the server talks
// without end.
class PackResponse : public V2Response {
 public:
  explicit PackResponse(PackSink sink) : sink_(sink) {}

 protected:
  absl::StatusOr<bool> OnPacket(const Packet& packet) override;

 private:
  enum class Section { kNone, kSkipped, kPack };

  absl::Status OnHeading(absl::string_view name);
  absl::Status OnBand(absl::string_view data);
  void Listen(absl::string_view said);

  PackSink sink_;
  Section section_ = Section::kNone;
  std::string said_;  // the end of what the server said beside the pack
  int64_t talk_ = 0;  // bytes that are no pack's
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_MESSAGES_H_
