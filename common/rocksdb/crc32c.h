#ifndef KERNELMILL_COMMON_ROCKSDB_CRC32C_H_
#define KERNELMILL_COMMON_ROCKSDB_CRC32C_H_

namespace kernelmill {

// Links crc32c.cc into the program, so that RocksDB computes its checksums by the processor's
// instruction. Calling it does nothing.
void UseCrc32cInstruction();

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_ROCKSDB_CRC32C_H_
