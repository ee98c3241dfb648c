// dedup_bench: what tests/bench/dedup.py measures of the deduplicator.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "tests/bench/dedup/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Measures the deduplicator.", "dedup_bench");
  std::string records, shingles, folder;
  double threshold = 0.7;
  int64_t kernels = 10000;
  CLI::App* compare = app.add_subcommand("compare", "time and recall over real kernels");
  compare->add_option("records", records)->required();
  compare->add_option("shingles", shingles)->required();
  compare->add_option("--threshold", threshold);
  CLI::App* growth = app.add_subcommand("growth", "time and memory by number of kernels");
  growth->add_option("kernels", kernels)->required();
  growth->add_option("folder", folder)->required();
  app.require_subcommand(1);
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = compare->parsed()
                                  ? kernelmill::bench::Compare(records, shingles, threshold)
                                  : kernelmill::bench::Growth(kernels, folder);
  if (status.ok()) return 0;
  std::fprintf(stderr, "dedup_bench: %s\n", absl::StrCat(status.message()).c_str());
  return 1;
}
