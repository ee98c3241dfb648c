#ifndef KERNELMILL_DATASET_ROWS_TESTING_TEST_ROWS_H_
#define KERNELMILL_DATASET_ROWS_TESTING_TEST_ROWS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dataset/output/json.h"
#include "dataset/rows/row_schema.h"

namespace kernelmill::dataset {

// Row messages that a test declares, beside those of rows.proto. Ends the program if the
// declaration is wrong. Not thread-safe.
class TestRows {
 public:
  // `messages` are declarations as in rows.proto; those that the tests make rows of are `names`:
  //
  //   TestRows rows("message Small { string text = 1 [(column) = {description: \"a\"}]; }",
  //   {"Small"});
  TestRows(absl::string_view messages, const std::vector<std::string>& names);
  TestRows(const google::protobuf::FileDescriptorProto& file,
           const std::vector<std::string>& names);

  // The schemas, in the order of the names.
  const std::vector<RowSchema>& schemas() const { return schemas_; }

  // Makes a row of a JSON object that has every field of the schema.
  static std::unique_ptr<google::protobuf::Message> FromJson(const RowSchema& schema,
                                                             const Json& json);

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  std::vector<RowSchema> schemas_;
};

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_ROWS_TESTING_TEST_ROWS_H_
