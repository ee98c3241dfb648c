#include "dataset/mix/mix_order.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/hash.h"

// The order of a phase is written as an array for numpy.load, so that trainers need no code of
// ours. It must come out the same everywhere, and so uses a random generator of its own: the
// standard library's shuffle may differ between libraries.
namespace kernelmill::dataset {
namespace {

// A random generator with the same numbers on every machine: SplitMix64 (Steele, Lea, Flood, 2014).
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Returns a number below `bound`. The probabilities of two numbers differ by less than 2^-32.
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(((Next() >> 32) * bound) >> 32); }

 private:
  uint64_t state_;
};

// Makes a separate seed for each shuffle.
uint64_t MakeSeed(uint64_t seed, absl::string_view phase, size_t part, uint64_t epoch) {
  const std::string hash = Sha256Hex(absl::StrCat(seed, "\n", part, "\n", epoch, "\n", phase));
  return std::stoull(hash.substr(0, 16), nullptr, 16);
}

void AppendUint32(uint32_t value, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

}  // namespace

MixOrder::MixOrder(const PhasePlan& plan, uint64_t seed)
    : plan_(plan), seed_(seed), readings_(plan.parts.size()) {}

// Each epoch has a seed of its own, made from the phase, the part and the epoch. So the order of a
// part does not change when parts are added to other phases.
void MixOrder::StartEpoch(size_t part) {
  Reading& reading = readings_[part];
  reading.order.resize(plan_.parts[part].rows.size());
  std::iota(reading.order.begin(), reading.order.end(), 0);
  Draws draws(MakeSeed(seed_, plan_.name, part, reading.epoch));
  // The shuffle of Fisher and Yates.
  for (auto left = static_cast<uint32_t>(reading.order.size()); left > 1; --left) {
    std::swap(reading.order[left - 1], reading.order[draws.Below(left)]);
  }
  reading.at = 0;
  ++reading.epoch;
}

// Looks for the part that is furthest behind by comparing all of them: a phase has few parts. A
// part's last row may exceed its tokens, because rows are not divided.
bool MixOrder::Next(Sample* sample) {
  size_t next = readings_.size();
  double least = 1;  // a part that was read to its tokens has at least 1
  for (size_t i = 0; i < readings_.size(); ++i) {
    const PartPlan& part = plan_.parts[i];
    if (part.rows.empty() || part.tokens == 0) continue;
    // Doubles of whole numbers and one division: IEEE 754 gives the same result on every machine.
    const double read = static_cast<double>(readings_[i].read) / static_cast<double>(part.tokens);
    if (read >= least) continue;
    least = read;
    next = i;
  }
  if (next == readings_.size()) return false;
  Reading& reading = readings_[next];
  if (reading.at == reading.order.size()) StartEpoch(next);
  const MixRow& row = plan_.parts[next].rows[reading.order[reading.at++]];
  reading.read += row.tokens;
  *sample = {static_cast<uint32_t>(next), row.row};
  return true;
}

std::string NpyHead(int64_t samples) {
  // Version 1.0 of the format: magic, version, the head's length, a Python dictionary, blanks up to
  // a multiple of 64 bytes, a newline.
  std::string dictionary =
      absl::StrCat("{'descr': '<u4', 'fortran_order': False, 'shape': (", samples, ", 2), }");
  const size_t before = 10;
  dictionary.append(63 - (before + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(dictionary.size() & 0xff);
  head += static_cast<char>(dictionary.size() >> 8);
  return head + dictionary;
}

void AppendNpyRow(const MixOrder::Sample& sample, std::string* out) {
  AppendUint32(sample.part, out);
  AppendUint32(sample.row, out);
}

}  // namespace kernelmill::dataset
