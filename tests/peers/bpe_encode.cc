// usage: bpe_encode ENCODING, of cl100k_base and o200k_base
// Reads texts from standard input until it ends: the size in bytes as four, lowest first, then the
// text. Writes the ids of each text's tokens: their number as four bytes, then each as four. At the
// end it says on standard error how many seconds the encoding alone took.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/tokens/encoding.h"

namespace {

bool ReadText(std::string& text) {
  uint32_t size = 0;
  if (std::fread(&size, sizeof(size), 1, stdin) != 1) return false;
  text.resize(size);
  return std::fread(text.data(), 1, size, stdin) == size;
}

void Write(const std::vector<uint32_t>& tokens) {
  const auto count = static_cast<uint32_t>(tokens.size());
  std::fwrite(&count, sizeof(count), 1, stdout);
  std::fwrite(tokens.data(), sizeof(uint32_t), tokens.size(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  using kernelmill::bpe::Encoding;
  const absl::string_view name = argc == 2 ? argv[1] : "";
  if (name != "cl100k_base" && name != "o200k_base") {
    std::fputs("usage: bpe_encode cl100k_base|o200k_base\n", stderr);
    return 2;
  }
  const Encoding& encoding =
      name == "cl100k_base" ? kernelmill::bpe::Cl100kBase() : kernelmill::bpe::O200kBase();
  std::chrono::duration<double> spent{};
  for (std::string text; ReadText(text);) {
    const auto began = std::chrono::steady_clock::now();
    const std::vector<uint32_t> tokens = encoding.Encode(text);
    spent += std::chrono::steady_clock::now() - began;
    Write(tokens);
  }
  std::fprintf(stderr, "%.6f\n", spent.count());
  return 0;
}
