// Writes the SPDX licence list as C++: generate_list FOLDER OUTPUT, where FOLDER holds the npm
// package spdx-license-list. Each licence text becomes the list of numbers of its LegalWords, since
// these are what a text is compared by. A file that cannot be read ends the build.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/spdx/text/deprecated_ids.h"
#include "common/spdx/text/words.h"

namespace kernelmill::spdx {
namespace {

namespace fs = std::filesystem;

using Numbers = std::vector<uint16_t>;

// A longer text before the first copyright line is not a title, and a licence shorter than the
// second bound has none.
constexpr size_t kMaxTitleWords = 20;
constexpr size_t kMinTitledWords = 40;
// Phrases that begin the instructions for using a licence, or another licence's text.
constexpr const char* kTails[] = {
    "end of terms and conditions",
    "for more information please refer to",
    "x window system is a trademark of",
    "exhibit a source code form license notice",
    "gnu general public license version 3 29 june 2007 everyone is permitted",
    "creative commons is not a party to its public licenses notwithstanding",
};

struct Text {
  std::vector<std::string> ids;
  uint32_t first = 0;
  uint32_t last = 0;
};

// Orders identifiers by length first: of several identifiers for one text the shortest stands for
// it.
bool ById(const std::string& a, const std::string& b) {
  return std::make_tuple(a.size(), a) < std::make_tuple(b.size(), b);
}

bool ByLowerCase(const std::string& a, const std::string& b) {
  return absl::AsciiStrToLower(a) < absl::AsciiStrToLower(b);
}

// Returns how many words of the text are its title: those before the first copyright line, or a
// short first paragraph.
uint32_t TitleWords(absl::string_view text, const std::vector<LegalWord>& words) {
  if (words.size() < kMinTitledWords) return 0;
  int until = 0;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (until == 0 && line.empty() && number > 1) until = number;
    if (IsCopyrightLine(line)) {
      until = number;
      break;
    }
  }
  const auto end = std::find_if(words.begin(), words.end(),
                                [&](const LegalWord& word) { return word.line >= until; });
  const size_t title = static_cast<size_t>(end - words.begin());
  return title > kMaxTitleWords ? 0 : static_cast<uint32_t>(title);
}

// Returns where the licence ends and its instructions begin.
uint32_t BodyEnd(const std::vector<LegalWord>& words) {
  std::vector<std::string> texts;
  for (const LegalWord& word : words) texts.push_back(word.text);
  size_t end = words.size();
  for (const absl::string_view tail : kTails) {
    const std::vector<std::string> phrase = absl::StrSplit(tail, ' ');
    const auto found =
        std::search(texts.begin() + texts.size() / 8, texts.end(), phrase.begin(), phrase.end());
    if (found != texts.end()) end = std::min(end, static_cast<size_t>(found - texts.begin()));
  }
  return static_cast<uint32_t>(end);
}

// Collects the texts and writes them. Equal texts (GPL-2.0-only and GPL-2.0-or-later) become one
// entry. Words are numbered in the order in which they occur, and a text is a u"" literal of the
// numbers, since compilers read string literals much faster than arrays. 0xd800 and above are not
// allowed in such a literal.
class Generator {
 public:
  void Add(const fs::path& file) {
    const std::string id = file.stem().string();
    // Texts are found under ids that are not deprecated.
    if (FindDeprecatedId(id) != nullptr) return;
    ids_.push_back(id);
    const nlohmann::json json = nlohmann::json::parse(std::ifstream(file));
    const std::string text = json.at("licenseText").get<std::string>();
    const std::vector<LegalWord> words = LegalWords(text, /*placeholders=*/true);
    Numbers numbers;
    for (const LegalWord& word : words) numbers.push_back(Number(word.text));
    Text& entry = texts_[std::move(numbers)];
    entry.first = TitleWords(text, words);
    entry.last = BodyEnd(words);
    entry.ids.push_back(id);
  }

  void Write(std::ostream& out) {
    out << "#include \"common/spdx/license_list.h\"\n\nnamespace kernelmill::spdx {\nnamespace {\n"
        << "constexpr const char* kWords[] = {\n";
    for (const std::string& word : words_) out << '"' << word << "\",\n";
    out << "};\nconstexpr LicenseTemplate kTemplates[] = {\n";
    for (const auto& [id, text] : ByFirstId()) WriteTemplate(*text, out);
    std::sort(ids_.begin(), ids_.end(), ByLowerCase);
    out << "};\nconstexpr const char* kIds[] = {\n";
    for (const std::string& id : ids_) out << '"' << id << "\",\n";
    out << "};\n}  // namespace\n"
        << "absl::Span<const LicenseTemplate> LicenseTemplates() { return kTemplates; }\n"
        << "absl::Span<const char* const> LicenseWords() { return kWords; }\n"
        << "absl::Span<const char* const> LicenseIds() { return kIds; }\n"
        << "}  // namespace kernelmill::spdx\n";
  }

 private:
  using Entry = std::pair<const Numbers, Text>;

  // Returns a word's number, from 1 on. 0 is the empty word, which is a placeholder: it fits any
  // text.
  uint16_t Number(const std::string& word) {
    if (word.empty()) return 0;
    const auto [found, added] = numbers_.emplace(word, words_.size() + 1);
    if (added) words_.push_back(word);
    if (found->second >= 0xd800)
      throw std::runtime_error("the texts have too many different words for 16-bit numbers");
    return static_cast<uint16_t>(found->second);
  }

  // Orders the texts by their shortest id, so that the generated file is the same each time.
  std::map<std::string, Entry*> ByFirstId() {
    std::map<std::string, Entry*> sorted;
    for (Entry& entry : texts_) {
      std::sort(entry.second.ids.begin(), entry.second.ids.end(), ById);
      if (!entry.first.empty()) sorted[entry.second.ids.front()] = &entry;
    }
    return sorted;
  }

  // The entry has its ids, its words as numbers, how many they are, and where its title ends and
  // its instructions begin.
  static void WriteTemplate(const Entry& entry, std::ostream& out) {
    const auto& [numbers, text] = entry;
    out << "{\"" << absl::StrJoin(text.ids, " ") << "\", u\"";
    for (const uint16_t number : numbers) out << "\\x" << std::hex << number << std::dec;
    out << "\", " << numbers.size() << ", " << text.first << ", " << text.last << "},\n";
  }

  std::vector<std::string> ids_;
  std::vector<std::string> words_;
  std::map<std::string, size_t> numbers_;
  std::map<Numbers, Text> texts_;
};

// Files are sorted, since the numbers of words depend on their order.
int Main(const fs::path& folder, const std::string& output) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / "licenses")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Generator generator;
  for (const fs::path& file : files) generator.Add(file);
  std::ofstream out(output);
  generator.Write(out);
  out.close();
  return out.good() ? 0 : 1;
}

}  // namespace
}  // namespace kernelmill::spdx

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: generate_list FOLDER OUTPUT\n";
    return 2;
  }
  try {
    return kernelmill::spdx::Main(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << "generate_list: " << error.what() << "\n";
    return 1;
  }
}
