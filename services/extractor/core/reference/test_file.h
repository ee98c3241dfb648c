#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_FILE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/python/evaluate/evaluator.h"
#include "common/python/evaluate/statements_by_name.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/parse/python_parser.h"
#include "common/python/syntax/bindings.h"
#include "services/extractor/core/describe/kernels.h"
#include "services/extractor/core/link/source_scope.h"

namespace kernelmill::extractor {

// A file with its tree, for questions that definitions do not answer. Owns the text. Not
// thread-safe: its expressions are evaluated with a sum of steps.
class TestFile {
 public:
  // RESOURCE_EXHAUSTED: the file is beyond a bound of the parser.
  static absl::StatusOr<std::unique_ptr<TestFile>> Parse(std::string path, std::string text,
                                                         const python::PythonParser& parser);
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

  const std::string& path() const { return path_; }
  const SyntaxTree& tree() const { return parsed_->tree(); }
  const ParsedFile& view() const { return *view_; }
  absl::string_view GetText(NodeId node) const;

  // Returns the last function or class of the module level with that name; kNoNode without one.
  NodeId FindDefinition(absl::string_view name) const;
  // Returns what the module level assigns to the name, if it does so once; else kNoNode.
  NodeId FindAssigned(absl::string_view name) const;

  // The steps that searches in the functions of the file have left; see FunctionBody.
  int64_t& search_steps() { return *search_steps_; }

  // Evaluates an expression; nothing if the file does not determine it.
  std::optional<python::Value> Evaluate(NodeId expression);

 private:
  TestFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}

  // The steps of all expressions of a file.
  static constexpr int64_t kMaxSteps = 1'000'000;

  const std::string path_;
  const std::string text_;
  std::unique_ptr<const python::ParsedText> parsed_;
  std::optional<python::Bindings> bindings_;
  std::optional<ParsedFile> view_;
  std::optional<python::StatementsByName> statements_;
  absl::flat_hash_map<absl::string_view, NodeId> definitions_;
  absl::flat_hash_map<absl::string_view, std::vector<NodeId>> assigned_;
  int64_t steps_left_ = kMaxSteps;

  friend class TestFiles;
  // Real files need some 100,000.
  static constexpr int64_t kMaxSearchSteps = 50'000'000;
  int64_t own_search_steps_ = kMaxSearchSteps;
  int64_t* search_steps_ = &own_search_steps_;
};

// The files of a source, parsed when they are asked for. Keeps a bounded number of trees.
class TestFiles {
 public:
  // `texts` has the source's Python files by path, and outlives this object, as the parser does.
  TestFiles(const absl::flat_hash_map<std::string, std::string>& texts,
            const python::PythonParser& parser)
      : texts_(texts), parser_(parser) {}

  // Returns the file; null if the source does not have it, or if it is beyond a bound.
  TestFile* Get(const std::string& path);
  // Parses a text of our own, such as a file with a statement added; null if it is broken,
  // or once kMaxMadeBytes are parsed.
  std::unique_ptr<TestFile> ParseText(const std::string& path, std::string text);
  const std::string* GetText(const std::string& path) const;
  // Drops trees if there are many. Files that were got before must not be used after it.
  void DropMany();

 private:
  static constexpr size_t kMaxBytes = 16u << 20;
  static constexpr size_t kMaxMadeBytes = 512u << 20;

  const absl::flat_hash_map<std::string, std::string>& texts_;
  const python::PythonParser& parser_;
  absl::flat_hash_map<std::string, std::unique_ptr<TestFile>> files_;
  size_t bytes_ = 0;
  size_t made_left_ = kMaxMadeBytes;
  std::map<std::string, int64_t> search_steps_;  // by path; they are not given back
};

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_REFERENCE_TEST_FILE_H_
