// Protocol version 2. A request is a command, a delimiter, its arguments and a flush. The answer to
// ls-refs is a list of lines and a flush. The answer to fetch consists of sections with a heading
// each; the section "packfile" is multiplexed: the first byte of a packet says whether the rest is
// pack (1), progress (2) or a fatal error (3).
#include "services/fetcher/adapters/smart_http/v2_messages.h"

#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/fetcher/adapters/smart_http/packet_line.h"

namespace kernelmill::fetcher {
namespace {

struct Symptom {
  const char* text;
  absl::StatusCode code;
};

// The first text that occurs decides.
// git reports errors as English text only (we set LC_ALL=C). The table maps the texts of git, of
// git hosts and of ssh to codes, from which the coordinator decides whether a retry can help.
constexpr Symptom kSymptoms[] = {
    {"No space left on device", absl::StatusCode::kResourceExhausted},
    {"died of signal 25", absl::StatusCode::kFailedPrecondition},  // SIGXFSZ
    {"died of signal 24", absl::StatusCode::kFailedPrecondition},  // SIGXCPU
    {"ut of memory", absl::StatusCode::kFailedPrecondition},  // over our limit, not the machine's
    {"File too large", absl::StatusCode::kFailedPrecondition},
    {"Operation too slow", absl::StatusCode::kDeadlineExceeded},
    {"unadvertised object", absl::StatusCode::kFailedPrecondition},
    {"dumb http transport", absl::StatusCode::kFailedPrecondition},
    {"mismatched algorithms", absl::StatusCode::kFailedPrecondition},
    {"not our ref", absl::StatusCode::kNotFound},
    {"couldn't find remote ref", absl::StatusCode::kNotFound},
    {"bad object", absl::StatusCode::kDataLoss},
    {"bad tree object", absl::StatusCode::kDataLoss},
    {"unable to read tree", absl::StatusCode::kDataLoss},
    {"unable to parse object", absl::StatusCode::kDataLoss},
    {"inflate:", absl::StatusCode::kDataLoss},
    {"is corrupt", absl::StatusCode::kDataLoss},
    {"did not send all necessary objects", absl::StatusCode::kDataLoss},
    {"does not appear to be a git repository", absl::StatusCode::kNotFound},
    {"Repository not found", absl::StatusCode::kNotFound},
    {"' not found", absl::StatusCode::kNotFound},
    {"returned error: 404", absl::StatusCode::kNotFound},
    {"returned error: 410", absl::StatusCode::kNotFound},
    {"does not exist", absl::StatusCode::kNotFound},
    {"not exported", absl::StatusCode::kNotFound},
    {"not allowed", absl::StatusCode::kPermissionDenied},
    {"Authentication failed", absl::StatusCode::kPermissionDenied},
    {"could not read Username", absl::StatusCode::kPermissionDenied},
    {"could not read Password", absl::StatusCode::kPermissionDenied},
    {"Permission denied", absl::StatusCode::kPermissionDenied},
    {"Host key verification failed", absl::StatusCode::kPermissionDenied},
    {"returned error: 401", absl::StatusCode::kPermissionDenied},
    {"returned error: 403", absl::StatusCode::kPermissionDenied},
};

}  // namespace

std::optional<absl::StatusCode> GitErrorCode(absl::string_view words) {
  for (const Symptom& symptom : kSymptoms) {
    if (absl::StrContains(words, symptom.text)) return symptom.code;
  }
  return std::nullopt;
}

namespace {

constexpr size_t kMaxWords = 500;  // bytes of the server's text that a message shows
constexpr size_t kMaxSaid = 4096;  // bytes of its complaints that are kept
constexpr int64_t kMaxTalk = 1 << 20;

std::string Words(absl::string_view text) {
  text = text.substr(0, text.find('\0'));  // git ends some of its messages with a NUL
  return absl::StrCat("git: remote error: ", ToUtf8(PacketText(text).substr(0, kMaxWords)));
}

// An error of the server that the table does not know is UNIMPLEMENTED: git may understand more.
absl::Status Refusal(absl::string_view text) {
  const std::optional<absl::StatusCode> code = GitErrorCode(text);
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
  bytes_ += static_cast<int64_t>(bytes.size());
  return reader_.Read(bytes, [this](const Packet& packet) -> absl::Status {
    absl::string_view text = packet.data;
    if (ended_) return absl::DataLossError("the server's answer has data after its end");
    // no packet of a pack begins with this
    if (absl::ConsumePrefix(&text, "ERR ")) return Refusal(text);
    began_ = true;
    ASSIGN_OR_RETURN(ended_, OnPacket(packet));
    return absl::OkStatus();
  });
}

// An answer that began but did not end is UNAVAILABLE, because the connection broke. One that did
// not even begin is of another protocol.
absl::Status V2Response::Finish() const {
  if (ended_ && reader_.between_packets()) return absl::OkStatus();
  return began_ ? absl::UnavailableError("the server's answer ends too early") : Unexpected();
}

void RefsResponse::Add(const std::string& name, absl::string_view id) {
  if (names_.count(name) > 0) refs_.emplace(name, id);
}

// Reads "<id> <name>" and perhaps attributes, among them "peeled:<id>".
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
  // Sections about the commits that we have and that are shallow tell nothing new.
  const bool skipped = name == "acknowledgments" || name == "shallow-info";
  if (!skipped && name != "packfile") return Unexpected();
  section_ = skipped ? Section::kSkipped : Section::kPack;
  return absl::OkStatus();
}

// Keeps the end of the messages of the server's programs, which have the reason if it gives up.
void PackResponse::Listen(absl::string_view said) {
  absl::StrAppend(&said_, said);
  if (said_.size() > kMaxSaid) said_.erase(0, said_.size() - kMaxSaid);
}

absl::Status PackResponse::OnBand(absl::string_view data) {
  if (data.empty()) return Unexpected();
  const absl::string_view rest = data.substr(1);
  switch (data[0]) {
    case 1:
      pack_ += static_cast<int64_t>(rest.size());
      // an empty one only says that the server is at work
      return rest.empty() ? absl::OkStatus() : sink_(rest);
    case 2:
      Listen(rest);
      return absl::OkStatus();
    case 3: {
      const std::optional<absl::StatusCode> code = GitErrorCode(absl::StrCat(said_, rest));
      return absl::Status(code.value_or(absl::StatusCode::kUnavailable), Words(rest));
    }
    default:
      return Unexpected();
  }
}

absl::StatusOr<bool> PackResponse::OnPacket(const Packet& packet) {
  const bool pack = section_ == Section::kPack;
  if (!pack || packet.data.empty() || packet.data[0] != 1) talk_ += 4 + packet.data.size();
  if (talk_ > kMaxTalk)
    return absl::FailedPreconditionError(
        absl::StrCat("the server must send at most ", kMaxTalk, " bytes beside the pack"));
  if (packet.kind == PacketKind::kFlush) {
    // An answer without a pack asks for another round, which was not to be needed.
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

// With `done` the server does not first report which of our commits it knows, which saves a round
// trip. A server that does not know the commit sends everything. The pack for a request without
// `have` cannot be thin.
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
  } else {
    if (request.depth > 0) AppendLine(body, "deepen ", request.depth);
    if (!request.filter.empty()) AppendLine(body, "filter ", request.filter);
  }
  for (const std::string& id : request.want) AppendLine(body, "want ", id);
  if (!request.have.empty()) AppendLine(body, "have ", request.have);
  AppendLine(body, "done");
  AppendFlush(body);
  return body;
}

}  // namespace kernelmill::fetcher
