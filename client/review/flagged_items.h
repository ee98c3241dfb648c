#ifndef KERNELMILL_CLIENT_REVIEW_FLAGGED_ITEMS_H_
#define KERNELMILL_CLIENT_REVIEW_FLAGGED_ITEMS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernelmill/v1/job.pb.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::client {

// A kernel of an exported dataset that something is flagged about.
struct FlaggedKernel {
  std::string repository;
  v1::Kernel kernel;   // its id, place, names and hash; no text
  int64_t offset = 0;  // of its row in kernels.jsonl
};

// Something that a person is asked to decide on.
struct FlaggedItem {
  std::string id;       // "FLAG:KERNEL", "pair:CUDA-TRITON"
  std::string flag;     // of config/review_list.h
  double value = 0;     // overlap of words, score of a candidate, confidence in a licence
  std::string summary;  // a line: what was flagged
  std::vector<FlaggedKernel> kernels;  // one, or the CUDA kernel and the Triton kernel
};

struct FlaggedOptions {
  std::vector<std::string> flags;   // empty: all
  double license_confidence = 0.7;  // a licence is flagged below this
};

// A heading and a text, to be shown.
using Section = std::pair<std::string, std::string>;

// The flagged items of an exported dataset: kernels whose prompt and completion are alike,
// candidate pairs of CUDA and Triton kernels, kernels whose licence is uncertain; in this order,
// the most doubtful first, pairs by falling score. Holds some hundred bytes an item; texts are read
// when they are asked for. Not thread-safe.
class FlaggedItems {
 public:
  // Errors are those of dataset::RowReader; DATA_LOSS: a pair names kernels that are missing.
  static absl::StatusOr<FlaggedItems> Read(const std::string& dataset,
                                           const FlaggedOptions& options);

  const std::vector<FlaggedItem>& items() const { return items_; }

  // The item's texts; with `whole`, each kernel as it stands alone.
  absl::StatusOr<std::vector<Section>> Texts(const FlaggedItem& item, bool whole) const;

  // The decision on the item, with nothing decided yet. It refers to kernels by repository, path,
  // name and the hash of their text, so that it holds for every commit that has this text.
  static v1::Review NewReview(const FlaggedItem& item);

 private:
  std::string dataset_;
  std::vector<FlaggedItem> items_;
};

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_REVIEW_FLAGGED_ITEMS_H_
