#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_ADAPTERS_FILE_FILE_SPILL_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_ADAPTERS_FILE_FILE_SPILL_H_

#include <memory>
#include <string>

#include "services/deduplicator/core/pair/set_store.h"

namespace kernelmill::deduplicator {

// A spill space in a file of its own, below `parent` ("": the system's folder for temporary files),
// made by the first Append. The file has no name, so that the system takes it back however this
// process ends. It is scratch: nothing is synced. Errors: those of the disk, as ErrnoStatus.
//
// A plain file, since sets are written once, in order, and read by their place: nothing is there to
// be sorted or compacted, and the system's page cache keeps what there is memory for.
std::unique_ptr<SpillSpace> NewFileSpill(const std::string& parent);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_ADAPTERS_FILE_FILE_SPILL_H_
