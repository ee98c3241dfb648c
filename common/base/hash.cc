#include "common/base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include "absl/strings/escaping.h"

namespace kernelmill {
namespace {

// Hashes in one call. OpenSSL fails only without memory, so errors are not looked at.
std::string DigestWith(const EVP_MD* function, absl::string_view bytes) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), out, &size, function, nullptr);
  return std::string(reinterpret_cast<char*>(out), size);
}

// OpenSSL looks up the implementation each time it gets EVP_sha256() or EVP_sha1(). That takes as
// long as hashing a kernel, under a lock that all threads share. So the lookup is done once.
const EVP_MD* FetchedSha256() {
  static const EVP_MD* function = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return function;
}
const EVP_MD* FetchedSha1() {
  static const EVP_MD* function = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  return function;
}

}  // namespace

std::string Sha256(absl::string_view bytes) { return DigestWith(FetchedSha256(), bytes); }
std::string Sha256Hex(absl::string_view bytes) { return absl::BytesToHexString(Sha256(bytes)); }
std::string Sha1(absl::string_view bytes) { return DigestWith(FetchedSha1(), bytes); }

uint64_t StableHash64(absl::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

// Keeps OpenSSL's types out of the header.
struct Sha256Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context, FetchedSha256(), nullptr);
}

Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::Update(absl::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Sha256Stream::FinishHex() {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(state_->context, out, &size);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<char*>(out), size));
}

}  // namespace kernelmill
