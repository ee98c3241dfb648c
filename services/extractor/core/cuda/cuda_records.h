#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_RECORDS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "common/code/line_index.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/cuda/brackets.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/cuda/lexer.h"
#include "services/extractor/core/cuda/string_text.h"

namespace kernelmill::extractor::cuda {

// The lines and bytes of a C++ text in the file that has it, which may be the text itself. Refers
// to its arguments.
class TextPlace {
 public:
  // A text that is the file.
  TextPlace(absl::string_view text, const LineIndex& lines) : file_(text), lines_(lines) {}
  // A text in string literals of a file.
  TextPlace(absl::string_view file, const LineIndex& lines, const StringText& string)
      : file_(file), lines_(lines), string_(&string) {}

  absl::string_view file() const { return file_; }
  const LineIndex& lines() const { return lines_; }
  size_t InFile(size_t offset) const { return string_ ? string_->InFile(offset) : offset; }
  int LineAt(size_t offset) const { return lines_.LineAt(InFile(offset)); }

 private:
  const absl::string_view file_;
  const LineIndex& lines_;
  const StringText* const string_ = nullptr;
};

// Makes the records of the functions of a text: reads it once, then describes each function. Refers
// to its arguments.
class CudaRecords {
 public:
  // Functions within functions repeat text, and so do launches: see InBounds(). `macros` are those
  // of other files that stand for a qualifier.
  CudaRecords(absl::string_view path, absl::string_view text, const TextPlace& place,
              size_t max_bytes, const dsl::Qualifiers& macros = {});

  const Code& code() const { return code_; }
  const std::vector<Function>& functions() const { return found_.functions; }
  bool has_errors() const { return !brackets_.errors.empty(); }

  // Returns whether the records of all functions stay within max_bytes. Each record repeats the
  // text of the functions within it.
  bool InBounds() const;

  // Returns the lines of the macros whose definitions have kernels with bodies. Nothing is
  // expanded, so these kernels are not among the functions.
  std::vector<int> FindMacrosOfKernels() const;

  // Fills in the record of one function.
  void Describe(const Function& function, v1::Kernel& kernel);

  // Return lines of the file.
  int FirstLine(uint32_t token) const { return place_.LineAt(code_.tokens[token].begin); }
  int LastLine(uint32_t token) const { return place_.LineAt(code_.tokens[token].end - 1); }

 private:
  absl::string_view Bytes(size_t begin, size_t end) const;
  absl::string_view SourceLines(const Function& function) const;
  absl::string_view Inside(const Enclosed& brackets) const;
  void AddPlace(const Function& function, v1::Kernel& kernel) const;
  size_t BodyBegin(const Function& function) const;
  bool HasOwnHead(const Function& function) const;
  int32_t CountTokens(const Function& function, const v1::Kernel& kernel) const;
  void AddCuda(const Function& function, v1::CudaFunction& cuda);
  void AddLaunch(const Launch& launch, v1::CudaFunction& cuda);

  const absl::string_view path_;
  const dsl::Language& language_;
  const TextPlace& place_;
  const Code code_;
  const Brackets brackets_;
  const Findings found_;
  const size_t max_bytes_;
  size_t launch_bytes_left_;
  absl::flat_hash_map<absl::string_view, std::vector<const Launch*>> launches_;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_CUDA_RECORDS_H_
