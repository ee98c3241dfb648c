#include "services/fetcher/adapters/smart_http/packet_line.h"

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"

namespace kernelmill::fetcher {
namespace {

// A packet is four hexadecimal digits with its length, the digits included, and its data. 0000 is a
// flush, 0001 a delimiter. PacketReader gets bytes in pieces of any size: a packet that is not
// complete waits in pending_, and every other one is passed on as a view of the bytes.
constexpr size_t kPrefix = 4;  // digits
constexpr size_t kFlush = 0;
constexpr size_t kDelimiter = 1;

// Parses the length at the beginning of a packet. 0002 and 0003 have no meaning between a client
// and a server.
std::optional<size_t> ParseLength(absl::string_view digits) {
  int length = 0;
  if (!std::all_of(digits.begin(), digits.end(), absl::ascii_isxdigit) ||
      !absl::SimpleHexAtoi(digits, &length)) {
    return std::nullopt;
  }
  const size_t size = length;
  const bool data = size >= kPrefix && size <= kPrefix + kMaxPacketData;
  if (!data && size != kFlush && size != kDelimiter) return std::nullopt;
  return size;
}

absl::Status NoPacket() {
  return absl::UnimplementedError("the server's answer does not consist of git packets");
}

// Takes a packet off the front of `bytes`. Nothing if it is not complete.
absl::StatusOr<std::optional<Packet>> TakePacket(absl::string_view& bytes) {
  if (bytes.size() < kPrefix) return std::nullopt;
  const std::optional<size_t> length = ParseLength(bytes.substr(0, kPrefix));
  if (!length.has_value()) return NoPacket();
  const size_t size = std::max(*length, kPrefix);
  if (bytes.size() < size) return std::nullopt;
  Packet packet{PacketKind::kData, bytes.substr(kPrefix, size - kPrefix)};
  if (*length == kFlush) packet.kind = PacketKind::kFlush;
  if (*length == kDelimiter) packet.kind = PacketKind::kDelimiter;
  bytes.remove_prefix(size);
  return packet;
}

// Returns how many bytes are missing to complete the packet, or its length, that `pending` begins.
absl::StatusOr<size_t> Lacking(absl::string_view pending) {
  if (pending.size() < kPrefix) return kPrefix - pending.size();
  const std::optional<size_t> length = ParseLength(pending.substr(0, kPrefix));
  if (!length.has_value()) return NoPacket();
  return std::max(*length, kPrefix) - pending.size();
}

}  // namespace

void AppendPacket(std::string& to, absl::string_view data) {
  absl::StrAppend(&to, absl::Hex(data.size() + kPrefix, absl::kZeroPad4), data);
}

void AppendFlush(std::string& to) { to += "0000"; }

void AppendDelimiter(std::string& to) { to += "0001"; }

absl::string_view PacketText(absl::string_view data) { return absl::StripSuffix(data, "\n"); }

absl::Status PacketReader::Read(absl::string_view bytes, Handler handler) {
  // Complete the pending packet first. The others are read from `bytes` without a copy.
  while (!pending_.empty() && !bytes.empty()) {
    ASSIGN_OR_RETURN(const size_t lacking, Lacking(pending_));
    const size_t taken = std::min(lacking, bytes.size());
    absl::StrAppend(&pending_, bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    absl::string_view whole = pending_;
    ASSIGN_OR_RETURN(const std::optional<Packet> packet, TakePacket(whole));
    if (!packet.has_value()) continue;
    RETURN_IF_ERROR(handler(*packet));
    pending_.clear();
  }
  while (!bytes.empty()) {
    ASSIGN_OR_RETURN(const std::optional<Packet> packet, TakePacket(bytes));
    if (!packet.has_value()) break;
    RETURN_IF_ERROR(handler(*packet));
  }
  absl::StrAppend(&pending_, bytes);
  return absl::OkStatus();
}

}  // namespace kernelmill::fetcher
