#ifndef KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_CHANGE_BATCH_H_
#define KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_CHANGE_BATCH_H_

#include <rocksdb/status.h>
#include <rocksdb/write_batch.h>

#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// Adds to the batch what a change writes and deletes, but for the largest sequence number.
rocksdb::Status PutChange(const Change& change, rocksdb::WriteBatch* batch);

// Likewise how a job ended.
rocksdb::Status PutEnd(const EndedJob& job, rocksdb::WriteBatch* batch);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_CHANGE_BATCH_H_
