#include "common/job/job_file_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"

namespace kernelmill::job {
namespace {

constexpr size_t kMaxDepth = 16;

// Builds the tree from the parser's events. Keeps the first error and ignores all that comes after
// it.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(absl::string_view file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark& mark) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode* node = Add(mark, anchor, YamlNode::Kind::kNull);
    if (node == nullptr || open_.empty() || open_.back()->kind != YamlNode::Kind::kMap) return;
    // The parser sees that a value is missing only at the next key; the reader looks for the last.
    const std::vector<YamlNode>& siblings = open_.back()->children;
    if (siblings.size() % 2 == 0) node->line = siblings[siblings.size() - 2].line;
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, "an alias (*name); write the value out");
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
  void Fail(const YAML::Mark& mark, absl::string_view what) {
    if (status_.ok()) status_ = FileError(file_, mark.line + 1, what);
  }

  void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    // The parser says "?" of what is plain and "!" of what is quoted.
    if (!tag.empty() && tag != "?" && tag != "!") {
      Fail(mark, absl::StrCat("a tag (", tag, "); job files have none"));
    }
  }

  // The new node, in its place; null once anything has failed. A parent's children do not move
  // while one of them is open, so the pointers in open_ hold.
  YamlNode* Add(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (anchor != 0) Fail(mark, "an anchor (&name); job files have none");
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
    if (open_.size() >= kMaxDepth) Fail(mark, absl::StrCat("nested deeper than ", kMaxDepth));
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

// The parser would repair or cut off what is refused here.
absl::Status CheckBytes(absl::string_view text, absl::string_view file) {
  int line = 1;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '\n') {
      const char c = text[i];
      if (absl::ascii_iscntrl(c) && c != '\t' && c != '\r') {
        return FileError(file, line, "a control character");
      }
      continue;
    }
    if (!IsUtf8(text.substr(start, i - start))) return FileError(file, line, "not UTF-8");
    start = i + 1;
    ++line;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FileError(absl::string_view file, int line, absl::string_view what) {
  std::string message = absl::StrCat(file, ":", std::max(line, 1), ": ", what);
  for (char& c : message) {
    if (absl::ascii_iscntrl(c)) c = '?';
  }
  return absl::InvalidArgumentError(ToUtf8(message));
}

absl::StatusOr<YamlNode> ParseYamlTree(absl::string_view text, absl::string_view file) {
  RETURN_IF_ERROR(CheckBytes(text, file));
  TreeBuilder builder(file);
  // The library reports by exception alone; this is the one place that meets it.
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    if (!parser.HandleNextDocument(builder)) return FileError(file, 1, "the file is empty");
    TreeBuilder rest(file);
    if (parser.HandleNextDocument(rest)) {
      ASSIGN_OR_RETURN(const YamlNode second, std::move(rest).Finish());
      return FileError(file, second.line, "a second document");
    }
  } catch (const YAML::Exception& e) {
    return FileError(file, e.mark.line + 1, absl::StrCat("not YAML: ", e.msg));
  }
  return std::move(builder).Finish();
}

}  // namespace kernelmill::job
