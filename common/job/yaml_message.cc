#include "common/job/yaml_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::job {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::EnumValueDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// The word for an enum value in a job file: SOURCE_ROLE_HOLDOUT is "holdout". The prefix that the
// values share is that of the one at 0, which ends in UNSPECIFIED and has no word.
std::string EnumWord(const EnumValueDescriptor& value) {
  absl::string_view prefix = value.type()->FindValueByNumber(0)->name();
  absl::ConsumeSuffix(&prefix, "UNSPECIFIED");
  return absl::AsciiStrToLower(absl::StripPrefix(value.name(), prefix));
}

const EnumValueDescriptor* FindEnumWord(const EnumDescriptor& type, absl::string_view word) {
  for (int i = 0; i < type.value_count(); ++i) {
    const EnumValueDescriptor* value = type.value(i);
    if (value->number() != 0 && EnumWord(*value) == word) return value;
  }
  return nullptr;
}

std::string EnumWords(const EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) words.push_back(EnumWord(*type.value(i)));
  }
  return absl::StrJoin(words, ", ");
}

std::string FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return absl::StrJoin(names, ", ");
}

// Whether YAML reads the plain word as something other than text.
bool LooksTyped(absl::string_view word) {
  static const std::set<std::string>* const kWords = new std::set<std::string>{
      "true", "false", "yes", "no", "on", "off", "", ".inf", "-.inf", "+.inf", ".nan"};
  double number;
  return kWords->contains(absl::AsciiStrToLower(word)) || absl::SimpleAtod(word, &number);
}

// Walks the tree along the message's descriptor.
class Reader {
 public:
  Reader(absl::string_view file, FieldLines* lines) : file_(file), lines_(*lines) {}

  absl::Status ReadMessage(const YamlNode& node, const std::string& key, Message* message) {
    if (node.kind != YamlNode::Kind::kMap)
      return Wrong(node.line, key, "keys and values are needed");
    const Descriptor& type = *message->GetDescriptor();
    std::set<std::string> seen;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& name = node.children[i];
      if (name.kind != YamlNode::Kind::kScalar) return Wrong(name.line, key, "a key is not a word");
      const std::string path = key.empty() ? name.text : absl::StrCat(key, ".", name.text);
      const FieldDescriptor* field = type.FindFieldByName(name.text);
      if (field == nullptr) {
        return Wrong(name.line, path, absl::StrCat("unknown key (known: ", FieldNames(type), ")"));
      }
      if (!seen.insert(name.text).second) return Wrong(name.line, path, "given twice");
      RETURN_IF_ERROR(CheckOneof(name.line, path, *field, *message));
      lines_.Set(path, name.line);
      RETURN_IF_ERROR(ReadField(node.children[i + 1], path, *field, message));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Wrong(int line, absl::string_view key, absl::string_view what) const {
    return FileError(file_, line, key.empty() ? std::string(what) : absl::StrCat(key, ": ", what));
  }

  absl::Status CheckOneof(int line, const std::string& path, const FieldDescriptor& field,
                          const Message& message) const {
    if (field.containing_oneof() == nullptr) return absl::OkStatus();
    const FieldDescriptor* other =
        message.GetReflection()->GetOneofFieldDescriptor(message, field.containing_oneof());
    if (other == nullptr) return absl::OkStatus();
    return Wrong(line, path,
                 absl::StrCat("stands beside ", other->name(), "; only one can be given"));
  }

  absl::Status ReadField(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                         Message* message) {
    if (!field.is_repeated()) return ReadValue(node, key, field, message);
    if (node.kind != YamlNode::Kind::kList) return Wrong(node.line, key, "a list is needed");
    for (size_t i = 0; i < node.children.size(); ++i) {
      const std::string item = absl::StrCat(key, "[", i, "]");
      lines_.Set(item, node.children[i].line);
      RETURN_IF_ERROR(ReadValue(node.children[i], item, field, message));
    }
    return absl::OkStatus();
  }

  absl::Status ReadValue(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                         Message* message) {
    const Reflection& reflection = *message->GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return ReadMessage(node, key,
                           field.is_repeated() ? reflection.AddMessage(message, &field)
                                               : reflection.MutableMessage(message, &field));
      case FieldDescriptor::CPPTYPE_STRING:
        return ReadString(node, key, field, message);
      case FieldDescriptor::CPPTYPE_INT32:
        return ReadInt<int32_t>(node, key, field, message);
      case FieldDescriptor::CPPTYPE_INT64:
        return ReadInt<int64_t>(node, key, field, message);
      case FieldDescriptor::CPPTYPE_UINT64:
        return ReadInt<uint64_t>(node, key, field, message);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return ReadDouble(node, key, field, message);
      case FieldDescriptor::CPPTYPE_BOOL:
        return ReadBool(node, key, field, message);
      case FieldDescriptor::CPPTYPE_ENUM:
        return ReadEnum(node, key, field, message);
      default:
        return Wrong(node.line, key, "cannot be set in a job file");
    }
  }

  absl::Status ReadString(const YamlNode& node, const std::string& key,
                          const FieldDescriptor& field, Message* message) const {
    if (node.kind != YamlNode::Kind::kScalar) return Wrong(node.line, key, "text is needed");
    if (!node.quoted && LooksTyped(node.text)) {
      return Wrong(node.line, key, absl::StrCat("text is needed: write ", JsonString(node.text)));
    }
    if (field.is_repeated()) {
      message->GetReflection()->AddString(message, &field, node.text);
    } else {
      message->GetReflection()->SetString(message, &field, node.text);
    }
    return absl::OkStatus();
  }

