#include "services/extractor/core/reference/test_file.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"

namespace kernelmill::extractor {

using python::Evaluator;
using python::Field;
using python::Kind;

absl::StatusOr<std::unique_ptr<TestFile>> TestFile::Parse(std::string path, std::string text,
                                                          const python::PythonParser& parser) {
  std::unique_ptr<TestFile> file(new TestFile(std::move(path), std::move(text)));
  ASSIGN_OR_RETURN(file->parsed_, python::ParsedText::Parse(file->text_, parser));
  const python::ParsedText& parsed = *file->parsed_;
  file->bindings_.emplace(parsed.tree());
  file->view_.emplace(ParsedFile{file->path_, parsed.text(), parsed.tree(), parsed.lines(),
                                 parsed.imports(), parsed.calls(), *file->bindings_});
  file->statements_.emplace(parsed.tree());
  const SyntaxTree& tree = parsed.tree();
  for (const Kind kind : {Kind::kFunctionDefinition, Kind::kClassDefinition}) {
    for (const NodeId node : tree.Of(kind)) {
      NodeId parent = tree[node].parent;
      if (tree.GetKind(parent) == Kind::kDecoratedDefinition) parent = tree[parent].parent;
      const NodeId name = tree.Child(node, Field::kName);
      if (parent == 0 && name != kNoNode) file->definitions_[tree.GetText(name)] = node;
    }
  }
  for (const NodeId node : tree.Of(Kind::kAssignment)) {
    const NodeId statement = tree[node].parent;
    if (statement == kNoNode || tree[statement].parent != 0) continue;
    const NodeId left = tree.Child(node, Field::kLeft);
    const NodeId right = tree.Child(node, Field::kRight);
    if (left == kNoNode || right == kNoNode || tree.GetKind(left) != Kind::kIdentifier) continue;
    file->assigned_[tree.GetText(left)].push_back(right);
  }
  return file;
}

absl::string_view TestFile::GetText(NodeId node) const {
  const python::SyntaxNode& at = tree()[node];
  return view_->text.substr(at.start, at.end - at.start);
}

NodeId TestFile::FindDefinition(absl::string_view name) const {
  const auto found = definitions_.find(name);
  return found == definitions_.end() ? kNoNode : found->second;
}

NodeId TestFile::FindAssigned(absl::string_view name) const {
  const auto found = assigned_.find(name);
  return found == assigned_.end() || found->second.size() != 1 ? kNoNode : found->second[0];
}

std::optional<python::Value> TestFile::Evaluate(NodeId expression) {
  const int64_t given = std::min(Evaluator::kMaxSteps, steps_left_);
  int64_t steps = given;
  const python::EvaluatedFile file = {view_->text, tree(), view_->imports, *statements_};
  std::optional<python::Value> value = Evaluator(file, expression, steps).Evaluate(expression);
  steps_left_ -= given - steps;
  return value;
}

TestFile* TestFiles::Get(const std::string& path) {
  const auto [at, added] = files_.try_emplace(path, nullptr);
  if (!added) return at->second.get();
  const std::string* text = GetText(path);
  if (text == nullptr) return nullptr;
  auto file = TestFile::Parse(path, *text, parser_);
  if (!file.ok()) return nullptr;
  bytes_ += text->size();
  (*file)->search_steps_ =
      &search_steps_.try_emplace(path, TestFile::kMaxSearchSteps).first->second;
  files_[path] = *std::move(file);
  return files_[path].get();
}

std::unique_ptr<TestFile> TestFiles::ParseText(const std::string& path, std::string text) {
  if (text.size() > made_left_) return nullptr;
  made_left_ -= text.size();
  auto file = TestFile::Parse(path, std::move(text), parser_);
  if (!file.ok() || (*file)->tree().has_errors()) return nullptr;
  return *std::move(file);
}

const std::string* TestFiles::GetText(const std::string& path) const {
  const auto found = texts_.find(path);
  return found == texts_.end() ? nullptr : &found->second;
}

void TestFiles::DropMany() {
  if (bytes_ <= kMaxBytes) return;
  files_.clear();
  bytes_ = 0;
}

}  // namespace kernelmill::extractor
