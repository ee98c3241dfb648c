// The basic idea: an opted-out kernel is a range of lines of a file. Another kernel includes it if
// one of its texts (its source, a piece of its module, its launcher) is a range of lines of the
// same file that contains that range. So no texts are compared; copies in other files were found
// before, by the rules for duplicates.

#include "services/deduplicator/core/resolve/opted_out_texts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace kernelmill::deduplicator {

// Returns the key of a kernel's file. Each string of a JSON file is a module with its own lines.
OptedOutTexts::File OptedOutTexts::GetFile(int source, absl::string_view path,
                                           const v1::Kernel& kernel) {
  if (!kernel.has_json_pointer()) return {source, std::string(path)};
  return {source, absl::StrCat(path, absl::string_view("\0", 1), kernel.json_pointer())};
}

// Returns the key of a piece's file, or nothing if its lender is unknown. Lent lines are never in a
// JSON string.
std::optional<OptedOutTexts::File> OptedOutTexts::GetFile(int source, const v1::ModulePiece& piece,
                                                          const v1::Kernel& kernel) const {
  if (piece.used_source().empty()) return GetFile(source, piece.path(), kernel);
  const auto lender = lending_.find(piece.used_source());
  if (lender == lending_.end()) return std::nullopt;
  return File{lender->second, piece.path()};
}

void OptedOutTexts::AddLending(int source, const std::string& name) {
  lending_.emplace(name, source);
}

// Returns whether kernels of the source may include an opted-out one: it has some, or it takes part
// in lending and any lending source has some.
bool OptedOutTexts::Has(int source) const {
  if (sources_.contains(source)) return true;
  const auto is_it = [source](const auto& each) { return each.second == source; };
  const auto has = [this](const auto& each) { return sources_.contains(each.second); };
  return std::any_of(lending_.begin(), lending_.end(), is_it) &&
         std::any_of(lending_.begin(), lending_.end(), has);
}

void OptedOutTexts::Add(int source, uint32_t number, const v1::Kernel& kernel, bool named) {
  // A copy of a whole file is skipped: kernels of such a file are judged on their own.
  if (!named && kernel.form() == v1::KERNEL_FORM_FILE) return;
  if (!named && kernel.tokens() < kLeastOptedOutTokens) return;
  places_[GetFile(source, kernel.path(), kernel)].push_back(
      {kernel.first_line(), kernel.last_line(), number});
  sources_.insert(source);
}

// Returns the first opted-out kernel in the lines of a file, other than the kernel `but`.
std::optional<uint32_t> OptedOutTexts::Within(const File& file, int first_line, int last_line,
                                              uint32_t but) const {
  const auto places = places_.find(file);
  if (places == places_.end()) return std::nullopt;
  for (const Place& place : places->second) {
    if (place.number == but) continue;
    if (first_line <= place.first_line && place.last_line <= last_line) return place.number;
  }
  return std::nullopt;
}

// Returns the first text of the kernel that contains an opted-out kernel: source, then module, then
// launcher.
std::optional<OptedOutTexts::Found> OptedOutTexts::FindIn(int source, uint32_t number,
                                                          const v1::Kernel& kernel) const {
  const auto own = Within(GetFile(source, kernel.path(), kernel), kernel.first_line(),
                          kernel.last_line(), number);
  if (own.has_value()) return Found{"source", *own};
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    if (piece.generated()) continue;
    const std::optional<File> file = GetFile(source, piece, kernel);
    if (!file.has_value()) continue;
    const auto part = Within(*file, piece.first_line(), piece.last_line(), number);
    if (part.has_value()) return Found{"module", *part};
  }
  if (!kernel.has_launcher()) return std::nullopt;
  const v1::Launcher& launcher = kernel.launcher();
  const auto host = Within(GetFile(source, launcher.path(), kernel), launcher.first_line(),
                           launcher.last_line(), number);
  if (host.has_value()) return Found{"launcher", *host};
  return std::nullopt;
}

}  // namespace kernelmill::deduplicator
