// resolve_bench: processor time and memory of the leader rule for any number of kernels. Signatures
// and verdicts are made as they are added, three kernels in ten are near duplicates, and every
// hundredth is refused for its licence. Prints one line of JSON.

#include <sys/resource.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/deduplicator/core/resolve/resolve.h"

namespace kernelmill::bench {
namespace {

constexpr int kShard = 100;  // kernels
constexpr int kTen = 10;
constexpr int kCopies = 3;  // in ten kernels

double ProcessorSeconds() {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void AppendBytes(uint64_t number, uint64_t seed, int size, std::string* bytes) {
  std::string more;
  while (more.size() < static_cast<size_t>(size)) {
    const uint64_t hash = StableHash64(absl::StrCat(number, "/", more.size()), seed);
    more.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  }
  bytes->append(more, 0, static_cast<size_t>(size));
}

void AddKernel(int64_t number, v1::SignatureShard* signatures, v1::VerdictShard* verdicts) {
  const auto place = static_cast<uint64_t>(number);
  AppendBytes(place, 1, 32, signatures->mutable_sha256());
  AppendBytes(place, 2, 20, signatures->mutable_pair_sha1());
  for (v1::TokenSets* sets : {signatures->mutable_near(), signatures->mutable_structural()}) {
    sets->add_hashes(place);
    sets->add_sizes(100);
    sets->mutable_minhash()->append(256, '\0');
  }
  signatures->add_words_common(1);
  signatures->add_words_total(10);
  signatures->add_paths(absl::StrCat("source/kernels_", number / kTen, ".py"));
  signatures->add_first_lines(static_cast<int32_t>(number % kTen) * 40 + 1);
  signatures->add_names(StableHash64(absl::StrCat(number), 3));
  signatures->add_renamed(StableHash64(absl::StrCat(number), 4));
  signatures->add_computations(0);
  v1::Verdict* verdict = verdicts->add_verdicts();
  verdict->set_accepted(number % 100 != 99);
  if (!verdict->accepted()) verdict->add_reasons("license:GPL-3.0-only");
  verdict->mutable_license()->set_confidence(1);
  verdict->mutable_quality()->set_score(0.5 + static_cast<double>(number % 97) / 200);
}

absl::Status Run(int64_t kernels, int64_t of_source) {
  v1::DedupPolicy policy;
  policy.set_threshold(0.7);
  policy.set_structural(true);
  policy.set_structural_threshold(0.9);
  deduplicator::Resolver resolver(policy);
  double made = 0;
  double seconds = 0;
  v1::PairSet pairs;
  for (int64_t first = 0; first < kernels; first += kShard) {
    const double begin = ProcessorSeconds();
    v1::SignatureShard signatures;
    v1::VerdictShard verdicts;
    for (int64_t i = first; i < std::min(first + kShard, kernels); ++i) {
      AddKernel(i, &signatures, &verdicts);
      if (i % kTen < kTen - kCopies) continue;
      v1::Pair* pair = pairs.add_pairs();
      pair->set_a(static_cast<uint32_t>(i - kCopies));
      pair->set_b(static_cast<uint32_t>(i));
      pair->set_common(90);
      pair->set_total(100);
    }
    v1::ShardOrigin origin;
    origin.set_source(static_cast<int32_t>(first / of_source));
    const double end = ProcessorSeconds();
    made += end - begin;
    RETURN_IF_ERROR(resolver.AddShard(signatures, &verdicts, origin));
    seconds += ProcessorSeconds() - end;
  }
  const double begin = ProcessorSeconds();
  RETURN_IF_ERROR(resolver.AddPairs(pairs));
  pairs.Clear();
  const v1::Clusters clusters = resolver.Resolve();
  const std::string bytes = clusters.SerializeAsString();
  seconds += ProcessorSeconds() - begin;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const nlohmann::ordered_json json = {
      {"kernels", kernels},
      {"us_a_kernel", seconds * 1e6 / static_cast<double>(kernels)},
      {"made_us_a_kernel", made * 1e6 / static_cast<double>(kernels)},
      {"peak_mib", usage.ru_maxrss / 1024},
      {"bytes", bytes.size()},
      {"sha256", Sha256Hex(bytes)}};
  std::cout << json << "\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace kernelmill::bench

int main(int argc, char** argv) {
  CLI::App app("Measures the leader rule.", "resolve_bench");
  int64_t kernels = 10'000;
  int64_t of_source = 1'000;
  app.add_option("--kernels", kernels, "");
  app.add_option("--of-source", of_source, "kernels of a source");
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = kernelmill::bench::Run(kernels, of_source);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
