#ifndef KERNELMILL_COMMON_ROCKSDB_PROCESS_LOGGER_H_
#define KERNELMILL_COMMON_ROCKSDB_PROCESS_LOGGER_H_

#include <rocksdb/env.h>

#include <memory>

namespace kernelmill {

// Sends RocksDB's warnings and errors to the log of the process. RocksDB's own text log would stand
// on the very disk that it reports to be full; Debian's build, which has its assertions on, aborts
// there.
std::shared_ptr<rocksdb::Logger> NewProcessLogger();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_ROCKSDB_PROCESS_LOGGER_H_
