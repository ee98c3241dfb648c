#ifndef KERNELMILL_SERVICES_STORE_ADAPTERS_ZSTD_ZSTD_CODEC_H_
#define KERNELMILL_SERVICES_STORE_ADAPTERS_ZSTD_ZSTD_CODEC_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/store/core/storage.h"
#include "services/store/core/uploads.h"

namespace kernelmill::store {

// A zstd stream of one or more frames. Memory is bounded: frames that ask for a window beyond 8 MiB
// (levels up to 19 do not) are refused.
std::unique_ptr<Decoder> NewZstdDecoder();

// Compresses a stream into one zstd frame. Not thread-safe.
class ZstdEncoder {
 public:
  ZstdEncoder();
  ~ZstdEncoder();
  ZstdEncoder(const ZstdEncoder&) = delete;
  ZstdEncoder& operator=(const ZstdEncoder&) = delete;

  // Passes what is ready of the frame. Errors are those of `out`.
  absl::Status Encode(absl::string_view bytes, ByteSink out);
  // Ends the frame; a stream of no bytes is a frame too.
  absl::Status Finish(ByteSink out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_ADAPTERS_ZSTD_ZSTD_CODEC_H_
