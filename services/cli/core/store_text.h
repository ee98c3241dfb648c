#ifndef KERNELMILL_SERVICES_CLI_CORE_STORE_TEXT_H_
#define KERNELMILL_SERVICES_CLI_CORE_STORE_TEXT_H_

#include <cstdint>
#include <string>

#include "kernelmill/v1/store.pb.h"

namespace kernelmill::cli {

// What the store's answers say to a person.

std::string StatText(const v1::StatResponse& stat);

// "120 of 4000 blobs, 1.5 GiB of 20.0 GiB read, 1 damaged"; `whole` is what the store said before.
std::string VerifyLine(const v1::VerifyProgress& progress, const v1::StatResponse& whole);
// What was read, then a line a damaged blob.
std::string VerifyText(const v1::VerifyProgress& last, bool dropped);

std::string GarbageText(const v1::CollectGarbageResponse& response);
std::string BackupText(const v1::BackupResponse& response);

// "1.5 GiB"; below 1 KiB "17 bytes".
std::string ShortBytes(int64_t bytes);

}  // namespace kernelmill::cli

#endif  // KERNELMILL_SERVICES_CLI_CORE_STORE_TEXT_H_
