// YAML is read in two steps. TreeBuilder turns the events of yaml-cpp's parser into a tree that
// still knows every line and every pair of quotes. Reader then walks the tree along a message's
// descriptor, so that a new field of the proto is a new key of the job file without a line here.
//
// yaml-cpp's own node type is not used: it resolves aliases (a short file can become a huge tree),
// drops the second of two equal keys, and forgets which words were in quotes.
#include "common/job/yaml_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/job/field_check.h"
#include "common/words/enum_words.h"
#include "common/words/suggestion.h"

namespace kernelmill::job {
namespace {

// Bounds the recursion of Reader, which follows the tree.
constexpr size_t kMaxDepth = 16;

// Builds the tree from the parser's events. Keeps the first error and ignores everything after it.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(absl::string_view file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark& mark) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode* node = Add(mark, anchor, YamlNode::Kind::kNull);
    if (node == nullptr || open_.empty() || open_.back()->kind != YamlNode::Kind::kMap) return;
    // The parser notices a missing value only at the next key. The error must name the key before.
    const std::vector<YamlNode>& siblings = open_.back()->children;
    if (siblings.size() % 2 == 0) node->line = siblings[siblings.size() - 2].line;
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, "must not have an alias (*name); write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckTag(mark, tag);
    if (YamlNode* node = Add(mark, anchor, YamlNode::Kind::kScalar)) {
      node->quoted = tag == "!";
      node->text = value;
      if (!node->quoted && (value == "~" || absl::EqualsIgnoreCase(value, "null"))) {
        node->kind = YamlNode::Kind::kNull;
      }
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

  absl::StatusOr<YamlNode> Finish() && {
    RETURN_IF_ERROR(status_);
    return std::move(root_);
  }

 private:
  // Only the first error counts: later ones are often its consequences.
  void Fail(const YAML::Mark& mark, absl::string_view what) {
    if (status_.ok()) status_ = FileError(file_, mark.line + 1, what);
  }

  // Refuses tags, which could make an object of a scalar.
  void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    // The parser reports "?" for a plain scalar and "!" for a quoted one.
    if (!tag.empty() && tag != "?" && tag != "!") {
      Fail(mark, absl::StrCat("must not have a tag (", tag, ")"));
    }
  }

  // Adds a node to the list or map that is open. Returns null once anything has failed. A parent's
  // children do not move while one of them is open, so the pointers in open_ stay valid.
  YamlNode* Add(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (anchor != 0)
      Fail(mark, "must not have an anchor (&name); write the value where it is used");
    if (!status_.ok()) return nullptr;
    YamlNode* node = &root_;
    if (!open_.empty()) node = &open_.back()->children.emplace_back();
    node->kind = kind;
    node->line = mark.line + 1;
    return node;
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    CheckTag(mark, tag);
    if (open_.size() >= kMaxDepth)
      Fail(mark, absl::StrCat("must not be nested deeper than ", kMaxDepth, " levels"));
    if (YamlNode* node = Add(mark, anchor, kind)) open_.push_back(node);
  }

  void Close() {
    if (status_.ok()) open_.pop_back();
  }

  const absl::string_view file_;
  absl::Status status_;
  YamlNode root_;
  std::vector<YamlNode*> open_;
};

// Checks the bytes before yaml-cpp sees them, since it repairs or cuts off what this refuses.
absl::Status CheckBytes(absl::string_view text, absl::string_view file) {
  int line = 1;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '\n') {
      const char c = text[i];
      if (absl::ascii_iscntrl(c) && c != '\t' && c != '\r') {
        return FileError(file, line, "must not contain a control character");
      }
      continue;
    }
    if (!IsUtf8(text.substr(start, i - start))) return FileError(file, line, "must be UTF-8");
    start = i + 1;
    ++line;
  }
  return absl::OkStatus();
}

// Returns the line (from 0) of the text, without its end.
absl::string_view GetLine(absl::string_view text, int line) {
  for (; line > 0 && absl::StrContains(text, '\n'); --line) text.remove_prefix(text.find('\n') + 1);
  return text.substr(0, text.find('\n'));
}

// Returns the last value of a line that begins with a star at a column or before it; empty: no
// value does. The parser counts characters, not bytes.
absl::string_view FindStar(absl::string_view line, int column) {
  absl::string_view last;
  for (; !line.empty() && column >= 0; --column) {
    const char before = line[0];
    do line.remove_prefix(1);
    while (!line.empty() && (static_cast<unsigned char>(line[0]) & 0xc0) == 0x80);
    if (absl::StartsWith(line, "*") && absl::StrContains(" \t[{,", before)) last = line;
  }
  return last;
}

// Returns the glob at the beginning of the text: up to a blank, or to what ends it in a list in
// brackets.
absl::string_view ReadGlob(absl::string_view text) {
  int braces = 0;
  size_t end = 0;
  for (; end < text.size() && !absl::ascii_isspace(text[end]); ++end) {
    if (text[end] == '{') ++braces;
    if (braces == 0 && absl::StrContains(",]}", text[end])) break;
    if (text[end] == '}') --braces;
  }
  return text.substr(0, end);
}

