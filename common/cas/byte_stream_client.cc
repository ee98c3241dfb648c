#include "common/cas/byte_stream_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/status.h"
#include "common/rpc/retry.h"
#include "common/rpc/status.h"

namespace kernelmill::cas {
namespace {

namespace bytestream = ::google::bytestream;

// The most that is reserved before the first byte has come, whatever a digest claims.
constexpr int64_t kMaxReserve = 64 << 20;

// A random (version 4) UUID.
std::string NewUploadId() {
  thread_local absl::BitGen random;
  std::string raw(16, '\0');
  for (char& byte : raw) byte = static_cast<char>(absl::Uniform<int>(random, 0, 256));
  raw[6] = static_cast<char>((raw[6] & 0x0f) | 0x40);
  raw[8] = static_cast<char>((raw[8] & 0x3f) | 0x80);
  const std::string hex = absl::BytesToHexString(raw);
  const absl::string_view h = hex;
  return absl::StrCat(h.substr(0, 8), "-", h.substr(8, 4), "-", h.substr(12, 4), "-",
                      h.substr(16, 4), "-", h.substr(20));
}

}  // namespace

ByteStreamClient::ByteStreamClient(std::shared_ptr<grpc::Channel> channel,
                                   const GrpcBlobStoreOptions* options)
    : options_(*options), stub_(bytestream::ByteStream::NewStub(std::move(channel))) {}

absl::Duration ByteStreamClient::Deadline(const Digest& digest) const {
  return options_.call_deadline + absl::Seconds(digest.size_bytes() >> 20);
}

std::string ByteStreamClient::Prefix() const {
  return options_.instance_name.empty() ? "" : absl::StrCat(options_.instance_name, "/");
}

absl::Status ByteStreamClient::Write(const Digest& digest, absl::string_view bytes) {
  const std::string resource =
      absl::StrCat(Prefix(), "uploads/", NewUploadId(), "/blobs/", ToString(digest));
  bool broken = false;
  return rpc::Retry(
      options_.retry, absl::StrCat("uploading ", ToString(digest)),
      [&]() -> absl::Status {
        int64_t offset = 0;
        if (std::exchange(broken, true)) {
          ASSIGN_OR_RETURN(offset, Arrived(resource, digest.size_bytes()));
        }
        if (offset < 0) return absl::OkStatus();
        return WriteFrom(resource, digest, bytes, offset);
      },
      options_.sleep);
}

// How much of an upload the server has; -1: all, and it is stored.
absl::StatusOr<int64_t> ByteStreamClient::Arrived(const std::string& resource, int64_t size) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options_.call_deadline));
  bytestream::QueryWriteStatusRequest request;
  request.set_resource_name(resource);
  bytestream::QueryWriteStatusResponse response;
  const absl::Status status =
      rpc::FromCallStatus(stub_->QueryWriteStatus(&context, request, &response));
  // Servers that keep no uploads, or lost this one with a restart, take it from the beginning.
  if (absl::IsNotFound(status) || absl::IsUnimplemented(status)) return 0;
  RETURN_IF_ERROR(status);
  if (response.complete()) return -1;
  if (response.committed_size() < 0 || response.committed_size() > size) return 0;
  return response.committed_size();
}

absl::Status ByteStreamClient::WriteFrom(const std::string& resource, const Digest& digest,
                                         absl::string_view bytes, int64_t offset) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + Deadline(digest)));
  bytestream::WriteResponse response;
  const auto stream = stub_->Write(&context, &response);
  bytestream::WriteRequest request;
  request.set_resource_name(resource);
  do {
    const absl::string_view piece = bytes.substr(offset, options_.stream_message_bytes);
    request.set_write_offset(offset);
    request.set_data(piece.data(), piece.size());
    offset += static_cast<int64_t>(piece.size());
    request.set_finish_write(offset == digest.size_bytes());
    // False: the server has answered already, perhaps since it has the blob. Finish() says.
    if (!stream->Write(request)) break;
    request.clear_resource_name();
  } while (!request.finish_write());
  stream->WritesDone();
  RETURN_IF_ERROR(rpc::FromCallStatus(stream->Finish()));
  if (response.committed_size() == digest.size_bytes()) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the server took ", response.committed_size(), " of ",
                                         digest.size_bytes(), " bytes"));
}

absl::StatusOr<std::string> ByteStreamClient::Read(const Digest& digest) {
  const std::string resource = absl::StrCat(Prefix(), "blobs/", ToString(digest));
  std::string bytes;
  bytes.reserve(std::min(digest.size_bytes(), kMaxReserve));
  while (true) {
    const size_t before = bytes.size();
    const absl::Status status = rpc::Retry(
        options_.retry, absl::StrCat("reading ", ToString(digest)),
        [&] { return ReadRest(resource, digest, &bytes); }, options_.sleep);
    if (status.ok()) return bytes;
    // A long read over a bad line may break more often than the policy allows for one call; it goes
    // on for as long as it gets further.
    if (!IsRetryable(status) || bytes.size() == before) return status;
  }
}

absl::Status ByteStreamClient::ReadRest(const std::string& resource, const Digest& digest,
                                        std::string* bytes) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + Deadline(digest)));
  bytestream::ReadRequest request;
  request.set_resource_name(resource);
  request.set_read_offset(static_cast<int64_t>(bytes->size()));
  const auto stream = stub_->Read(&context, request);
  bytestream::ReadResponse piece;
  bool too_much = false;
  while (!too_much && stream->Read(&piece)) {
    too_much = piece.data().size() > digest.size_bytes() - bytes->size();
    if (!too_much) bytes->append(piece.data());
  }
  if (too_much) context.TryCancel();
  const absl::Status status = rpc::FromCallStatus(stream->Finish());
  if (too_much) return absl::DataLossError("the server sends more bytes than the digest says");
  RETURN_IF_ERROR(status);
  if (static_cast<int64_t>(bytes->size()) == digest.size_bytes()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the server sent ", bytes->size(), " bytes"));
}

}  // namespace kernelmill::cas
