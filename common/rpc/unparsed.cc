#include "common/rpc/unparsed.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>

namespace kernelmill::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Reads a field's size and passes over its bytes. Returns false if the input ends before.
bool TakeContent(CodedInputStream& input, std::vector<absl::string_view>* content) {
  uint32_t left = 0;
  if (!input.ReadVarint32(&left)) return false;
  content->clear();  // as for a parser, the last of several values counts
  while (left > 0) {
    const void* bytes = nullptr;
    int size = 0;
    if (!input.GetDirectBufferPointer(&bytes, &size)) return false;
    size = static_cast<int>(std::min<uint32_t>(size, left));
    content->emplace_back(static_cast<const char*>(bytes), size);
    input.Skip(size);
    left -= size;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> TakeBytesField(grpc::ByteBuffer& message, int field,
                                           std::vector<absl::string_view>* content) {
  const uint32_t wanted = WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  std::string rest;
  grpc::ProtoBufferReader reader(&message);
  CodedInputStream input(&reader);
  google::protobuf::io::StringOutputStream output(&rest);
  google::protobuf::io::CodedOutputStream others(&output);
  content->clear();
  bool good = true;
  uint32_t tag = 0;
  while (good && (tag = input.ReadTag()) != 0) {
    good = tag == wanted ? TakeContent(input, content)
                         : WireFormatLite::SkipField(&input, tag, &others);
  }
  others.Trim();
  if (good && input.ConsumedEntireMessage()) return rest;
  return absl::InvalidArgumentError("the request is malformed");
}

}  // namespace kernelmill::rpc
