#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_MESSAGES_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_MESSAGES_H_

#include <cstdint>
#include <map>
#include <optional>
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

// Returns the code of the failure that git reports in these words, here or on the server; nothing
// if the words are unknown.
std::optional<absl::StatusCode> GitErrorCode(absl::string_view words);

// The objects to fetch from a repository. Ids are 40 hexadecimal digits.
struct ObjectRequest {
  std::vector<std::string> want;
  // True: `want` is a commit, to be fetched with its trees but without its parents and blobs.
  // False: exactly the objects of `want`.
  bool shallow_commit = false;
  std::string have = "";  // a commit that is here with its trees, but without parents; may be empty
  int depth = 0;          // if not shallow_commit: how many generations of commits; 0: all
  std::string filter = "";  // if not shallow_commit: the filter for what is not in `want`
};

// Return the bodies of requests in version 2 of git's protocol (gitprotocol-v2(5)). They use no
// capability that a server has to announce first, since the server was not asked.
std::string RefsRequest(const std::vector<std::string>& prefixes);
std::string FetchRequest(const ObjectRequest& request);

// The answer to a request above, read while it arrives, so that it is never held as a whole.
// UNIMPLEMENTED: the answer is not in this protocol, or the server supports only a part of it. An
// error that the server reports has GitErrorCode's code; else UNIMPLEMENTED, since the server may
// not understand the request, or UNAVAILABLE once it has begun to send objects.
class V2Response {
 public:
  virtual ~V2Response() = default;

  absl::Status Read(absl::string_view bytes);

  // Ends the answer. UNIMPLEMENTED: it was empty, which is how git's own server refuses a request
  // that it does not understand; UNAVAILABLE: it was cut short.
  absl::Status Finish() const;

  // Returns the bytes so far of what was asked for.
  virtual int64_t arrived() const { return bytes_; }

 protected:
  // Takes the next packet. Returns whether it was the answer's last one.
  virtual absl::StatusOr<bool> OnPacket(const Packet& packet) = 0;

 private:
  PacketReader reader_;
  int64_t bytes_ = 0;
  bool began_ = false;
  bool ended_ = false;
};

// Ids by the names of refs. The object that a tag "x" is peeled to has the name "x^{}".
using RefIds = std::map<std::string, std::string>;

// The answer to RefsRequest. Keeps only the refs of the given names.
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

// Receives the bytes of a pack while they arrive.
using PackSink = absl::FunctionRef<absl::Status(absl::string_view bytes)>;

// The answer to FetchRequest. Passes on the pack; the first error of the sink ends it.
// FAILED_PRECONDITION: the server sends too much beside the pack.
class PackResponse : public V2Response {
 public:
  explicit PackResponse(PackSink sink) : sink_(sink) {}

  // Counts the pack alone: a server that only talks delivers nothing.
  int64_t arrived() const override { return pack_; }

 protected:
  absl::StatusOr<bool> OnPacket(const Packet& packet) override;

 private:
  enum class Section { kNone, kSkipped, kPack };

  absl::Status OnHeading(absl::string_view name);
  absl::Status OnBand(absl::string_view data);
  void Listen(absl::string_view said);

  PackSink sink_;
  Section section_ = Section::kNone;
  std::string said_;  // the end of the server's messages beside the pack
  int64_t talk_ = 0;  // bytes that do not belong to the pack
  int64_t pack_ = 0;  // bytes that do
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_V2_MESSAGES_H_
