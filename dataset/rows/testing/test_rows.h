#ifndef KERNELMILL_DATASET_ROWS_TESTING_TEST_ROWS_H_
#define KERNELMILL_DATASET_ROWS_TESTING_TEST_ROWS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>
#include <vector>

#include "dataset/output/json.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

// Row messages that a test declares, beside those of rows.proto. Ends the program if the
// declaration is wrong. Not thread-safe.
class TestRows {
 public:
  // `schemas` is a list of {"file", "fields"}. A field is {"name", "type"}, where the type is
  // string, integer, number, boolean or struct, with "fields" of a struct, and "description",
  // "words", "list", "nullable" and "exact" if they apply. Each field has presence: a nullable one
  // is null if unset.
  explicit TestRows(const Json& schemas);

  // The schemas, in the order of their declaration.
  const std::vector<RowSchema>& schemas() const { return schemas_; }

  // Makes a row of a JSON object; its fields that are missing or null stay unset.
  static std::unique_ptr<google::protobuf::Message> FromJson(const RowSchema& schema,
                                                             const Json& json);

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  std::vector<RowSchema> schemas_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_TESTING_TEST_ROWS_H_
