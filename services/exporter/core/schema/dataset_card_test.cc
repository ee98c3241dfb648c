#include "services/exporter/core/schema/dataset_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "services/exporter/core/schema/row_schemas.h"

namespace kernelmill::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// tests/peers/readers_test.py has `datasets` itself read one.
TEST(DatasetCard, NamesTheTypesOfEveryFile) {
  const std::string card = DatasetCard("seeds", "abc/1", 7);
  EXPECT_THAT(card,
              StartsWith("---\nconfigs:\n- config_name: kernels\n  data_files: kernels.jsonl\n"
                         "  default: true\n- config_name: fim\n"));
  for (const RowSchema& schema : RowSchemas()) EXPECT_THAT(card, HasSubstr(schema.file));
  EXPECT_THAT(card, HasSubstr("\n  - name: weight\n    dtype: float64\n"));
  EXPECT_THAT(card, HasSubstr("\n  - name: duplicates\n    sequence: string\n"));
  EXPECT_THAT(card, HasSubstr("\n  - name: tag_rules\n    list:\n    - name: name\n      dtype: "
                              "string\n    - name: rule\n      dtype: string\n"));
  EXPECT_THAT(card, HasSubstr("\n  - name: tokens\n    struct:\n    - name: cl100k_base\n"));
  EXPECT_THAT(card, HasSubstr("\n---\n\n# seeds\n\n7 GPU kernels "));
}

}  // namespace
}  // namespace kernelmill::exporter
