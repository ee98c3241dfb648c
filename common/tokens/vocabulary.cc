#include "common/tokens/vocabulary.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

// Links a file in as bytes, between two symbols. VOCABULARIES is the folder of the files.
#define KM_INCLUDE_BYTES(name, file)     \
  __asm__(                               \
      ".pushsection .rodata\n"           \
      ".global " #name "_begin\n" #name  \
      "_begin:\n"                        \
      ".incbin \"" VOCABULARIES "/" file \
      "\"\n"                             \
      ".global " #name "_end\n" #name    \
      "_end:\n"                          \
      ".popsection\n");                  \
  extern "C" const char name##_begin[];  \
  extern "C" const char name##_end[]

KM_INCLUDE_BYTES(km_cl100k_base, "cl100k_base.json");
KM_INCLUDE_BYTES(km_o200k_base, "o200k_base.json");

namespace kernelmill::bpe {
namespace {

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("byte-pair vocabulary: ", what));
}

}  // namespace

// The ranks are words: "!" and a number set the next rank, every other word is a token in base64
// with the next rank. Every byte must be a token, so that every text can be encoded.
absl::StatusOr<Vocabulary> Vocabulary::Parse(absl::string_view json) {
  const auto document = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  if (!document.is_object() || !document.contains("bpe_ranks") ||
      !document["bpe_ranks"].is_string()) {
    return Malformed("\"bpe_ranks\" must be a string");
  }
  const auto& ranks = document["bpe_ranks"].get_ref<const std::string&>();
  Vocabulary vocabulary;
  uint32_t rank = 0;
  bool first = false;  // the next word is a first rank
  for (const absl::string_view word :
       absl::StrSplit(ranks, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    std::string token;
    if (word == "!") {
      first = true;
    } else if (std::exchange(first, false)) {
      if (!absl::SimpleAtoi(word, &rank)) return Malformed("a rank must be a number");
    } else if (absl::Base64Unescape(word, &token)) {
      vocabulary.Add(token, rank++);
    } else {
      return Malformed("a token must be base64");
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (vocabulary.Rank(std::string(1, static_cast<char>(byte))) == kNoRank) {
      return Malformed("every byte must be a token");
    }
  }
  return vocabulary;
}

absl::string_view Cl100kBaseText() {
  return {km_cl100k_base_begin, static_cast<size_t>(km_cl100k_base_end - km_cl100k_base_begin)};
}

absl::string_view O200kBaseText() {
  return {km_o200k_base_begin, static_cast<size_t>(km_o200k_base_end - km_o200k_base_begin)};
}

}  // namespace kernelmill::bpe