// Returns what is wrong at the place where the parser stopped. `found` are the parser's own words,
// which do not help with frequent mistakes: it takes an unquoted * for an alias, and a tab for
// text.
std::string ExplainSyntax(absl::string_view text, const YAML::Mark& mark,
                          const std::string& found) {
  const absl::string_view line = GetLine(text, mark.line);
  if (absl::StrContains(line.substr(0, line.find_first_not_of(" \t-")), '\t')) {
    return "is indented with a tab; indent with blanks, which YAML requires";
  }
  const bool is_alias = absl::StrContains(found, "alias") || absl::StrContains(found, "anchor");
  const absl::string_view star = is_alias ? FindStar(line, mark.column) : "";
  // In a list in brackets, the first brace ends the glob.
  const bool is_flow = absl::StrContains(found, "flow");
  if (is_flow && (absl::StrContains(line, ".{") || absl::StrContains(line, "/{"))) {
    return "must have quotes around a glob with braces in a list in brackets: "
           "[\"src/**/*.{py,cu}\"]";
  }
  if (star.empty()) return absl::StrCat("is not valid YAML: ", found);
  return absl::StrCat("must have quotes around a value that begins with *: write ",
                      JsonString(ReadGlob(star)));
}

}  // namespace

// INVALID_ARGUMENT: the text is not one YAML document, or uses aliases, anchors or tags.
absl::StatusOr<YamlNode> ParseYamlTree(absl::string_view text, absl::string_view file) {
  RETURN_IF_ERROR(CheckBytes(text, file));
  TreeBuilder builder(file);
  // The library reports errors by exception only. This is the one place that catches them.
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(builder)) return FileError(file, 1, "must not be empty");
    // A second document would be ignored silently, so it is an error.
    TreeBuilder rest(file);
    if (parser.HandleNextDocument(rest)) {
      ASSIGN_OR_RETURN(const YamlNode second, std::move(rest).Finish());
      return FileError(file, second.line, "must be one document; a second one begins here");
    }
  } catch (const YAML::Exception& e) {
    return FileError(file, e.mark.line + 1, ExplainSyntax(text, e.mark, e.msg));
  }
  return std::move(builder).Finish();
}

namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::EnumValueDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// The word of a value in a job file: "holdout" for SOURCE_ROLE_HOLDOUT. Value 0 has none.
std::string GetWord(const EnumValueDescriptor& value) {
  return GetEnumWord(*value.type(), value.number());
}

const EnumValueDescriptor* FindEnumWord(const EnumDescriptor& type, absl::string_view word) {
  for (int i = 0; i < type.value_count(); ++i) {
    const EnumValueDescriptor* value = type.value(i);
    if (value->number() != 0 && GetWord(*value) == word) return value;
  }
  return nullptr;
}

// Lists the words that an error names as allowed.
std::vector<std::string> EnumWords(const EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) words.push_back(GetWord(*type.value(i)));
  }
  return words;
}

std::vector<std::string> FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

// Returns what an error calls the items of a list field.
absl::string_view ItemNoun(const FieldDescriptor& field) {
  if (field.name() == "include" || field.name() == "exclude") return "globs";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "mappings";
    case FieldDescriptor::CPPTYPE_STRING:
      return "strings";
    default:
      return "numbers";
  }
}

// Returns whether other YAML readers take the plain word for something other than text.
bool LooksTyped(absl::string_view word) {
  static const std::set<std::string>* const kWords = new std::set<std::string>{
      "true", "false", "yes", "no", "on", "off", "", ".inf", "-.inf", "+.inf", ".nan"};
  double number;
  return kWords->contains(absl::AsciiStrToLower(word)) || absl::SimpleAtod(word, &number);
}

// Fills a message from a tree, along the message's descriptor.
class Reader {
 public:
  Reader(absl::string_view file, FieldLines* lines) : file_(file), lines_(*lines) {}