  template <typename Int>
  absl::Status ReadInt(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                       Message* message) const {
    Int value = 0;
    const std::string& text = node.text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (node.kind != YamlNode::Kind::kScalar || node.quoted || error != std::errc() ||
        end != text.data() + text.size()) {
      return Wrong(node.line, key, "a whole number is needed");
    }
    SetInt(value, field, message);
    return absl::OkStatus();
  }

  static void SetInt(int32_t value, const FieldDescriptor& field, Message* message) {
    const Reflection& reflection = *message->GetReflection();
    if (field.is_repeated()) return reflection.AddInt32(message, &field, value);
    reflection.SetInt32(message, &field, value);
  }
  static void SetInt(int64_t value, const FieldDescriptor& field, Message* message) {
    message->GetReflection()->SetInt64(message, &field, value);
  }
  static void SetInt(uint64_t value, const FieldDescriptor& field, Message* message) {
    message->GetReflection()->SetUInt64(message, &field, value);
  }

  absl::Status ReadDouble(const YamlNode& node, const std::string& key,
                          const FieldDescriptor& field, Message* message) const {
    double value = 0;
    const std::string& text = node.text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (node.kind != YamlNode::Kind::kScalar || node.quoted || error != std::errc() ||
        end != text.data() + text.size() || !(value <= std::numeric_limits<double>::max())) {
      return Wrong(node.line, key, "a number is needed");
    }
    message->GetReflection()->SetDouble(message, &field, value);
    return absl::OkStatus();
  }

  absl::Status ReadBool(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                        Message* message) const {
    const bool is_true = node.text == "true";
    if (node.kind != YamlNode::Kind::kScalar || node.quoted || (!is_true && node.text != "false")) {
      return Wrong(node.line, key, "true or false is needed");
    }
    message->GetReflection()->SetBool(message, &field, is_true);
    return absl::OkStatus();
  }

  absl::Status ReadEnum(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                        Message* message) const {
    const EnumValueDescriptor* value = node.kind == YamlNode::Kind::kScalar
                                           ? FindEnumWord(*field.enum_type(), node.text)
                                           : nullptr;
    if (value == nullptr) {
      return Wrong(node.line, key,
                   absl::StrCat("one of ", EnumWords(*field.enum_type()), " is needed"));
    }
    message->GetReflection()->SetEnum(message, &field, value);
    return absl::OkStatus();
  }

  const absl::string_view file_;
  FieldLines& lines_;
};

// Writes one message as a block mapping, its fields in the order of the proto.
class Writer {
 public:
  static std::string Write(const Message& message) {
    Writer writer;
    writer.WriteMessage(message, "", "");
    return std::move(writer.out_);
  }

 private:
  // `first` begins the first line (the "- " of a list), `indent` the others.
  void WriteMessage(const Message& message, std::string first, const std::string& indent) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    if (fields.empty()) absl::StrAppend(&out_, first, "{}\n");
    for (const FieldDescriptor* field : fields) {
      absl::StrAppend(&out_, std::exchange(first, indent), field->name(), ":");
      if (field->is_repeated()) {
        WriteList(message, *field, indent);
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        WriteNested(reflection.GetMessage(message, field), indent + "  ");
      } else {
        absl::StrAppend(&out_, " ", Scalar(message, *field), "\n");
      }
    }
  }

  void WriteNested(const Message& message, const std::string& indent) {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    out_ += fields.empty() ? " " : "\n";
    WriteMessage(message, fields.empty() ? "" : indent, indent);
  }

  void WriteList(const Message& message, const FieldDescriptor& field, const std::string& indent) {
    const Reflection& reflection = *message.GetReflection();
    out_ += '\n';
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const std::string first = indent + "  - ";
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        WriteMessage(reflection.GetRepeatedMessage(message, &field, i), first, indent + "    ");
      } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
        absl::StrAppend(&out_, first, reflection.GetRepeatedInt32(message, &field, i), "\n");
      } else {
        absl::StrAppend(&out_, first, JsonString(reflection.GetRepeatedString(message, &field, i)),
                        "\n");
      }
    }
  }

  static std::string Scalar(const Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return absl::StrCat(reflection.GetInt32(message, &field));
      case FieldDescriptor::CPPTYPE_INT64:
        return absl::StrCat(reflection.GetInt64(message, &field));
      case FieldDescriptor::CPPTYPE_UINT64:
        return absl::StrCat(reflection.GetUInt64(message, &field));
      case FieldDescriptor::CPPTYPE_DOUBLE: {
        char buffer[64];
        const auto end =
            std::to_chars(buffer, buffer + sizeof(buffer), reflection.GetDouble(message, &field));
        return std::string(buffer, end.ptr);
      }
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection.GetBool(message, &field) ? "true" : "false";
      case FieldDescriptor::CPPTYPE_ENUM:
        return EnumWord(*reflection.GetEnum(message, &field));
      default:
        return JsonString(reflection.GetString(message, &field));
    }
  }

  std::string out_;
};

}  // namespace

int FieldLines::Of(absl::string_view key) const {
  while (!key.empty()) {
    const auto found = lines_.find(std::string(key));
    if (found != lines_.end()) return found->second;
    const size_t end = key.find_last_of(".[");
    key = key.substr(0, end == absl::string_view::npos ? 0 : end);
  }
  return 1;
}

absl::Status ReadYamlMessage(const YamlNode& root, absl::string_view file, Message* message,
                             FieldLines* lines) {
  return Reader(file, lines).ReadMessage(root, "", message);
}

std::string YamlOfMessage(const Message& message) { return Writer::Write(message); }

}  // namespace kernelmill::job
