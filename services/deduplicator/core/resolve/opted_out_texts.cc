#include "services/deduplicator/core/resolve/opted_out_texts.h"

#include "absl/strings/str_cat.h"

namespace kernelmill::deduplicator {

// The strings of a JSON file are modules of their own, with lines of their own.
OptedOutTexts::File OptedOutTexts::FileOf(int source, absl::string_view path,
                                          const v1::Kernel& kernel) {
  if (!kernel.has_json_pointer()) return {source, std::string(path)};
  return {source, absl::StrCat(path, absl::string_view("\0", 1), kernel.json_pointer())};
}

void OptedOutTexts::Add(int source, uint32_t number, const v1::Kernel& kernel, bool named) {
  // What is taken of a whole file that repeats another one is judged for itself.
  if (!named && kernel.form() == v1::KERNEL_FORM_FILE) return;
  if (!named && kernel.tokens() < kLeastOptedOutTokens) return;
  places_[FileOf(source, kernel.path(), kernel)].push_back(
      {kernel.first_line(), kernel.last_line(), number});
  sources_.insert(source);
}

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

std::optional<OptedOutTexts::Found> OptedOutTexts::FindIn(int source, uint32_t number,
                                                          const v1::Kernel& kernel) const {
  const auto own = Within(FileOf(source, kernel.path(), kernel), kernel.first_line(),
                          kernel.last_line(), number);
  if (own.has_value()) return Found{"source", *own};
  for (const v1::ModulePiece& piece : kernel.pieces()) {
    if (piece.generated()) continue;
    const auto part =
        Within(FileOf(source, piece.path(), kernel), piece.first_line(), piece.last_line(), number);
    if (part.has_value()) return Found{"module", *part};
  }
  if (!kernel.has_launcher()) return std::nullopt;
  const v1::Launcher& launcher = kernel.launcher();
  const auto host = Within(FileOf(source, launcher.path(), kernel), launcher.first_line(),
                           launcher.last_line(), number);
  if (host.has_value()) return Found{"launcher", *host};
  return std::nullopt;
}

}  // namespace kernelmill::deduplicator
