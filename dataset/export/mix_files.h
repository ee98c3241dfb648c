#ifndef KERNELMILL_DATASET_EXPORT_MIX_FILES_H_
#define KERNELMILL_DATASET_EXPORT_MIX_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataset/export/dataset_index.h"
#include "dataset/mix/mix_plan.h"
#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::dataset {

// The facts about a row that a part of a mix may choose it by.
struct MixFacts {
  int source = 0;        // in the manifest
  uint8_t language = 0;  // dsl::GetNumber
  int32_t tier = 0;
  absl::string_view template_name;  // a conversation's; or empty
  absl::string_view split;
};

// Writes mix.json, and under mix/ the order in which each phase reads its rows, where the job has a
// mix. Holds 16 bytes a row of the files that the mix draws from. Not thread-safe; `index` must
// outlive it.
class MixFiles {
 public:
  explicit MixFiles(const DatasetIndex& index) : index_(index) {}

  // Says whether rows of the config need their tokens counted.
  bool DrawsFrom(absl::string_view config) const {
    return MixDrawsFrom(index_.manifest.mix(), config);
  }

  // The facts about a row of a kept kernel or whole file.
  MixFacts GetFacts(uint32_t number, int32_t tier, absl::string_view template_name) const;

  // The next row of the config's file. Rows of other splits than train are counted and not drawn.
  void AddRow(const std::string& config, const MixFacts& facts, int64_t tokens);

  // Once all rows of the config are added: says which of them have their lines first in the file.
  void MoveToFront(const std::string& config, const std::vector<int64_t>& first);

  // Writes nothing where the job has no mix. Answers the warnings of the plan, a line each.
  absl::StatusOr<std::vector<std::string>> Write(const std::string& dir) const;

 private:
  bool Fits(const v1::MixPart& part, const MixRow& row) const;

  const DatasetIndex& index_;
  MixRows rows_;
  std::map<std::string, uint32_t> written_;  // rows of each file
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_EXPORT_MIX_FILES_H_
