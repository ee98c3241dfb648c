#include "client/catalog/search/postings.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/catalog/search/data_files.h"
#include "client/catalog/search/numbering.h"
#include "common/base/status.h"
#include "common/base/text.h"

// An inverted index by external sorting. Memory holds the uses of words in the kernels since the
// last run. When they reach the limit, WriteRun sorts them by word and writes them to a temp file.
// Write merges all runs word by word, turns kernels into the site's numbers, computes the weights,
// which need the mean length of all kernels, and encodes each list:
//
//   for each kernel, ascending: its distance to the one before as a varint, and its weight, a byte
//
// So a list of one million kernels takes some two megabytes. Time is linear in the entries, with a
// factor for sorting; the number of runs is small (four million entries each), so that the merge
// looks at all runs for each word.
//
// The format of a run: for each word, in ascending order, its size (1 byte), its bytes, the number
// of its entries (4), and for each entry the kernel (4), the fields (1) and the count in the code
// (1). Numbers have the low byte first.

namespace kernelmill::client {
namespace {

// The bytes of an entry in a run: 4 for the kernel, 1 for the fields, 1 for the count.
constexpr size_t kEntryBytes = 6;
constexpr size_t kWriteBytes = 1 << 20;
constexpr size_t kShard = 128 << 10;  // bytes of a shard; a longer list has files of its own
// A word belongs to the vocabulary if a name or a description of so many kernels has it.
constexpr double kNamed = 1.5;
constexpr ptrdiff_t kLeastKernels = 2;
constexpr size_t kVocabulary = 20'000;
constexpr size_t kWordOverhead = 12;  // bytes of a word in a shard: its count, end and blank

void AppendUint32(uint32_t value, std::string* bytes) {
  for (int shift = 0; shift < 32; shift += 8) bytes->push_back(static_cast<char>(value >> shift));
}

uint32_t ReadUint32(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// A reader of one run, from its beginning.
class RunReader {
 public:
  explicit RunReader(const std::string& path) : file_(path, std::ios::binary), path_(path) {}

  // Moves to the next word. Returns false after the last one.
  absl::StatusOr<bool> Next() {
    char size;
    if (!file_.get(size)) {
      // A run may only end before a word.
      if (file_.eof()) return false;
      return Broken();
    }
    word_.resize(static_cast<unsigned char>(size));
    char count[4];
    if (!file_.read(word_.data(), static_cast<std::streamsize>(word_.size())) ||
        !file_.read(count, sizeof count)) {
      return Broken();
    }
    count_ = ReadUint32(count);
    return true;
  }

  const std::string& word() const { return word_; }

  // Reads the bytes of the word's entries. Call once for each word.
  absl::StatusOr<std::string> Entries() {
    std::string bytes(count_ * kEntryBytes, '\0');
    if (!file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return Broken();
    return bytes;
  }

 private:
  absl::Status Broken() const {
    return absl::DataLossError(absl::StrCat(path_, " ends too early"));
  }

  std::ifstream file_;
  std::string path_;
  std::string word_;
  uint32_t count_ = 0;
};

// A merge of several runs: word by word, with the entries of all runs in the order of the runs.
class MergedRuns {
 public:
  static absl::StatusOr<MergedRuns> Open(const std::vector<std::string>& paths) {
    MergedRuns merged;
    for (const std::string& path : paths) {
      auto run = std::make_unique<RunReader>(path);
      ASSIGN_OR_RETURN(const bool more, run->Next());
      if (more) merged.runs_.push_back(std::move(run));
    }
    return merged;
  }

  // Returns the next word and the bytes of its entries; nullopt after the last one.
  // The entries are in ascending order of kernels: within a run by the order of Add, and all
  // kernels of a run come before those of the next.
  absl::StatusOr<std::optional<std::pair<std::string, std::string>>> Next() {
    if (runs_.empty()) return std::nullopt;
    const std::string word =
        (*std::min_element(runs_.begin(), runs_.end(), [](const auto& a, const auto& b) {
          return a->word() < b->word();
        }))->word();
    std::string entries;
    for (auto& run : runs_) {
      if (run->word() != word) continue;
      ASSIGN_OR_RETURN(const std::string bytes, run->Entries());
      entries.append(bytes);
      ASSIGN_OR_RETURN(const bool more, run->Next());
      if (!more) run = nullptr;
    }
    runs_.erase(std::remove(runs_.begin(), runs_.end(), nullptr), runs_.end());
    return std::make_pair(word, std::move(entries));
  }

 private:
  std::vector<std::unique_ptr<RunReader>> runs_;
};

// A writer of shards: words with their lists, until a file is full. A list that continues in
// another file begins a file of its own.
class ShardWriter {
 public:
  explicit ShardWriter(const std::string& site) : site_(site) {}

  absl::Status Add(const std::string& word, uint32_t count, absl::string_view list) {
    // The size in the file: base64 turns three bytes into four.
    const size_t size = list.size() * 4 / 3 + word.size() + kWordOverhead;
    if (!words_.empty() && size_ + size > kShard) RETURN_IF_ERROR(Flush());
    if (words_.empty()) first_words_.push_back(word);
    size_ += size;
    words_.push_back(word);
    counts_.push_back(count);
    bytes_.append(list.data(), list.size());
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
    return absl::OkStatus();
  }

  // Writes the words so far as one file. The page finds the file of a word by the first words of
  // all files, which are ascending.
  absl::Status Flush() {
    if (words_.empty()) return absl::OkStatus();
    std::string bytes;
    for (const uint32_t count : counts_) AppendUint32(count, &bytes);
    for (const uint32_t end : ends_) AppendUint32(end, &bytes);
    bytes.append(bytes_);
    RETURN_IF_ERROR(
        WriteDataFile(site_, absl::StrCat("postings/", first_words_.size() - 1),
                      absl::StrCat("{\"words\":", JsonString(absl::StrJoin(words_, " ")),
                                   ",\"bytes\":\"", absl::Base64Escape(bytes), "\"}")));
    words_.clear();
    counts_.clear();
    ends_.clear();
    bytes_.clear();
    size_ = 0;
    return absl::OkStatus();
  }

  std::vector<std::string> first_words() && { return std::move(first_words_); }

 private:
  std::string site_;
  std::vector<std::string> first_words_;  // the first word of each shard, the open one included
  std::vector<std::string> words_;
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> ends_;
  std::string bytes_;
  size_t size_ = 0;
};

}  // namespace

absl::StatusOr<Postings> Postings::Create(const std::string& temp_parent, size_t run_entries) {
  ASSIGN_OR_RETURN(TempDir temp, TempDir::Create(temp_parent));
  return Postings(std::move(temp), run_entries);
}

absl::Status Postings::Add(const WordUses& uses, uint32_t length, double standing) {
  const auto kernel = static_cast<uint32_t>(lengths_.size());
  lengths_.push_back(length);
  standings_.push_back(static_cast<float>(std::clamp(standing, 0.0, 1.0)));
  for (const auto& [word, use] : uses) words_[word].push_back({kernel, use});
  entries_ += uses.size();
  return entries_ < run_entries_ ? absl::OkStatus() : WriteRun();
}

absl::Status Postings::WriteRun() {
  if (words_.empty()) return absl::OkStatus();
  std::vector<const std::string*> order;
  for (const auto& [word, entries] : words_) order.push_back(&word);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return *a < *b; });
  const std::string path = absl::StrCat(temp_.path(), "/", runs_.size());
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  std::string bytes;
  for (const std::string* word : order) {
    const std::vector<Entry>& entries = words_.find(*word)->second;
    // A word has at most kMaxWord letters of at most three bytes, so its size fits into one byte.
    bytes.push_back(static_cast<char>(word->size()));
    bytes.append(*word);
    AppendUint32(static_cast<uint32_t>(entries.size()), &bytes);
    for (const Entry& entry : entries) {
      AppendUint32(entry.kernel, &bytes);
      bytes.push_back(static_cast<char>(entry.use.fields));
      bytes.push_back(static_cast<char>(entry.use.code));
    }
    // Few large writes instead of one for each word.
    if (bytes.size() < kWriteBytes) continue;
    RETURN_IF_ERROR(WriteAll(file.get(), bytes, path));
    bytes.clear();
  }
  RETURN_IF_ERROR(WriteAll(file.get(), bytes, path));
  runs_.push_back(path);
  words_.clear();
  entries_ = 0;
  return absl::OkStatus();
}

uint8_t Postings::Weight(const Entry& entry) const {
  const double length = lengths_[entry.kernel] / mean_length_;
  const double code = entry.use.code;
  const double sum = entry.use.fields * kFieldUnit + 3 * code / (code + 2 * (0.25 + 0.75 * length));
  const double weight = sum / (sum + 8) * standings_[entry.kernel];
  return static_cast<uint8_t>(std::clamp(255 * weight + 0.5, 1.0, 255.0));
}

// Encodes the list from `begin` up to the size of a file. Sets `end` to the first entry left out.
// Each part begins again with the distance from -1, so that a page can decode a file without the
// one before. A distance is at least 1.
std::string Postings::Encode(const std::vector<Entry>& list, size_t begin, size_t* end) const {
  std::string bytes;
  int64_t last = -1;
  size_t i = begin;
  for (; i < list.size() && bytes.size() < kDataFile; ++i) {
    AppendVarint(static_cast<uint32_t>(list[i].kernel - last), &bytes);
    bytes.push_back(static_cast<char>(Weight(list[i])));
    last = list[i].kernel;
  }
  *end = i;
  return bytes;
}

absl::StatusOr<std::vector<std::string>> Postings::Write(const std::string& site,
                                                         const std::vector<uint32_t>& places) {
  // Write what is still in memory as the last run, so that only runs are merged.
  RETURN_IF_ERROR(WriteRun());
  Reorder(places, &lengths_);
  Reorder(places, &standings_);
  const double sum = std::accumulate(lengths_.begin(), lengths_.end(), 0.0);
  mean_length_ = sum > 0 ? sum / static_cast<double>(lengths_.size()) : 1;
  ASSIGN_OR_RETURN(MergedRuns runs, MergedRuns::Open(runs_));
  ShardWriter shards(site);
  std::vector<Entry> list;
  // One word at a time: memory holds the longest list, and the shard that is open.
  while (true) {
    ASSIGN_OR_RETURN(const auto next, runs.Next());
    if (!next) break;
    const std::string& bytes = next->second;
    list.clear();
    for (size_t at = 0; at < bytes.size(); at += kEntryBytes) {
      list.push_back({places[ReadUint32(&bytes[at])],
                      {static_cast<uint8_t>(bytes[at + 4]), static_cast<uint8_t>(bytes[at + 5])}});
    }
    // `places` mixes the order of the dataset.
    std::sort(list.begin(), list.end(),
              [](const Entry& a, const Entry& b) { return a.kernel < b.kernel; });
    const auto named = std::count_if(list.begin(), list.end(), [](const Entry& entry) {
      return entry.use.fields * kFieldUnit >= kNamed;
    });
    if (named >= kLeastKernels) vocabulary_.emplace_back(named, next->first);
    for (size_t begin = 0, end = 0; begin < list.size(); begin = end) {
      const std::string encoded = Encode(list, begin, &end);
      RETURN_IF_ERROR(shards.Add(next->first, static_cast<uint32_t>(end - begin), encoded));
    }
  }
  RETURN_IF_ERROR(shards.Flush());
  return std::move(shards).first_words();
}

absl::Status Postings::WriteVocabulary(const std::string& site) {
  std::sort(vocabulary_.begin(), vocabulary_.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  vocabulary_.resize(std::min(vocabulary_.size(), kVocabulary));
  const std::string words = absl::StrJoin(
      vocabulary_, " ", [](std::string* out, const auto& word) { out->append(word.second); });
  return WriteDataFile(site, "vocabulary", JsonString(words));
}

}  // namespace kernelmill::client
