// extract_bench WORK PACK: does one kind of work on every file of a pack, once, and prints its
// processor time as one line of JSON. extract.py makes the packs and a table.
//
//   scan     the fetcher's search for a marker
//   parse    only tree-sitter and the copy of its tree
//   extract  from the bytes of a file to its KernelShard
//   digests  not measured: a line "SHA-256 PATH" for the KernelShard of each file
//
// A pack has a record for each file: "PATH\nSIZE\n" and SIZE bytes.
#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/cas/digest.h"
#include "common/python/parse/python_parser.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"
#include "services/extractor/core/extract/extract.h"
#include "services/fetcher/core/selection/file_policy.h"

namespace kernelmill::bench {
namespace {

absl::StatusOr<std::vector<v1::FileShard>> Unpack(absl::string_view pack) {
  std::vector<v1::FileShard> shards;
  while (!pack.empty()) {
    const size_t path = pack.find('\n');
    const size_t size = path == pack.npos ? pack.npos : pack.find('\n', path + 1);
    uint64_t bytes = 0;
    if (size == pack.npos || !absl::SimpleAtoi(pack.substr(path + 1, size - path - 1), &bytes) ||
        bytes > pack.size() - size - 1) {
      return absl::InvalidArgumentError("this is no pack");
    }
    v1::SourceFile& file = *shards.emplace_back().add_files();
    file.set_path(std::string(pack.substr(0, path)));
    file.set_content(std::string(pack.substr(size + 1, bytes)));
    pack.remove_prefix(size + 1 + bytes);
  }
  return shards;
}

int64_t Scan(const std::vector<v1::FileShard>& shards) {
  int64_t marked = 0;
  for (const v1::FileShard& shard : shards) {
    if (fetcher::ContentSkipReason(shard.files(0).content()).empty()) ++marked;
  }
  return marked;
}

int64_t Parse(const std::vector<v1::FileShard>& shards) {
  python::StandardParser::Options options;
  options.plain_first = false;
  const python::StandardParser parser(options);
  int64_t nodes = 0;
  for (const v1::FileShard& shard : shards) {
    const auto tree = parser.Parse(shard.files(0).content());
    if (tree.ok()) nodes += tree->size();
  }
  return nodes;
}

absl::StatusOr<int64_t> Extract(const std::vector<v1::FileShard>& shards) {
  const python::StandardParser parser;
  int64_t kernels = 0;
  for (const v1::FileShard& shard : shards) {
    ASSIGN_OR_RETURN(const v1::KernelShard extracted, extractor::ExtractKernels(shard, parser));
    kernels += extracted.kernels_size();
  }
  return kernels;
}

absl::Status PrintDigests(const std::vector<v1::FileShard>& shards) {
  const python::StandardParser parser;
  for (const v1::FileShard& shard : shards) {
    ASSIGN_OR_RETURN(const v1::KernelShard extracted, extractor::ExtractKernels(shard, parser));
    std::printf("%s %s\n", Sha256Hex(cas::SerializeDeterministically(extracted)).c_str(),
                shard.files(0).path().c_str());
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Do(absl::string_view work, const std::vector<v1::FileShard>& shards) {
  if (work == "scan") return Scan(shards);
  if (work == "parse") return Parse(shards);
  if (work == "extract") return Extract(shards);
  return absl::InvalidArgumentError(absl::StrCat("no such work: ", work));
}

double CpuSeconds(const rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

absl::Status Run(absl::string_view work, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string pack, ReadFile(path, int64_t{4} << 30));
  ASSIGN_OR_RETURN(const std::vector<v1::FileShard> shards, Unpack(pack));
  if (work == "digests") return PrintDigests(shards);
  rusage before;
  getrusage(RUSAGE_SELF, &before);
  ASSIGN_OR_RETURN(const int64_t found, Do(work, shards));
  rusage after;
  getrusage(RUSAGE_SELF, &after);
  std::printf(R"({"seconds": %.6f, "found": %lld, "peak_kib": %ld})"
              "\n",
              CpuSeconds(after) - CpuSeconds(before), static_cast<long long>(found),
              after.ru_maxrss);
  return absl::OkStatus();
}

}  // namespace
}  // namespace kernelmill::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: extract_bench scan|parse|extract|digests PACK\n");
    return 2;
  }
  const absl::Status done = kernelmill::bench::Run(argv[1], argv[2]);
  if (done.ok()) return 0;
  std::fprintf(stderr, "extract_bench: %s\n", done.ToString().c_str());
  return 1;
}
