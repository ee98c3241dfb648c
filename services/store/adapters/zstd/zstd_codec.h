#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ZSTD_ZSTD_CODEC_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ZSTD_ZSTD_CODEC_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/store/core/storage.h"
#include "services/store/core/uploads.h"

namespace kernelmill::store {

// Makes a decoder of a zstd stream of one or more frames. To bound its memory it refuses frames
// with a window above 8 MiB; levels up to 19 stay below.
std::unique_ptr<Decoder> NewZstdDecoder();

// A streaming compressor that makes one zstd frame. Not thread-safe.
class ZstdEncoder {
 public:
  ZstdEncoder();
  ~ZstdEncoder();
  ZstdEncoder(const ZstdEncoder&) = delete;
  ZstdEncoder& operator=(const ZstdEncoder&) = delete;

  // Compresses bytes, and passes the part of the frame that is ready. Returns the errors of `out`.
  absl::Status Encode(absl::string_view bytes, ByteSink out);
  // Ends the frame. An empty stream makes a frame too.
  absl::Status Finish(ByteSink out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ZSTD_ZSTD_CODEC_H_
