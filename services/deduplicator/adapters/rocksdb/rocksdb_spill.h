#ifndef KERNELMILL_SERVICES_DEDUPLICATOR_ADAPTERS_ROCKSDB_ROCKSDB_SPILL_H_
#define KERNELMILL_SERVICES_DEDUPLICATOR_ADAPTERS_ROCKSDB_ROCKSDB_SPILL_H_

#include <memory>
#include <string>

#include "services/deduplicator/core/set_store.h"

namespace kernelmill::deduplicator {

// A spill space in a RocksDB of its own, below `parent` ("": the system's folder for temporary
// files), made by the first Put and removed with the object. It is scratch: nothing is synced, and
// there is no log. Errors: those of the disk, as FromRocksStatus.
std::unique_ptr<SpillSpace> NewRocksdbSpill(const std::string& parent);

}  // namespace kernelmill::deduplicator

#endif  // KERNELMILL_SERVICES_DEDUPLICATOR_ADAPTERS_ROCKSDB_ROCKSDB_SPILL_H_
