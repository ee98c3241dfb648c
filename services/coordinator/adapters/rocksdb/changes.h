#ifndef KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_CHANGES_H_
#define KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_CHANGES_H_

#include <rocksdb/status.h>
#include <rocksdb/write_batch.h>

#include "services/coordinator/core/state/state_store.h"

namespace kernelmill::coordinator {

// Adds all rows that the change writes and deletes, except the largest sequence number.
rocksdb::Status PutChange(const Change& change, rocksdb::WriteBatch* batch);
// Adds the end of a job, and deletes the rows that only a running job has.
rocksdb::Status PutEnd(const EndedJob& job, rocksdb::WriteBatch* batch);

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_ADAPTERS_ROCKSDB_CHANGES_H_
