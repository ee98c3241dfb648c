// RocksDB checks its logs and blob files with CRC-32C. Debian builds it for every x86-64 processor,
// and so without the instruction for it: a table then takes a quarter of the time of an upload.
// Each caller in the library calls this function through the dynamic linker. So a function of the
// same name in the program takes its place. It returns the same values.

#include "common/rocksdb/crc32c.h"

#if defined(__x86_64__)

#include <dlfcn.h>
#include <nmmintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

using Function = uint32_t (*)(uint32_t, const char*, size_t);

__attribute__((target("sse4.2"))) uint32_t ByInstruction(uint32_t crc, const char* bytes,
                                                         size_t size) {
  uint64_t state = crc ^ 0xffffffff;
  for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), bytes += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    state = _mm_crc32_u64(state, word);
  }
  auto rest = static_cast<uint32_t>(state);
  for (; size > 0; --size, ++bytes) rest = _mm_crc32_u8(rest, static_cast<uint8_t>(*bytes));
  return rest ^ 0xffffffff;
}

// Returns the fastest function that this processor has: RocksDB's own if it lacks the instruction.
Function Choose() {
  if (__builtin_cpu_supports("sse4.2")) return ByInstruction;
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "_ZN7rocksdb6crc32c6ExtendEjPKcm"));
}

}  // namespace

namespace rocksdb::crc32c {

// Declared in RocksDB's util/crc32c.h, which is not installed.
uint32_t Extend(uint32_t init_crc, const char* data, size_t n);

uint32_t Extend(uint32_t init_crc, const char* data, size_t n) {
  static const Function function = Choose();
  return function(init_crc, data, n);
}

}  // namespace rocksdb::crc32c

#endif

namespace kernelmill {

void UseCrc32cInstruction() {}

}  // namespace kernelmill
