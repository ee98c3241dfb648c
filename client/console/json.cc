// Messages as JSON. Protobuf's own JSON writes numbers of 64 bits as strings, enums by their long
// names and bytes as Base64. A script wants none of these.

#include "client/console/json.h"

#include <google/protobuf/message.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "common/words/enum_words.h"

namespace kernelmill::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::ordered_json;

// The values of one field, single or repeated, of a message.
class FieldValues {
 public:
  FieldValues(const Message& message, const FieldDescriptor& field)
      : message_(message), field_(field), reflection_(*message.GetReflection()) {}

  // Returns the value, or element `index` of a repeated field, by one of two getters.
  template <typename Single, typename Repeated>
  auto Value(Single single, Repeated repeated, int index) const {
    return field_.is_repeated() ? (reflection_.*repeated)(message_, &field_, index)
                                : (reflection_.*single)(message_, &field_);
  }

  int size() const { return reflection_.FieldSize(message_, &field_); }
  bool is_set() const { return reflection_.HasField(message_, &field_); }

  // Returns a value that is no text; element `index` of a repeated field.
  Json Get(int index) const {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return Value(&Reflection::GetInt32, &Reflection::GetRepeatedInt32, index);
      case FieldDescriptor::CPPTYPE_INT64:
        return Value(&Reflection::GetInt64, &Reflection::GetRepeatedInt64, index);
      case FieldDescriptor::CPPTYPE_UINT32:
        return Value(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32, index);
      case FieldDescriptor::CPPTYPE_UINT64:
        return Value(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64, index);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return Value(&Reflection::GetDouble, &Reflection::GetRepeatedDouble, index);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return Value(&Reflection::GetFloat, &Reflection::GetRepeatedFloat, index);
      case FieldDescriptor::CPPTYPE_BOOL:
        return Value(&Reflection::GetBool, &Reflection::GetRepeatedBool, index);
      case FieldDescriptor::CPPTYPE_ENUM:
        return GetEnumWord(*field_.enum_type(), Value(&Reflection::GetEnumValue,
                                                      &Reflection::GetRepeatedEnumValue, index));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return GetMessage(index);
      case FieldDescriptor::CPPTYPE_STRING:
        break;
    }
    return ToUtf8(GetText(index));
  }

  std::string GetText(int index) const {
    return Value(&Reflection::GetString, &Reflection::GetRepeatedString, index);
  }

 private:
  Json GetMessage(int index) const {
    const Message& value = field_.is_repeated()
                               ? reflection_.GetRepeatedMessage(message_, &field_, index)
                               : reflection_.GetMessage(message_, &field_);
    if (value.GetDescriptor() == cas::Digest::descriptor()) {
      return cas::ToString(static_cast<const cas::Digest&>(value));
    }
    return MessageJson(value);
  }

  const Message& message_;
  const FieldDescriptor& field_;
  const Reflection& reflection_;
};

}  // namespace

std::string JsonLine(absl::string_view type, const Json& fields) {
  Json line = {{"type", std::string(type)}};
  line.update(fields);
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json MessageJson(const Message& message) {
  Json json = Json::object();
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const FieldValues values(message, field);
    if (field.is_repeated()) {
      Json& list = json[field.name()] = Json::array();
      for (int at = 0; at < values.size(); ++at) list.push_back(values.Get(at));
      continue;
    }
    if (field.has_presence() && !values.is_set()) {
      json[field.name()] = nullptr;
      continue;
    }
    json[field.name()] = values.Get(0);
    if (field.type() != FieldDescriptor::TYPE_BYTES) continue;
    const std::string bytes = values.GetText(0);
    if (!IsUtf8(bytes)) json[absl::StrCat(field.name(), "_base64")] = absl::Base64Escape(bytes);
  }
  return json;
}

}  // namespace kernelmill::client
