#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TRANSFER_WATCH_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TRANSFER_WATCH_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "services/fetcher/core/rate_floor.h"

namespace kernelmill::fetcher {

// A look from outside at a git program that talks to a remote repository: whether the repository is
// still sent, or only refs and messages without end. Not thread-safe.
//
// The basic idea: git writes a pack to a file while it arrives, and reads everything else that the
// server sends through pipes and sockets. So the size of the files in the pack folder is what was
// fetched, and the bytes that the processes of git have read beyond that are talk. Once the server
// has sent its pack, git computes for a while. The processor time of the programs that do it counts
// as bytes.
class TransferWatch {
 public:
  // How refs arrive, which come before the pack: read by git itself, or received by its HTTP
  // helper, whose bytes cannot be seen from outside. The helper has a lowest rate of its own.
  enum class Prelude { kSeen, kUnseen };

  // `pack_folder` is the folder of the repository into which git fetches.
  TransferWatch(std::string pack_folder, Prelude prelude, const LowestRate& rate, absl::Time now);

  // Looks at the process group `group`, which git leads. DEADLINE_EXCEEDED: below the lowest rate;
  // FAILED_PRECONDITION: more than kMaxTalk.
  absl::Status Look(pid_t group, absl::Time now);

  // Bytes beside the pack: a million refs, whose names are long.
  static constexpr int64_t kMaxTalk = 128 << 20;

 private:
  struct Packs {
    int files = 0;
    int64_t bytes = 0;
  };
  Packs CountPacks() const;
  // Returns the bytes that the server sent to the group, and notes what its programs computed.
  int64_t CountReceived(pid_t group);

  const std::string pack_folder_;
  const Prelude prelude_;
  const LowestRate rate_;
  RateFloor floor_;
  const Packs before_;              // those of earlier transfers
  bool packing_ = false;            // the pack has begun
  int64_t talk_ = 0;                // bytes that arrived beside the pack
  int64_t prelude_bytes_ = 0;       // those that arrived before it, which are needed
  std::map<pid_t, double> worked_;  // processor seconds of the programs that only compute
};

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_TRANSFER_WATCH_H_
