#include "tests/bench/store/contents.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"

namespace kernelmill::bench {
namespace {

// Words of kernels; text made of them shrinks to about a fifth, as source code does.
constexpr std::array<absl::string_view, 24> kWords = {
    "tl.load", "tl.store",  "offsets", "mask",      "pid",    "BLOCK_SIZE",    "=",
    "+",       "*",         "(",       ")",         "\n    ", "x_ptr",         "y_ptr",
    "n",       "tl.arange", "tl.sum",  "other=0.0", "stride", "tl.program_id", "acc",
    "tl.dot",  "return",    ","};

std::string RandomBytes(uint64_t seed, size_t size) {
  Numbers numbers(seed);
  std::string bytes((size + 7) / 8 * 8, '\0');
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t number = numbers.Next();
    std::memcpy(&bytes[i], &number, 8);
  }
  bytes.resize(size);
  return bytes;
}

std::string SourceText(uint64_t seed, size_t size) {
  Numbers numbers(seed);
  std::string text;
  text.reserve(size + 32);
  while (text.size() < size) {
    const uint64_t number = numbers.Next();
    absl::StrAppend(&text, kWords[number % kWords.size()], " ");
    if (number >> 60 == 0) absl::StrAppend(&text, number >> 40, " ");
  }
  text.resize(size);
  return text;
}

}  // namespace

Numbers::Numbers(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}

uint64_t Numbers::Next() {  // splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::string MakeContent(Kind kind, uint64_t seed, size_t size) {
  return kind == Kind::kRandom ? RandomBytes(seed, size) : SourceText(seed, size);
}

LargeBlobs::LargeBlobs(Kind kind, uint64_t seed, size_t size)
    : seed_(seed), body_(MakeContent(kind, seed, size - kTail)) {}

std::string LargeBlobs::Tail(uint64_t index) const {
  std::string tail = absl::StrCat("seed ", seed_, " blob ", index, " ");
  tail.resize(kTail, '.');
  return tail;
}

cas::Digest LargeBlobs::GetDigest(uint64_t index) const {
  Sha256Stream hash;
  hash.Update(body_);
  hash.Update(Tail(index));
  cas::Digest digest;
  digest.set_hash(hash.FinishHex());
  digest.set_size_bytes(static_cast<int64_t>(size()));
  return digest;
}

}  // namespace kernelmill::bench
