#include "services/cli/core/status_json.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/text.h"
#include "common/cas/digest.h"
#include "services/cli/core/outcome.h"

namespace kernelmill::cli {
namespace {

// Protobuf writes bytes as Base64.
std::string WithPathsAsText(const v1::JobStatus& status, const std::string& json) {
  nlohmann::ordered_json object = nlohmann::ordered_json::parse(json);
  for (int i = 0; i < status.failures_size(); ++i) {
    const std::string& path = status.failures(i).path();
    object["failures"][i]["path"] = ToUtf8(path);
    if (!IsUtf8(path)) object["failures"][i]["path_base64"] = absl::Base64Escape(path);
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string MessageJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails on messages with Any alone, which these are not.
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : absl::StrCat("{\"error\":", JsonString(status.ToString()), "}");
}

std::string StatusJson(const v1::JobStatus& status) {
  std::string json = MessageJson(status);
  const bool paths =
      std::any_of(status.failures().begin(), status.failures().end(),
                  [](const v1::Failure& failure) { return !failure.path().empty(); });
  return paths ? WithPathsAsText(status, json) : json;
}

std::string SummaryJson(const v1::JobStatus& status, const std::string& out_dir) {
  const std::string dataset = status.has_dataset() ? cas::ToString(status.dataset()) : "";
  return absl::StrCat("{\"job\":", StatusJson(status), ",\"dataset\":", JsonString(dataset),
                      ",\"out\":", JsonString(out_dir), ",\"exit\":", ExitCodeOf(status), "}");
}

}  // namespace kernelmill::cli
