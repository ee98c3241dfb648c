#ifndef KERNELMILL_COMMON_JSON_JSON_STRINGS_H_
#define KERNELMILL_COMMON_JSON_JSON_STRINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::json {

// A reader of the strings of one JSON value (RFC 8259), except keys, in order, each with its JSON
// pointer. It holds only the path to the current place, so that memory grows with the depth and
// time with the text. If an object has a key twice, both values are read. Not thread-safe.
//
// The reader is tolerant: it does not check numbers and words (Python writes NaN), or which
// characters a string contains. Brackets, commas and colons must be right.
//
//   StringReader reader(text);
//   while (reader.Next()) Use(Unescape(reader.raw()), reader.Pointer());
//   if (!reader.error().empty()) ...  // only the strings up to position() were read
class StringReader {
 public:
  static constexpr size_t kMaxDepth = 256;
  static constexpr size_t kMaxPointer = 1024;

  explicit StringReader(absl::string_view text) : text_(text) {}

  // Reads the next string. Returns false at the value's end, and after an error.
  bool Next();

  // The text between the string's quotes, with escapes as written; a view into the text.
  absl::string_view raw() const { return raw_; }
  // Returns the string's JSON pointer (RFC 6901): "" for the value itself, "/0/code" and so on.
  // Returns nothing if its keys, as written, are longer than kMaxPointer.
  std::optional<std::string> Pointer() const;

  // The error as a short stable word: "json_truncated", "json_syntax" or "json_depth". Empty
  // without an error.
  absl::string_view error() const { return error_; }
  size_t position() const { return at_; }

 private:
  // The syntax that may come next.
  enum class State : uint8_t { kValue, kFirstValue, kKey, kFirstKey, kAfterValue, kEnd };

  // An array or object around the current place.
  struct Frame {
    bool is_object;
    uint32_t index;         // the current element of an array
    absl::string_view key;  // the current member of an object, as written
  };

  void SkipBlanks();
  bool Fail(absl::string_view error);
  bool Step();
  bool ReadValue();
  bool ReadString(absl::string_view* raw);
  void ReadWord();
  void ReadKey();
  void ReadSeparator();
  void Open(bool is_object);
  void Close();
  void EndValue() { state_ = frames_.empty() ? State::kEnd : State::kAfterValue; }

  const absl::string_view text_;
  size_t at_ = 0;
  State state_ = State::kValue;
  std::vector<Frame> frames_;
  absl::string_view raw_;
  absl::string_view error_;
};

// Decodes the escapes of a string. Invalid escapes stay as written, half of a surrogate pair
// becomes U+FFFD, and bytes that are not UTF-8 stay. The result is never longer than `raw`.
std::string Unescape(absl::string_view raw);

}  // namespace kernelmill::json

#endif  // KERNELMILL_COMMON_JSON_JSON_STRINGS_H_
