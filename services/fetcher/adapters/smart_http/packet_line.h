#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_PACKET_LINE_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_PACKET_LINE_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kernelmill::fetcher {

// git's framing (gitprotocol-common(5)): every packet begins with its own length as four
// hexadecimal digits. Lengths that are too small to be one mark the ends of sections and messages.
enum class PacketKind { kData, kFlush, kDelimiter };

// One packet; `data` points into the stream.
struct Packet {
  PacketKind kind = PacketKind::kData;
  absl::string_view data;
};

inline constexpr size_t kMaxPacketData = 65516;

// Append a packet to a request. `data` is at most kMaxPacketData bytes.
void AppendPacket(std::string& to, absl::string_view data);
void AppendFlush(std::string& to);
void AppendDelimiter(std::string& to);

// Returns a packet's text without a final newline.
absl::string_view PacketText(absl::string_view data);

// Cuts a stream into packets while it arrives. Holds at most one packet.
class PacketReader {
 public:
  using Handler = absl::FunctionRef<absl::Status(const Packet& packet)>;

  // Passes on each packet that the stream's next bytes complete. The first error of the handler
  // ends this. UNIMPLEMENTED: the bytes are not packets. After an error the reader must not be used
  // any more.
  absl::Status Read(absl::string_view bytes, Handler handler);

  // Returns whether the stream may end here.
  bool between_packets() const { return pending_.empty(); }

 private:
  std::string pending_;  // the beginning of a packet
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_SMART_HTTP_PACKET_LINE_H_
