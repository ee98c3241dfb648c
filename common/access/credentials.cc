#include "common/access/credentials.h"

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/access/authorizer.h"
#include "common/access/tokens.h"
#include "common/base/file.h"
#include "common/base/status.h"

namespace kernelmill::access {
namespace {

using grpc::experimental::FileWatcherCertificateProvider;

// gRPC reads the certificate files again at this interval, so that renewed certificates need no
// restart.
constexpr unsigned kRefreshSeconds = 2;
constexpr int64_t kMaxPemBytes = 4 << 20;

// Reads a PEM file once, since gRPC does not report a file that it cannot read.
absl::Status CheckPem(const std::string& path, absl::string_view flag, absl::string_view kind) {
  if (path.empty()) return absl::InvalidArgumentError(absl::StrCat(flag, " is missing"));
  const absl::StatusOr<std::string> text = ReadFile(path, kMaxPemBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": ", text.status().message()));
  }
  if (absl::StrContains(*text, kind)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", path, " has no ", kind, " in PEM"));
}

constexpr absl::string_view kCertificate = "-----BEGIN CERTIFICATE-----";
constexpr absl::string_view kKey = "PRIVATE KEY-----";

// Checks that the certificate has not expired. Otherwise the peer would only close the connection,
// without an error that names the reason.
absl::Status CheckValidity(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxPemBytes));
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr), X509_free);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("--tls-cert: ", path, " cannot be read"));
  }
  const ASN1_TIME* const end = X509_get0_notAfter(certificate.get());
  if (X509_cmp_current_time(end) >= 0) return absl::OkStatus();
  std::tm when = {};
  ASN1_TIME_to_tm(end, &when);
  return absl::InvalidArgumentError(absl::StrCat(
      "--tls-cert: ", path, " expired on ",
      absl::FormatTime("%Y-%m-%d", absl::FromTM(when, absl::UTCTimeZone()), absl::UTCTimeZone())));
}

absl::Status CheckPair(const Identity& identity) {
  RETURN_IF_ERROR(CheckPem(identity.certificate, "--tls-cert", kCertificate));
  RETURN_IF_ERROR(CheckValidity(identity.certificate));
  return CheckPem(identity.key, "--tls-key", kKey);
}

// Adds the token of a file to each call. Thread-safe.
class TokenPlugin final : public grpc::MetadataCredentialsPlugin {
 public:
  TokenPlugin(const std::string& path, std::string token) : file_(path), token_(std::move(token)) {}

  // Reading a small file at most once a second is fast enough for gRPC's own thread.
  bool IsBlocking() const override { return false; }

  grpc::Status GetMetadata(grpc::string_ref, grpc::string_ref, const grpc::AuthContext&,
                           std::multimap<std::string, std::string>* metadata) override {
    absl::MutexLock lock(&mutex_);
    if (const auto text = file_.ReadIfChanged())
      token_ = std::string(absl::StripAsciiWhitespace(*text));
    metadata->emplace("authorization", absl::StrCat("Bearer ", token_));
    return grpc::Status::OK;
  }

 private:
  absl::Mutex mutex_;
  WatchedFile file_;
  std::string token_ ABSL_GUARDED_BY(mutex_);
};

// INVALID_ARGUMENT: the file cannot be read, or what it has is not a token. The form is checked
// here, since a server would only answer that the caller is unknown.
absl::StatusOr<std::shared_ptr<grpc::CallCredentials>> TokenCredentials(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxPemBytes);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--token-file: ", text.status().message()));
  }
  std::string token(absl::StripAsciiWhitespace(*text));
  if (!ParseClaim(token).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--token-file: ", path, " must contain a token, ROLE.NAME.SECRET"));
  }
  return grpc::MetadataCredentialsFromPlugin(std::make_unique<TokenPlugin>(path, std::move(token)));
}

}  // namespace

// Returns null without TLS: the server then accepts every caller. Tokens without TLS are refused,
// since they would travel in the clear.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentials(
    const Identity& identity) {
  if (!identity.uses_tls()) {
    if (identity.tokens.empty()) return std::shared_ptr<grpc::ServerCredentials>();
    return absl::InvalidArgumentError("--tokens needs TLS: --tls-cert, --tls-key and --tls-ca");
  }
  RETURN_IF_ERROR(CheckPair(identity));
  RETURN_IF_ERROR(CheckPem(identity.authority, "--tls-ca", kCertificate));
  std::shared_ptr<Tokens> tokens;
  if (!identity.tokens.empty()) {
    ASSIGN_OR_RETURN(tokens, Tokens::Open(identity.tokens));
  }
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<FileWatcherCertificateProvider>(identity.key, identity.certificate,
                                                       identity.authority, kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  options.watch_root_certs();
  // Not required: a caller may have a token instead, and anyone may check health.
  options.set_cert_request_type(GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  auto credentials = grpc::experimental::TlsServerCredentials(options);
  credentials->SetAuthMetadataProcessor(NewAuthorizer(std::move(tokens)));
  return credentials;
}

// Returns null without TLS. A client may have a certificate, a token, or both; the token goes with
// each call, the certificate with the connection.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ChannelCredentials(
    const Identity& identity) {
  if (!identity.uses_tls()) {
    if (identity.token.empty()) return std::shared_ptr<grpc::ChannelCredentials>();
    return absl::InvalidArgumentError("--token-file needs TLS: --tls-ca");
  }
  RETURN_IF_ERROR(CheckPem(identity.authority, "--tls-ca", kCertificate));
  const bool has_certificate = !identity.certificate.empty() || !identity.key.empty();
  if (has_certificate) RETURN_IF_ERROR(CheckPair(identity));
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::make_shared<FileWatcherCertificateProvider>(
      identity.key, identity.certificate, identity.authority, kRefreshSeconds));
  options.watch_root_certs();
  if (has_certificate) options.watch_identity_key_cert_pairs();
  std::shared_ptr<grpc::ChannelCredentials> channel = grpc::experimental::TlsCredentials(options);
  if (identity.token.empty()) return channel;
  ASSIGN_OR_RETURN(std::shared_ptr<grpc::CallCredentials> token, TokenCredentials(identity.token));
  return grpc::CompositeChannelCredentials(channel, token);
}

std::shared_ptr<grpc::ChannelCredentials> SelfCredentials(const Identity& identity) {
  if (!identity.uses_tls()) return nullptr;
  grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(std::make_shared<grpc::experimental::NoOpCertificateVerifier>());
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace kernelmill::access
