#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_PACKET_LINE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_PACKET_LINE_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// git's framing, gitprotocol-common(5): every packet begins with its own length, four hexadecimal
// digits; lengths too small to be one mark the ends of sections and of messages.
enum class PacketKind { kData, kFlush, kDelimiter };

struct Packet {
  PacketKind kind = PacketKind::kData;
  absl::string_view data;
};

inline constexpr size_t kMaxPacketData = 65516;

// Appends to a request. `data` is at most kMaxPacketData bytes.
void AppendPacket(std::string& to, absl::string_view data);
void AppendFlush(std::string& to);
void AppendDelimiter(std::string& to);

// A packet's text without the newline that it may end in.
absl::string_view PacketText(absl::string_view data);

// Cuts a stream, as it comes, into packets. Never holds more than one of them.
class PacketReader {
 public:
  using Handler = absl::FunctionRef<absl::Status(const Packet& packet)>;

  // Hands on each packet that the stream's next bytes complete. The first error of the handler ends
  // it. UNIMPLEMENTED: these are no packets. After an error the reader is of no use.
  absl::Status Read(absl::string_view bytes, Handler handler);

  // Whether the stream may end here.
  bool between_packets() const { return pending_.empty(); }

 private:
  std::string pending_;  // the beginning of a packet
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_PACKET_LINE_H_
