#ifndef KERNELMILL_SERVICES_STORE_CORE_DECODER_H_
#define KERNELMILL_SERVICES_STORE_CORE_DECODER_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/store/core/storage.h"

namespace kernelmill::store {

// Undoes a compression piece by piece. Hands output on in small pieces, so that a sink which
// refuses more than it expects stops an expansion early. Not thread-safe.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // INVALID_ARGUMENT: not well formed; or the sink's error.
  virtual absl::Status Decode(absl::string_view compressed, ByteSink out) = 0;
  // INVALID_ARGUMENT: the input ended in the middle.
  virtual absl::Status Finish() = 0;
};

using DecoderFactory = std::function<std::unique_ptr<Decoder>()>;

}  // namespace kernelmill::store

#endif  // KERNELMILL_SERVICES_STORE_CORE_DECODER_H_
