#ifndef KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_READ_TEXT_H_
#define KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_READ_TEXT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/python/parse/parsed_text.h"
#include "common/python/syntax/functions.h"

namespace kernelmill::compiler {

// A text of a record and its functions; no functions if the text is beyond the parser's bounds. The
// functions stay where they are if it is moved.
class ReadText {
 public:
  // The text outlives the result. DEADLINE_EXCEEDED: see Inference::Infer.
  static absl::StatusOr<ReadText> Read(absl::string_view text);
  // Reads a function that may be a method: its text is then indented. Otherwise as Read().
  static absl::StatusOr<ReadText> ReadFunction(absl::string_view text);

  const python::ModuleFunctions& functions() const { return *functions_; }
  const python::ImportMap& imports() const { return parsed_->imports(); }
  const python::SyntaxTree& tree() const { return parsed_->tree(); }

 private:
  explicit ReadText(std::unique_ptr<const python::ParsedText> parsed)
      : parsed_(std::move(parsed)),
        functions_(std::make_unique<python::ModuleFunctions>(parsed_->tree())) {}

  std::unique_ptr<const std::string> own_;  // the text, if it is not the caller's
  std::unique_ptr<const python::ParsedText> parsed_;
  std::unique_ptr<const python::ModuleFunctions> functions_;
};

std::vector<absl::string_view> GetParameterNames(const python::Function& function);

}  // namespace kernelmill::compiler

#endif  // KERNELMILL_SERVICES_COMPILER_CORE_SIGNATURE_READ_TEXT_H_
