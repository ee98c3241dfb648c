#include "services/store/adapters/zstd/zstd_codec.h"

#include <zstd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"

namespace kernelmill::store {
namespace {

// Bounds the memory of a decoder: a stream that asks for a larger window is refused.
constexpr int kMaxWindowLog = 23;  // 8 MiB
// Level 1 is fast, and most of the gain on source text is there already.
constexpr int kLevel = 1;

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()), piece_(ZSTD_DStreamOutSize(), '\0') {
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

  // Passes the content piece by piece. Content may remain inside zstd when the input is used up; it
  // remains if the last piece was full, so the loop goes on until a piece is not.
  absl::Status Decode(absl::string_view compressed, ByteSink out) override {
    ZSTD_inBuffer input = {compressed.data(), compressed.size(), 0};
    bool output_full = false;
    while (input.pos < input.size || output_full) {
      ZSTD_outBuffer output = {piece_.data(), piece_.size(), 0};
      const size_t hint = ZSTD_decompressStream(context_, &output, &input);
      if (ZSTD_isError(hint)) {
        return absl::InvalidArgumentError(absl::StrCat("zstd: ", ZSTD_getErrorName(hint)));
      }
      inside_frame_ = hint != 0;
      output_full = output.pos == output.size && inside_frame_;
      if (output.pos > 0) RETURN_IF_ERROR(out(absl::string_view(piece_.data(), output.pos)));
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    if (!inside_frame_) return absl::OkStatus();
    return absl::InvalidArgumentError("zstd: the stream ends in the middle of a frame");
  }

 private:
  ZSTD_DCtx* const context_;
  std::string piece_;
  // True at the start, because an empty input is not a zstd stream.
  bool inside_frame_ = true;
};

}  // namespace

std::unique_ptr<Decoder> NewZstdDecoder() { return std::make_unique<ZstdDecoder>(); }

struct ZstdEncoder::State {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::string piece = std::string(ZSTD_CStreamOutSize(), '\0');
  ~State() { ZSTD_freeCCtx(context); }

  // With ZSTD_e_continue it returns when the input is taken (output may stay inside zstd), with
  // ZSTD_e_end when everything is written.
  absl::Status Run(absl::string_view bytes, ZSTD_EndDirective mode, ByteSink out) {
    ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer output = {piece.data(), piece.size(), 0};
      const size_t left = ZSTD_compressStream2(context, &output, &input, mode);
      if (ZSTD_isError(left)) {
        return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
      }
      if (output.pos > 0) RETURN_IF_ERROR(out(absl::string_view(piece.data(), output.pos)));
      const bool done = mode == ZSTD_e_end ? left == 0 : input.pos == input.size;
      if (done) return absl::OkStatus();
    }
  }
};

ZstdEncoder::ZstdEncoder() : state_(std::make_unique<State>()) {
  ZSTD_CCtx_setParameter(state_->context, ZSTD_c_compressionLevel, kLevel);
}

ZstdEncoder::~ZstdEncoder() = default;

absl::Status ZstdEncoder::Encode(absl::string_view bytes, ByteSink out) {
  return state_->Run(bytes, ZSTD_e_continue, out);
}

absl::Status ZstdEncoder::Finish(ByteSink out) { return state_->Run("", ZSTD_e_end, out); }

}  // namespace kernelmill::store
