#include "services/store/adapters/zstd/zstd_codec.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/testing/status_matchers.h"

namespace kernelmill::store {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Compress(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

std::string Mixed(size_t size) {
  std::string bytes;
  for (size_t i = 0; bytes.size() < size; ++i) bytes += std::to_string(i * 2654435761u);
  bytes.resize(size);
  return bytes;
}

// Decodes `compressed` in pieces of `step` bytes, taking at most `limit`.
absl::Status Decode(absl::string_view compressed, size_t step, size_t limit, std::string* out) {
  const auto decoder = NewZstdDecoder();
  for (; !compressed.empty(); compressed.remove_prefix(std::min(step, compressed.size()))) {
    const absl::Status status =
        decoder->Decode(compressed.substr(0, step), [&](absl::string_view piece) -> absl::Status {
          if (out->size() + piece.size() > limit) return absl::OutOfRangeError("enough");
          out->append(piece.data(), piece.size());
          return absl::OkStatus();
        });
    if (!status.ok()) return status;
  }
  return decoder->Finish();
}

TEST(ZstdDecoder, PiecesOfAnySizeGiveTheWhole) {
  const std::string bytes = Mixed(700'000);
  for (const size_t step : {1'000'000, 65'536, 1'000, 7}) {
    std::string out;
    EXPECT_THAT(Decode(Compress(bytes), step, bytes.size(), &out), IsOk());
    EXPECT_EQ(out, bytes);
  }
}

TEST(ZstdDecoder, FramesMayFollowOnEachOther) {
  std::string out;
  EXPECT_THAT(Decode(Compress("one ") + Compress("two"), 100, 7, &out), IsOk());
  EXPECT_EQ(out, "one two");
}

TEST(ZstdDecoder, AnExpansionStopsWhereTheSinkSaysSo) {
  std::string out;
  EXPECT_THAT(Decode(Compress(std::string(200 << 20, '\0')), 1 << 20, 1 << 20, &out),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_LE(out.size(), size_t{1} << 20);
}

TEST(ZstdDecoder, GarbageAndTruncationAreRefused) {
  std::string out;
  EXPECT_THAT(Decode("no zstd at all", 100, 100, &out), StatusIs(kInvalid));
  const std::string whole = Compress(Mixed(10'000));
  EXPECT_THAT(Decode(absl::string_view(whole).substr(0, whole.size() - 1), 100, 20'000, &out),
              StatusIs(kInvalid));
  EXPECT_THAT(NewZstdDecoder()->Finish(), StatusIs(kInvalid));
}

TEST(ZstdDecoder, AWindowTooLargeToHoldIsRefused) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 27);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  const std::string bytes = Mixed(1000);
  std::string compressed(ZSTD_compressBound(bytes.size()), '\0');
  // Compressed as a stream, because a frame with a known size gets a window of at most that size.
  ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
  ZSTD_outBuffer output = {compressed.data(), compressed.size(), 0};
  ZSTD_compressStream2(context, &output, &input, ZSTD_e_flush);
  ASSERT_EQ(ZSTD_compressStream2(context, &output, &input, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  compressed.resize(output.pos);
  std::string out;
  EXPECT_THAT(Decode(compressed, 100, 1000, &out), StatusIs(kInvalid));
}

TEST(ZstdEncoder, WhatItMakesDecodes) {
  for (const size_t size : {0, 1, 300'000}) {
    const std::string bytes = Mixed(size);
    std::string compressed;
    const auto collect = [&](absl::string_view piece) {
      compressed.append(piece.data(), piece.size());
      return absl::OkStatus();
    };
    ZstdEncoder encoder;
    ASSERT_THAT(encoder.Encode(absl::string_view(bytes).substr(0, size / 3), collect), IsOk());
    ASSERT_THAT(encoder.Encode(absl::string_view(bytes).substr(size / 3), collect), IsOk());
    ASSERT_THAT(encoder.Finish(collect), IsOk());
    std::string out;
    EXPECT_THAT(Decode(compressed, 1000, size, &out), IsOk());
    EXPECT_EQ(out, bytes);
  }
}

TEST(ZstdEncoder, ASinkThatFailsStopsIt) {
  ZstdEncoder encoder;
  const auto gone = [](absl::string_view) { return absl::CancelledError("gone"); };
  EXPECT_THAT(encoder.Finish(gone), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace kernelmill::store
