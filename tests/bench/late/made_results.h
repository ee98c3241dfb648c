#ifndef KERNELMILL_TESTS_BENCH_LATE_MADE_RESULTS_H_
#define KERNELMILL_TESTS_BENCH_LATE_MADE_RESULTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/dataset.pb.h"
#include "kernelmill/v1/kernel.pb.h"
#include "kernelmill/v1/source.pb.h"

namespace kernelmill::bench {

// Makes the results of the early stages for any number of shards, each a function of the shard's
// number.
//
// The basic idea: the stages run once, on a template whose texts have placeholders, numbers of ten
// digits. The result of a shard is the template's with other digits in their place, and with the
// hashes of the new texts. So messages are as the stages make them, for a hundredth of their time.
//
// Placeholder 0 is the shard's number, so names and paths are unlike; the others are constants.
class MadeResults {
 public:
  // `folder` has the template: LICENSE and the files of a shard. Errors are those of the stages.
  static absl::StatusOr<MadeResults> Create(const std::string& folder);

  v1::SourceTree MakeTree(const v1::Source& source, int64_t first_shard, int shards) const;
  v1::FileShard MakeFiles(int64_t shard) const;
  v1::KernelShard MakeKernels(int64_t shard) const;
  v1::VerdictShard MakeVerdicts(int64_t shard) const;
  v1::SignatureShard MakeSignatures(int64_t shard) const;
  // Three kernels in ten are near duplicates of another one of their shard.
  v1::PairSet MakePairs(int shards) const;

  // Returns the number of the shard to which a blob with paths belongs.
  absl::StatusOr<int64_t> FindShard(absl::string_view blob) const;

  int kernels() const { return kernels_.kernels_size(); }

 private:
  // A message with the offsets of its placeholders and the number of each.
  template <typename Message>
  struct Template {
    std::string bytes;
    std::vector<std::pair<size_t, int>> places;
  };

  template <typename Message>
  static Template<Message> Cut(const Message& message);
  template <typename Message>
  static Message Fill(const Template<Message>& cut, int64_t shard);

  v1::SourceFile license_;
  v1::KernelShard kernels_;
  Template<v1::FileShard> file_cut_;
  Template<v1::KernelShard> kernel_cut_;
  Template<v1::VerdictShard> verdict_cut_;
  Template<v1::SignatureShard> signature_cut_;
};

}  // namespace kernelmill::bench

#endif  // KERNELMILL_TESTS_BENCH_LATE_MADE_RESULTS_H_
