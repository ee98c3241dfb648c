#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_TEXT_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/code/python.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor::cuda {

// A part of a text that is bytes of the file.
struct TextPart {
  size_t begin = 0;  // offset in the text
  size_t size = 0;
  size_t in_file = 0;  // offset in the file
  bool opens = false;  // the first one of a string literal
};

// The value of an expression of string literals, and which of its bytes are bytes of the file.
//
// Between two parts of one literal the text has the value of what the file has there: an escape
// sequence, or a field of an f-string.
class StringText {
 public:
  explicit StringText(absl::string_view file) : file_(file) {}

  const std::string& text() const { return text_; }
  const std::vector<TextPart>& parts() const { return parts_; }

  // Begins a literal, whose content begins at this offset of the file.
  void Open(size_t in_file);
  // Appends bytes [begin, end) of the open literal's content, with the values of escape sequences.
  void AppendContent(size_t begin, size_t end, const code::PythonPrefix& prefix);
  // Appends what the open literal has for its bytes [begin, end). If `known` is false the value is
  // a guess.
  void AppendValue(size_t begin, size_t end, absl::string_view value, bool known);
  // Appends a text that no literal of the file has.
  void AppendOther(absl::string_view text) { text_.append(text.data(), text.size()); }
  void Append(const StringText& other);
  // Notes that the expression has a part whose text is not known, and is not in this one.
  void AddUnknown() { is_whole_ = false; }
  bool is_whole() const { return is_whole_; }
  // Inserts a text that the file does not have before a byte of the file. Returns false, and
  // changes nothing, if the text does not have that byte.
  bool Insert(size_t in_file, absl::string_view text);
  bool Has(size_t in_file) const { return FindPartOf(in_file) < parts_.size(); }

  // Returns the offset in the file of a byte of the text; in a value, that of what it stands for.
  size_t InFile(size_t offset) const;
  // Returns whether the bytes [begin, end) of the text come from one literal.
  bool InOneLiteral(size_t begin, size_t end) const;
  // Returns whether one of the bytes [begin, end) is a guess.
  bool IsGuess(size_t begin, size_t end) const;

  // Adds the parts to the definition of the text. `first_line` gives the line of an offset in the
  // file.
  template <typename LineAt>
  void AddRuns(const LineAt& line_at, v1::Definition& definition) const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const TextPart& part = parts_[i];
      v1::TextRun& run = *definition.add_runs();
      run.set_begin(static_cast<int64_t>(part.begin));
      run.set_size(static_cast<int64_t>(part.size));
      run.set_first_line(line_at(part.in_file));
      if (part.opens) continue;
      const size_t before = parts_[i - 1].in_file + parts_[i - 1].size;
      run.set_replaced(std::string(file_.substr(before, part.in_file - before)));
    }
  }

 private:
  void AddPart(size_t begin, size_t end);
  size_t FindPart(size_t offset) const;
  size_t FindPartOf(size_t in_file) const;

  absl::string_view file_;
  std::string text_;
  std::vector<TextPart> parts_;
  std::vector<size_t> guesses_;  // offsets of values that are not known; ascending
  bool is_whole_ = true;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_CUDA_STRING_TEXT_H_
