#include "common/rpc/request_cost.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "absl/strings/str_cat.h"

// Walks over the fields of a message as the parser does, and adds up what the parser would allocate
// for each. It stops where the sum exceeds the bound, so that it takes no longer than a parser that
// may fill that much memory.
namespace kernelmill::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Upper bounds of what Protobuf 3.21 and malloc take.
constexpr int64_t kMessageBytes = 48;  // without fields, with the pointer to it
constexpr int64_t kFieldBytes = 16;    // of each field that a message's type has
constexpr int64_t kStringBytes = 64;   // a string or an unknown field, beside its content
constexpr int64_t kNumberBytes = 8;
constexpr int kMaxDepth = 100;  // as the parser's own
constexpr uint32_t kMaxSize = 1 << 30;

class Walk {
 public:
  explicit Walk(CodedInputStream& input) : input_(input) {}

  // Walks to the end of the input or of its current limit. Returns false if the bytes are not a
  // message, or take too much.
  bool WalkMessage(const Descriptor* type, int depth) {
    if (!Add(kMessageBytes + (type == nullptr ? 0 : kFieldBytes * type->field_count())))
      return false;
    while (const uint32_t tag = input_.ReadTag()) {
      if (!WalkField(type, tag, depth)) return false;
    }
    return input_.ConsumedEntireMessage();
  }
  int64_t bytes() const { return bytes_; }

 private:
  bool Add(int64_t more) {
    bytes_ += more;
    return bytes_ <= kMaxParsedBytes;
  }

  bool WalkField(const Descriptor* type, uint32_t tag, int depth) {
    const FieldDescriptor* const field =
        type == nullptr ? nullptr : type->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      // An unknown number takes what an unknown string does. Groups are of no field of ours.
      return Add(field != nullptr ? kNumberBytes : kStringBytes) &&
             WireFormatLite::SkipField(&input_, tag);
    }
    uint32_t size = 0;
    if (!input_.ReadVarint32(&size) || size > kMaxSize) return false;
    if (field == nullptr || field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      return Add(kStringBytes + size) && input_.Skip(static_cast<int>(size));
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {  // packed numbers
      return Add(kNumberBytes * size) && input_.Skip(static_cast<int>(size));
    }
    if (depth >= kMaxDepth) return false;
    const CodedInputStream::Limit outer = input_.PushLimit(static_cast<int>(size));
    if (!WalkMessage(field->message_type(), depth + 1)) return false;
    input_.PopLimit(outer);
    return true;
  }

  CodedInputStream& input_;
  int64_t bytes_ = 0;
};

}  // namespace

absl::StatusOr<int64_t> GetParsedBytes(grpc::ByteBuffer& bytes, const Descriptor& type) {
  grpc::ProtoBufferReader reader(&bytes);
  CodedInputStream input(&reader);
  Walk walk(input);
  if (walk.WalkMessage(&type, 0)) return walk.bytes();
  if (walk.bytes() > kMaxParsedBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the request must take at most ", kMaxParsedBytes, " bytes of memory"));
  }
  return absl::InvalidArgumentError(absl::StrCat("the request must be a ", type.full_name()));
}

}  // namespace kernelmill::rpc
