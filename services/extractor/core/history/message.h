#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MESSAGE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MESSAGE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernelmill/v1/history.pb.h"

namespace kernelmill::extractor {

// Returns a commit's message without the lines that name people (Signed-off-by: and the like), and
// with the letters and digits of all other e-mail addresses written over with x.
std::string CleanMessage(absl::string_view message);

// Returns the commits, 7 to 40 hexadecimal digits each, that a message says it reverts.
std::vector<std::string> FindReverted(absl::string_view message);

// Returns the numbers that a message states about speed, memory and the like, in its order, at most
// 32: "12.0 -> 8.7 ms", "1.4x faster", "30% speedup", "650 TFLOPS". A number counts only with a
// unit of such a measure, or in a line, sentence or table that has one or says what it measures:
// "4x4", "16x" and "50%" alone are not claims; "1.4x" is. Devices are those of the claim's line;
// else the one of the nearest line above that names any; else the only one of the message.
std::vector<v1::Claim> FindClaims(absl::string_view message);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MESSAGE_H_
