#include "dataset/output/lines.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kernelmill::dataset {

// Reads in pieces, since std::getline would take as much memory as there is before the next
// newline. A piece that is full without a newline sets failbit, which is cleared to go on.
absl::StatusOr<bool> ReadLine(std::istream& file, std::string* line, size_t most) {
  constexpr size_t kPiece = 64 << 10;
  std::array<char, kPiece> piece;
  line->clear();
  while (true) {
    file.getline(piece.data(), kPiece);
    if (file.bad()) return absl::DataLossError("cannot be read to its end");
    const auto count = static_cast<size_t>(file.gcount());
    if (count == 0) return !line->empty();
    const bool ends = !file.fail() && !file.eof();  // and `count` has the newline
    line->append(piece.data(), ends ? count - 1 : count);
    if (line->size() > most) {
      return absl::InvalidArgumentError(
          absl::StrCat("the line must have at most ", most, " bytes"));
    }
    if (ends) return true;
    if (file.eof()) return true;
    file.clear();
  }
}

}  // namespace kernelmill::dataset
