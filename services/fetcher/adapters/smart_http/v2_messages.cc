#include "services/fetcher/adapters/smart_http/v2_messages.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/smart_http/git_errors.h"
#include "services/fetcher/adapters/smart_http/packet_line.h"

namespace kernelmill::fetcher {
namespace {

constexpr size_t kMaxWords = 500;  // bytes of the server's that a message shows
constexpr size_t kMaxSaid = 4096;  // bytes of its complaints that are kept
constexpr int64_t kMaxTalk = 1 << 20;

std::string Words(absl::string_view text) {
  text = text.substr(0, text.find('\0'));  // which git ends some of its complaints with
  return absl::StrCat("git: remote error: ", ToUtf8(PacketText(text).substr(0, kMaxWords)));
}

absl::Status Refusal(absl::string_view text) {
  const std::optional<absl::StatusCode> code = CodeOfGitError(text);
  return absl::Status(code.value_or(absl::StatusCode::kUnimplemented), Words(text));
}

absl::Status Unexpected() {
  return absl::UnimplementedError("the server's answer is not one of git's protocol version 2");
}

template <typename... Words>
void AppendLine(std::string& to, const Words&... words) {
  AppendPacket(to, absl::StrCat(words..., "\n"));
}

}  // namespace

absl::Status V2Response::Read(absl::string_view bytes) {
  return reader_.Read(bytes, [this](const Packet& packet) -> absl::Status {
    absl::string_view text = packet.data;
    if (ended_) return absl::DataLossError("the server's answer goes on after its end");
    if (absl::ConsumePrefix(&text, "ERR ")) return Refusal(text);  // no pack's packet begins so
    began_ = true;
    ASSIGN_OR_RETURN(ended_, OnPacket(packet));
    return absl::OkStatus();
  });
}

absl::Status V2Response::Finish() const {
  if (ended_ && reader_.between_packets()) return absl::OkStatus();
  return began_ ? absl::UnavailableError("the server's answer is cut short") : Unexpected();
}

void RefsResponse::Add(const std::string& name, absl::string_view id) {
  if (names_.count(name) > 0) refs_.emplace(name, id);
}

// "<id> <name>", and perhaps attributes, among them "peeled:<id>".
absl::StatusOr<bool> RefsResponse::OnPacket(const Packet& packet) {
  if (packet.kind == PacketKind::kFlush) return true;
  const std::vector<std::string> words = absl::StrSplit(PacketText(packet.data), ' ');
  if (packet.kind != PacketKind::kData || words.size() < 2) return Unexpected();
  Add(words[1], words[0]);
  for (absl::string_view word : words) {
    if (absl::ConsumePrefix(&word, "peeled:")) Add(words[1] + "^{}", word);
  }
  return false;
}

absl::Status PackResponse::OnHeading(absl::string_view name) {
  // What was had and what is shallow now: both are known.
  const bool skipped = name == "acknowledgments" || name == "shallow-info";
  if (!skipped && name != "packfile") return Unexpected();
  section_ = skipped ? Section::kSkipped : Section::kPack;
  return absl::OkStatus();
}

// Progress, for people; and what the server's programs complain of before it gives up.
void PackResponse::Listen(absl::string_view said) {
  absl::StrAppend(&said_, said);
  if (said_.size() > kMaxSaid) said_.erase(0, said_.size() - kMaxSaid);
}

absl::Status PackResponse::OnBand(absl::string_view data) {
  if (data.empty()) return Unexpected();
  const absl::string_view rest = data.substr(1);
  switch (data[0]) {
    case 1:
      return rest.empty() ? absl::OkStatus() : sink_(rest);  // an empty one says: still at work
    case 2:
      Listen(rest);
      return absl::OkStatus();
    case 3: {
      const std::optional<absl::StatusCode> code = CodeOfGitError(absl::StrCat(said_, rest));
      return absl::Status(code.value_or(absl::StatusCode::kUnavailable), Words(rest));
    }
    default:
      return Unexpected();
  }
}

absl::StatusOr<bool> PackResponse::OnPacket(const Packet& packet) {
  const bool pack = section_ == Section::kPack;
  if (!pack || packet.data.empty() || packet.data[0] != 1) talk_ += 4 + packet.data.size();
  if (talk_ > kMaxTalk) return absl::FailedPreconditionError("the server talks without end");
  if (packet.kind == PacketKind::kFlush) {
    // An answer without a pack is one that waits for another question, which was not to come.
    if (!pack) return Unexpected();
    return true;
  }
  if (packet.kind == PacketKind::kDelimiter) {
    if (section_ != Section::kSkipped) return Unexpected();
    section_ = Section::kNone;
  } else if (section_ == Section::kNone) {
    RETURN_IF_ERROR(OnHeading(PacketText(packet.data)));
  } else if (pack) {
    RETURN_IF_ERROR(OnBand(packet.data));
  }
  return false;
}

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
