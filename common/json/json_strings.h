#ifndef KERNELMILL_COMMON_JSON_JSON_STRINGS_H_
#define KERNELMILL_COMMON_JSON_JSON_STRINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace kernelmill::json {

// Reads the strings of one JSON value (RFC 8259) in order, each with where it stands; keys are none
// of them. Keeps nothing but the path to where it is: memory goes with the depth, time with the
// text. Of a key that an object has twice both values are read.
//
// It reads what can be read: numbers and words are not looked into (Python writes NaN), nor are
// strings for what may not stand in them. Brackets, commas and colons must be right.
//
//   StringReader reader(text);
//   while (reader.Next()) Use(Unescape(reader.raw()), reader.Pointer());
//   if (!reader.error().empty()) ...  // the strings up to position() were read
class StringReader {
 public:
  static constexpr size_t kMaxDepth = 256;
  static constexpr size_t kMaxPointer = 1024;

  explicit StringReader(absl::string_view text) : text_(text) {}

  // The next string; false at the value's end, and where it cannot be read further.
  bool Next();

  // What stands between the string's quotes, escapes and all; a view into the text.
  absl::string_view raw() const { return raw_; }
  // The string's JSON pointer (RFC 6901): "" for the value itself, "/0/code" and so on. Nothing
  // where its keys are longer than kMaxPointer as written.
  std::optional<std::string> Pointer() const;

  // Why not all was read, as a short stable word: "json_truncated", "json_syntax" or "json_depth".
  // Empty while all is well.
  absl::string_view error() const { return error_; }
  size_t position() const { return at_; }

 private:
  // What may come next.
  enum class State : uint8_t { kValue, kFirstValue, kKey, kFirstKey, kAfterValue, kEnd };

  // An array or object around the place.
  struct Frame {
    bool is_object;
    uint32_t index;         // of the array's element
    absl::string_view key;  // of the object's member, as written
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

// The text that a string stands for. What is no escape of JSON's stands for itself, and half of a
// surrogate pair for U+FFFD; bytes that are not UTF-8 stay. Never longer than `raw`.
std::string Unescape(absl::string_view raw);

}  // namespace kernelmill::json

#endif  // KERNELMILL_COMMON_JSON_JSON_STRINGS_H_
