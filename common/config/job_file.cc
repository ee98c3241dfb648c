#include "common/config/job_file.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/repeated_ptr_field.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/base/file.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/config/job_file_tree.h"
#include "common/config/job_spec.h"
#include "common/config/opt_out_list.h"
#include "common/config/pair_list.h"
#include "common/config/repository_list.h"
#include "common/config/review_list.h"

namespace kernelmill::config {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::EnumValueDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

constexpr int64_t kMaxFileBytes = 4 << 20;

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

// Walks the tree along the message's descriptor. Remembers the line of every field, by its key.
class Reader {
 public:
  explicit Reader(absl::string_view file) : file_(file) {}

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
      lines_[path] = name.line;
      RETURN_IF_ERROR(ReadField(node.children[i + 1], path, *field, message));
    }
    return absl::OkStatus();
  }

  absl::Status Wrong(int line, absl::string_view key, absl::string_view what) const {
    return FileError(file_, line, key.empty() ? std::string(what) : absl::StrCat(key, ": ", what));
  }

  // The line of the field, or of the nearest that encloses it.
  int LineOf(absl::string_view key) const {
    while (!key.empty()) {
      const auto found = lines_.find(std::string(key));
      if (found != lines_.end()) return found->second;
      const size_t end = key.find_last_of(".[");
      key = key.substr(0, end == absl::string_view::npos ? 0 : end);
    }
    return 1;
  }

 private:
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
      lines_[item] = node.children[i].line;
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
  std::map<std::string, int> lines_;  // "sources[2].ref" -> line
};

// Whether git would take the text for a path: no scheme, and no host before a colon.
bool IsPathForGit(absl::string_view git) {
  if (absl::StrContains(git, "://")) return false;
  return git.find(':') > git.find('/') || !absl::StrContains(git, ":");
}

// `status`, of reading the list at `key`: what is wrong within the list is said of its own lines.
absl::Status OfList(const absl::Status& status, const Reader& reader, const std::string& key) {
  if (status.ok() || absl::IsInvalidArgument(status)) return status;
  return reader.Wrong(reader.LineOf(key), key, status.message());
}

// Puts the sources that each list stands for in its place.
absl::Status ExpandLists(const std::string& file, const Reader& reader, v1::JobSpec* spec) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  google::protobuf::RepeatedPtrField<v1::Source> written;
  written.Swap(spec->mutable_sources());
  for (int i = 0; i < written.size(); ++i) {
    if (!written[i].has_list()) {
      spec->mutable_sources()->Add(std::move(written[i]));
      continue;
    }
    absl::StatusOr<std::vector<v1::Source>> sources =
        ExpandList(written[i], (folder / written[i].list()).string());
    RETURN_IF_ERROR(OfList(sources.status(), reader, absl::StrCat("sources[", i, "].list")));
    for (v1::Source& source : *sources) spec->mutable_sources()->Add(std::move(source));
  }
  return absl::OkStatus();
}

// Puts the entries of each list of the field `key` in its place. `read` answers those of a file.
template <typename Entry, typename Read>
absl::Status ExpandEntries(const std::string& file, const Reader& reader, absl::string_view key,
                           const Read& read, google::protobuf::RepeatedPtrField<Entry>* entries) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  google::protobuf::RepeatedPtrField<Entry> written;
  written.Swap(entries);
  for (int i = 0; i < written.size(); ++i) {
    if (written[i].list().empty()) {
      entries->Add(std::move(written[i]));
      continue;
    }
    absl::StatusOr<std::vector<Entry>> listed = read((folder / written[i].list()).string());
    RETURN_IF_ERROR(OfList(listed.status(), reader, absl::StrCat(key, "[", i, "].list")));
    for (Entry& entry : *listed) entries->Add(std::move(entry));
  }
  return absl::OkStatus();
}

// `pairs: FILE` stands for `pairs: [{list: FILE}]`; so it is with the other fields whose entries
// may stand in files.
void SpellOutLists(YamlNode& root) {
  for (size_t i = 0; i + 1 < root.children.size(); i += 2) {
    const std::string& name = root.children[i].text;
    if (name != "pairs" && name != "opt_out" && name != "reviews") continue;
    YamlNode& value = root.children[i + 1];
    if (value.kind != YamlNode::Kind::kScalar) continue;
    const YamlNode key = {YamlNode::Kind::kScalar, value.line, true, "list", {}};
    const YamlNode entry = {YamlNode::Kind::kMap, value.line, false, "", {key, value}};
    value = {YamlNode::Kind::kList, value.line, false, "", {entry}};
  }
}

// `checked`, the answer of a check that begins with the field's key, as an error of the file.
absl::Status Placed(const absl::Status& checked, const std::string& file, const Reader& reader) {
  if (checked.ok()) return checked;
  const absl::string_view message(checked.message().data(), checked.message().size());
  return FileError(file, reader.LineOf(message.substr(0, message.find(": "))), message);
}

void ResolveOrigins(const std::string& file, v1::JobSpec* spec) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::absolute(file, error).parent_path();
  for (v1::Source& source : *spec->mutable_sources()) {
    std::string* origin = nullptr;
    if (source.has_path()) origin = source.mutable_path();
    if (source.has_inductor()) origin = source.mutable_inductor();
    if (source.has_git() && IsPathForGit(source.git())) origin = source.mutable_git();
    if (origin == nullptr || origin->empty() || origin->front() == '/') continue;
    if (source.name().empty()) source.set_name(*origin);
    *origin = (folder / *origin).lexically_normal().string();
  }
}

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

absl::StatusOr<v1::JobSpec> ParseJobFile(absl::string_view text, const std::string& path) {
  ASSIGN_OR_RETURN(YamlNode root, ParseYamlTree(text, path));
  SpellOutLists(root);
  Reader reader(path);
  v1::JobSpec spec;
  RETURN_IF_ERROR(reader.ReadMessage(root, "", &spec));
  RETURN_IF_ERROR(Placed(CheckWrittenSpec(spec), path, reader));
  RETURN_IF_ERROR(ExpandLists(path, reader, &spec));
  RETURN_IF_ERROR(ExpandEntries(path, reader, "pairs", ReadPairList, spec.mutable_pairs()));
  RETURN_IF_ERROR(ExpandEntries(path, reader, "opt_out", ReadOptOutList, spec.mutable_opt_out()));
  RETURN_IF_ERROR(ExpandEntries(path, reader, "reviews", ReadReviewList, spec.mutable_reviews()));
  RETURN_IF_ERROR(Placed(CheckJobSpec(spec), path, reader));
  ResolveOrigins(path, &spec);
  return spec;
}

absl::StatusOr<v1::JobSpec> LoadJobFile(const std::string& path) {
  const bool stdin_is_it = path == "-";
  const absl::StatusOr<std::string> read =
      ReadFile(stdin_is_it ? "/dev/stdin" : path, kMaxFileBytes);
  // Too large is no shortage that passes: the file is wrong.
  if (absl::IsResourceExhausted(read.status())) {
    return absl::InvalidArgumentError(read.status().message());
  }
  RETURN_IF_ERROR(read.status());
  const std::string& text = *read;
  return ParseJobFile(text, stdin_is_it ? "standard input" : path);
}

std::string JobFileYaml(const v1::JobSpec& spec) { return Writer::Write(spec); }

}  // namespace kernelmill::config
