#include "services/store/server/digest_question.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/base/status.h"
#include "common/cas/digest.h"

namespace kernelmill::store {
namespace {

namespace reapi = ::build::bazel::remote::execution::v2;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr int kDigests = reapi::FindMissingBlobsRequest::kBlobDigestsFieldNumber;
static_assert(kDigests == reapi::FindMissingBlobsResponse::kMissingBlobDigestsFieldNumber);
constexpr uint32_t kDigestsTag =
    WireFormatLite::MakeTag(kDigests, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kHashTag = WireFormatLite::MakeTag(cas::Digest::kHashFieldNumber,
                                                      WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kSizeTag =
    WireFormatLite::MakeTag(cas::Digest::kSizeBytesFieldNumber, WireFormatLite::WIRETYPE_VARINT);

absl::Status Malformed() {
  return absl::InvalidArgumentError("the request must be a FindMissingBlobsRequest");
}

CodedInputStream Input(absl::string_view bytes) {
  return CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
}

// Reads a digest in the form that serializers write: the hash, then the size unless it is 0.
// Returns false for another form.
bool ReadPlainDigest(absl::string_view message, absl::string_view* hash, uint64_t* size) {
  CodedInputStream input = Input(message);
  uint32_t length = 0;
  if (input.ReadTag() != kHashTag || !input.ReadVarint32(&length)) return false;
  const int from = input.CurrentPosition();
  if (length > message.size() || !input.Skip(static_cast<int>(length))) return false;
  *hash = message.substr(from, length);
  *size = 0;
  const uint32_t tag = input.ReadTag();
  if (tag == kSizeTag && !input.ReadVarint64(size)) return false;
  return (tag == 0 || tag == kSizeTag) &&
         input.CurrentPosition() == static_cast<int>(message.size());
}

absl::StatusOr<BlobId> ReadDigest(absl::string_view message) {
  absl::string_view hash;
  uint64_t size = 0;
  if (ReadPlainDigest(message, &hash, &size)) return ToBlobId(hash, static_cast<int64_t>(size));
  cas::Digest digest;
  if (!digest.ParseFromArray(message.data(), static_cast<int>(message.size()))) return Malformed();
  return ToBlobId(digest);
}

}  // namespace

absl::StatusOr<DigestQuestion> DigestQuestion::Parse(const grpc::ByteBuffer& request) {
  DigestQuestion question;
  if (!request.TrySingleSlice(&question.bytes_).ok() &&
      !request.DumpToSingleSlice(&question.bytes_).ok()) {
    return Malformed();
  }
  RETURN_IF_ERROR(question.ParseFields());
  return question;
}

absl::Status DigestQuestion::ParseFields() {
  const absl::string_view bytes(reinterpret_cast<const char*>(bytes_.begin()), bytes_.size());
  CodedInputStream input = Input(bytes);
  std::string rest;
  for (int from = 0;; from = input.CurrentPosition()) {
    const uint32_t tag = input.ReadTag();
    if (tag == 0) break;
    const int content = input.CurrentPosition();
    if (!WireFormatLite::SkipField(&input, tag)) return Malformed();
    const absl::string_view field = bytes.substr(from, input.CurrentPosition() - from);
    if (tag != kDigestsTag) {
      rest.append(field.data(), field.size());
      continue;
    }
    CodedInputStream digest = Input(field.substr(content - from));
    uint32_t size = 0;
    digest.ReadVarint32(&size);
    ASSIGN_OR_RETURN(const BlobId id, ReadDigest(field.substr(field.size() - size)));
    ids_.push_back(id);
    fields_.push_back(field);
  }
  if (!input.ConsumedEntireMessage() || !rest_.ParseFromString(rest)) return Malformed();
  return absl::OkStatus();
}

grpc::ByteBuffer DigestQuestion::MakeResponse(const std::vector<bool>& there) const {
  std::string missing;
  for (size_t i = 0; i < there.size(); ++i) {
    if (!there[i]) missing.append(fields_[i].data(), fields_[i].size());
  }
  const grpc::Slice slice(missing);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace kernelmill::store
