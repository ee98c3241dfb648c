#include "common/access/authorizer.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/auth_metadata_processor.h>
#include <grpcpp/server_context.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/log.h"

// A caller proves its role in one of two ways: by the SPIFFE URI in its client certificate
// (spiffe://ROLE/NAME), or by a token in the metadata (ROLE.NAME.SECRET). TLS has checked the
// certificate before the authorizer runs; the token is looked up in Tokens. The authorizer then
// asks the table in roles.cc whether the role may call the method. A method that the table does not
// have is refused for every role, so that a new method stays closed until somebody enters it.
namespace kernelmill::access {
namespace {

using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

absl::string_view View(const grpc::string_ref& text) { return {text.data(), text.size()}; }

// Returns the token of "authorization: Bearer TOKEN", or an empty string.
absl::string_view GetBearer(const Metadata& metadata) {
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return "";
  absl::string_view value = View(found->second);
  return absl::ConsumePrefix(&value, "Bearer ") ? value : absl::string_view();
}

// Returns the caller that a certificate's URI names. Another trust domain than a role's name, or a
// URI without a name, gives no caller.
std::optional<Caller> ParseCaller(absl::string_view uri) {
  if (!absl::ConsumePrefix(&uri, "spiffe://")) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(uri, absl::MaxSplits('/', 2));
  if (parts.size() != 3 || parts[2].empty()) return std::nullopt;
  const std::optional<Role> role = FindRole(parts[1]);
  if (!role.has_value()) return std::nullopt;
  return Caller{role, std::string(parts[2])};
}

std::string ToName(const Caller& caller) {
  if (!caller.role.has_value()) return "";
  return absl::StrCat(RoleName(*caller.role), " ", caller.name);
}

// Returns whether the connection uses TLS. Without TLS no authorizer runs, and a caller's claims
// are not checked.
bool UsesTls(const grpc::AuthContext& context) {
  for (const grpc::string_ref& type :
       context.FindPropertyValues(GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME)) {
    if (View(type) == GRPC_SSL_TRANSPORT_SECURITY_TYPE ||
        View(type) == GRPC_TLS_TRANSPORT_SECURITY_TYPE) {
      return true;
    }
  }
  return false;
}

// Checks each call before its handler runs. Thread-safe.
class Authorizer final : public grpc::AuthMetadataProcessor {
 public:
  explicit Authorizer(std::shared_ptr<Tokens> tokens) : tokens_(std::move(tokens)) {}

  // Looking into two tables is fast enough for gRPC's own thread.
  bool IsBlocking() const override { return false; }

  // Runs on gRPC's thread for each call, before its handler. UNAUTHENTICATED: the caller has no
  // role; PERMISSION_DENIED: its role may not call the method. Neither is retryable.
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context,
                       OutputMetadata* consumed, OutputMetadata*) override {
    // GetCaller trusts a token in the metadata. So without Tokens, where it is not checked, it is
    // removed.
    if (const auto token = metadata.find("authorization");
        tokens_ == nullptr && token != metadata.end()) {
      consumed->emplace("authorization", std::string(View(token->second)));
    }
    const auto path = metadata.find(":path");
    if (path == metadata.end()) return {grpc::StatusCode::INTERNAL, "the call has no method"};
    const absl::string_view method = View(path->second);
    const MethodAccess* access = FindMethod(method);
    if (access != nullptr && access->anyone) return grpc::Status::OK;
    const Caller caller = Identify(metadata, *context);
    if (!caller.role.has_value()) {
      return Refuse(grpc::StatusCode::UNAUTHENTICATED, method, access,
                    "the call has neither a certificate with a role nor a known token");
    }
    if (access != nullptr && Has(access->roles, *caller.role)) {
      return grpc::Status::OK;
    }
    return Refuse(grpc::StatusCode::PERMISSION_DENIED, method, access,
                  absl::StrCat("the caller is ", RoleName(*caller.role), " ", caller.name));
  }

 private:
  // A token wins over a certificate. A token that is not accepted gives no caller, even with a
  // valid certificate: a caller that sends a token means to be known by it.
  Caller Identify(const InputMetadata& metadata, const grpc::AuthContext& context) const {
    const absl::string_view token = GetBearer(metadata);
    if (!token.empty() && tokens_ != nullptr) return tokens_->Find(token).value_or(Caller{});
    return CertificateCaller(context);
  }

  static grpc::Status Refuse(grpc::StatusCode code, absl::string_view method,
                             const MethodAccess* access, absl::string_view why) {
    const std::string needed = RoleNames(access == nullptr ? RoleSet{0} : access->roles);
    LogWarning("refused a call", {{"method", method}, {"needs", needed}, {"why", why}});
    return {code, absl::StrCat(method, " needs the role ", needed, "; ", why)};
  }

  const std::shared_ptr<Tokens> tokens_;
};

}  // namespace

std::shared_ptr<grpc::AuthMetadataProcessor> NewAuthorizer(std::shared_ptr<Tokens> tokens) {
  return std::make_shared<Authorizer>(std::move(tokens));
}

Caller CertificateCaller(const grpc::AuthContext& context) {
  for (const grpc::string_ref& uri : context.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    if (auto caller = ParseCaller(View(uri))) return *std::move(caller);
  }
  return {};
}

Caller GetCaller(const grpc::ServerContext& context) {
  Caller caller;
  if (const auto peer = context.auth_context(); peer != nullptr && UsesTls(*peer)) {
    // A token takes precedence over the certificate, as in the authorizer, which has checked it.
    if (auto claim = ParseClaim(GetBearer(context.client_metadata()))) return *std::move(claim);
    caller = CertificateCaller(*peer);
  }
  if (!caller.role.has_value()) caller.name = context.peer();
  return caller;
}

std::string CallerName(const grpc::ServerContext& context) { return ToName(GetCaller(context)); }

// Callers without a role share the key of their host. A port would be another one for each
// connection, and limits by key would not hold.
std::string CallerKey(const grpc::ServerContext& context) {
  const Caller caller = GetCaller(context);
  return caller.role.has_value() ? ToName(caller) : HostOfPeer(caller.name);
}

std::string HostOfPeer(absl::string_view peer) {
  if (absl::StartsWith(peer, "unix")) return "unix";
  for (const absl::string_view scheme : {"ipv4:", "ipv6:"}) {
    if (!absl::ConsumePrefix(&peer, scheme)) continue;
    // IPv6 addresses are in brackets, which gRPC percent-encodes.
    return absl::StrReplaceAll(peer.substr(0, peer.rfind(':')), {{"%5B", "["}, {"%5D", "]"}});
  }
  return "unknown";
}

grpc::Status Audited(const grpc::ServerContext& context, absl::string_view call,
                     absl::string_view target, grpc::Status status) {
  const Caller caller = GetCaller(context);
  LogInfo("audit", {{"call", call},
                    {"of", target},
                    {"role", caller.role.has_value() ? RoleName(*caller.role) : "unknown"},
                    {"caller", caller.name},
                    {"status", status.ok() ? "OK"
                                           : absl::StatusCodeToString(static_cast<absl::StatusCode>(
                                                 status.error_code()))}});
  return status;
}

}  // namespace kernelmill::access
