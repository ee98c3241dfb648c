#ifndef KERNELMILL_DATASET_OUTPUT_ROW_WRITER_H_
#define KERNELMILL_DATASET_OUTPUT_ROW_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kernelmill::dataset {

// Writes a row as Canonical JSON (json.h) without a tree of it in memory:
//
//   RowWriter row(&line);
//   row.Text("name", kernel.name());
//   row.StructList("tag_rules", kernel.tags(), [&](const v1::Tag& tag) {
//     row.Text("name", tag.name());
//     row.Text("rule", tag.rule());
//   });
//   row.End();
//
// The basic idea: a field goes into the text at once, in the order that reads best where rows are
// made. Where a struct ends, its fields are put into the order of their names, if they are not in
// it. So that each field must be written once.
//
// Texts are bytes of a repository: what is not UTF-8 is replaced by U+FFFD. Names are no data, and
// must live as long as the row is written; they have no character that JSON or a pointer escapes.
// Not thread-safe.
class RowWriter {
 public:
  // Begins a row at the end of `out`, which must outlive it.
  explicit RowWriter(std::string* out);
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  // Fields of the struct that is being written, at first the row.
  void Text(absl::string_view name, absl::string_view bytes);
  void Integer(absl::string_view name, int64_t value);
  void Number(absl::string_view name, double value);  // with a point or an exponent: 1.0
  void Boolean(absl::string_view name, bool value);
  void Null(absl::string_view name);

  // Null where there is nothing: an empty text, or line 0.
  void TextOrNull(absl::string_view name, absl::string_view bytes);
  void LineOrNull(absl::string_view name, int line);
  // Null where it is not known.
  void IntegerOrNull(absl::string_view name, bool known, int64_t value);
  void NumberOrNull(absl::string_view name, bool known, double value);

  // The same of texts whose exact bytes the row keeps, in `not_utf8`, where they are not UTF-8.
  void ExactText(absl::string_view name, absl::string_view bytes);
  void ExactTextOrNull(absl::string_view name, absl::string_view bytes);

  // `fields` writes the fields of the struct.
  template <typename WriteFields>
  void Struct(absl::string_view name, const WriteFields& fields) {
    BeginField(name);
    WriteStruct(name, kNoElement, fields);
  }
  template <typename WriteFields>
  void StructOrNull(absl::string_view name, bool known, const WriteFields& fields) {
    if (known) return Struct(name, fields);
    Null(name);
  }

  // A list with an element for each of the range: a text, which `text_of` has of it, or a struct,
  // whose fields `fields` writes.
  template <typename Range, typename TextOf = std::identity>
  void TextList(absl::string_view name, const Range& range, const TextOf& text_of = {}) {
    BeginList(name);
    for (const auto& element : range) {
      BeginElement();
      AppendText(std::invoke(text_of, element));
    }
    out_.push_back(']');
  }
  template <typename Range, typename WriteFields>
  void StructList(absl::string_view name, const Range& range, const WriteFields& fields) {
    BeginList(name);
    size_t number = 0;
    for (const auto& element : range) {
      BeginElement();
      WriteStruct(name, number++, [&] { fields(element); });
    }
    out_.push_back(']');
  }

  // The field `not_utf8`, a list of {base64, field}, after all exact texts: the field is an RFC
  // 6901 pointer. Of a row whose schema has it.
  void NotUtf8();
  bool is_utf8() const { return not_utf8_.empty(); }

  // Ends the row. Nothing can be written after.
  void End() { EndStruct(); }

 private:
  static constexpr size_t kNoElement = static_cast<size_t>(-1);

  struct Field {
    absl::string_view name;
    size_t begin = 0;  // of "name":value in the text
    size_t size = 0;   // known where its struct ends
  };
  struct OpenStruct {
    absl::string_view name;
    size_t element = kNoElement;  // of the list of that name
    size_t first_field = 0;       // in fields_
  };

  template <typename WriteFields>
  void WriteStruct(absl::string_view name, size_t element, const WriteFields& fields) {
    BeginStruct(name, element);
    fields();
    EndStruct();
  }

  void BeginField(absl::string_view name);
  void BeginList(absl::string_view name);
  void BeginElement();
  void BeginStruct(absl::string_view name, size_t element);
  void EndStruct();
  void AppendText(absl::string_view bytes);
  void Sort(absl::Span<Field> fields);
  std::string PointerTo(absl::string_view name) const;

  std::string& out_;
  std::vector<OpenStruct> structs_;  // the row first
  std::vector<Field> fields_;  // that the open structs have until now, one struct after another
  std::string sorted_;
  std::string not_utf8_;  // elements of that list
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_OUTPUT_ROW_WRITER_H_