  // Reads the pairs of key and value, which are children of the map in turn. A key is a field's
  // name in the proto. Notes the line of each key, from which errors of later checks get their
  // line.
  absl::Status ReadMessage(const YamlNode& node, const std::string& key, Message* message) {
    if (node.kind != YamlNode::Kind::kMap)
      return Wrong(node.line, key, "must be a mapping of keys to values");
    const Descriptor& type = *message->GetDescriptor();
    std::set<std::string> seen;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& name = node.children[i];
      if (name.kind != YamlNode::Kind::kScalar)
        return Wrong(name.line, key, "must have words as keys");
      const std::string path = key.empty() ? name.text : absl::StrCat(key, ".", name.text);
      const FieldDescriptor* field = type.FindFieldByName(name.text);
      if (field == nullptr) {
        const std::vector<std::string> known = FieldNames(type);
        return Wrong(name.line, path,
                     absl::StrCat("unknown key", DidYouMean(name.text, known),
                                  " (known: ", absl::StrJoin(known, ", "), ")"));
      }
      if (!seen.insert(name.text).second) return Wrong(name.line, path, "must not be given twice");
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

  // Refuses a second member of a oneof, which protobuf would let replace the first.
  absl::Status CheckOneof(int line, const std::string& path, const FieldDescriptor& field,
                          const Message& message) const {
    if (field.containing_oneof() == nullptr) return absl::OkStatus();
    const FieldDescriptor* other =
        message.GetReflection()->GetOneofFieldDescriptor(message, field.containing_oneof());
    if (other == nullptr) return absl::OkStatus();
    return Wrong(line, path, absl::StrCat("must not be given together with ", other->name()));
  }

  // A repeated field must be a list, even with one item: a scalar would be ambiguous for fields of
  // text.
  absl::Status ReadField(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                         Message* message) {
    if (!field.is_repeated()) return ReadValue(node, key, field, message);
    if (node.kind != YamlNode::Kind::kList)
      return Wrong(node.line, key, absl::StrCat("must be a list of ", ItemNoun(field)));
    for (size_t i = 0; i < node.children.size(); ++i) {
      const std::string item = absl::StrCat(key, "[", i, "]");
      lines_.Set(item, node.children[i].line);
      RETURN_IF_ERROR(ReadValue(node.children[i], item, field, message));
    }
    return absl::OkStatus();
  }

  // Dispatches by the field's type. A job file cannot set a field of another type.
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
        return Wrong(node.line, key, "must not be set in a job file");
    }
  }

  // Reads text. A plain word that YAML readers may take for a number or a truth value must be in
  // quotes: `ref: 1.10` would be 1.1 for some of them.
  absl::Status ReadString(const YamlNode& node, const std::string& key,
                          const FieldDescriptor& field, Message* message) const {
    if (node.kind != YamlNode::Kind::kScalar) return Wrong(node.line, key, "must be text");
    if (!node.quoted && LooksTyped(node.text)) {
      return Wrong(node.line, key, absl::StrCat("must be text: write ", JsonString(node.text)));
    }
    if (field.is_repeated()) {
      message->GetReflection()->AddString(message, &field, node.text);
    } else {
      message->GetReflection()->SetString(message, &field, node.text);
    }
    return absl::OkStatus();
  }

  template <typename Int>
  // Reads a whole number in decimal without a sign of plus, within the range of the field.
  absl::Status ReadInt(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                       Message* message) const {
    Int value = 0;
    const std::string& text = node.text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (node.kind != YamlNode::Kind::kScalar || node.quoted || error != std::errc() ||
        end != text.data() + text.size()) {
      return Wrong(node.line, key, "must be a whole number");
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

  // Reads a finite number. NaN fails the comparison with the largest number.
  absl::Status ReadDouble(const YamlNode& node, const std::string& key,
                          const FieldDescriptor& field, Message* message) const {
    double value = 0;
    const std::string& text = node.text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (node.kind != YamlNode::Kind::kScalar || node.quoted || error != std::errc() ||
        end != text.data() + text.size() || !(value <= std::numeric_limits<double>::max())) {
      return Wrong(node.line, key, "must be a number");
    }
    message->GetReflection()->SetDouble(message, &field, value);
    return absl::OkStatus();
  }

  // Only true and false: YAML 1.1's yes and on are text in YAML 1.2.
  absl::Status ReadBool(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                        Message* message) const {
    const bool is_true = node.text == "true";
    if (node.kind != YamlNode::Kind::kScalar || node.quoted || (!is_true && node.text != "false")) {
      return Wrong(node.line, key, "must be true or false");
    }
    message->GetReflection()->SetBool(message, &field, is_true);
    return absl::OkStatus();
  }

  // Value 0 has no word, so a file cannot set it.
  absl::Status ReadEnum(const YamlNode& node, const std::string& key, const FieldDescriptor& field,
                        Message* message) const {
    const EnumValueDescriptor* value = node.kind == YamlNode::Kind::kScalar
                                           ? FindEnumWord(*field.enum_type(), node.text)
                                           : nullptr;
    if (value == nullptr) {
      const std::vector<std::string> words = EnumWords(*field.enum_type());
      return Wrong(node.line, key,
                   absl::StrCat("must be one of ", absl::StrJoin(words, ", "),
                                DidYouMean(node.text, words)));
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
  // Writes `first` at the beginning of the first line (the "- " of a list item) and `indent` at
  // that of the others.
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

  // A message without fields is {} on the same line: it is set, which differs from missing.
  void WriteNested(const Message& message, const std::string& indent) {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    out_ += fields.empty() ? " " : "\n";
    WriteMessage(message, fields.empty() ? "" : indent, indent);
  }

  // Texts are written as JSON strings, which are YAML as well and need no rules about quotes.
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

  // Returns a value as YAML. to_chars gives the shortest text that reads back as the same number.
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
        return GetWord(*reflection.GetEnum(message, &field));
      default:
        return JsonString(reflection.GetString(message, &field));
    }
  }

  std::string out_;
};

}  // namespace

// Returns the line of the key, or of the nearest key around it that the file has: a missing field
// is reported at its message. Keys are cut at the last dot or bracket. 1: not even the outermost is
// there.
int FieldLines::Of(absl::string_view key) const {
  // From the field outwards.
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

std::string ToYaml(const Message& message) { return Writer::Write(message); }

}  // namespace kernelmill::job
