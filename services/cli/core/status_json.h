#ifndef KERNELMILL_SERVICES_CLI_CORE_STATUS_JSON_H_
#define KERNELMILL_SERVICES_CLI_CORE_STATUS_JSON_H_

#include <string>

#include "kernelmill/v1/crawl.pb.h"

namespace google::protobuf {
class Message;
}

namespace kernelmill::cli {

// Messages as JSON objects on one line each, with the field names of the protos; fields at their
// defaults are written too.
std::string MessageJson(const google::protobuf::Message& message);

// The same, with the paths of failures as text: what is not UTF-8 of them is replaced, and the
// exact bytes are then in "path_base64".
std::string StatusJson(const v1::JobStatus& status);

// {"job":{...},"dataset":"hash/size","out":"...","exit":0}
std::string SummaryJson(const v1::JobStatus& status, const std::string& out_dir);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CORE_STATUS_JSON_H_
