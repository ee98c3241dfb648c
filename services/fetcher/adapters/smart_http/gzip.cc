#include "services/fetcher/adapters/smart_http/gzip.h"

#include <zlib.h>

#include "absl/status/status.h"

namespace kernelmill::fetcher {

absl::StatusOr<std::string> Gzip(absl::string_view bytes) {
  constexpr int kGzipFormat = 16 + MAX_WBITS;
  constexpr int kMemoryLevel = 8;  // zlib's default
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipFormat, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return absl::InternalError("zlib");
  }
  std::string zipped(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = bytes.size();
  stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
  stream.avail_out = zipped.size();
  const int result = deflate(&stream, Z_FINISH);
  zipped.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) return absl::InternalError("zlib");
  return zipped;
}

}  // namespace kernelmill::fetcher
