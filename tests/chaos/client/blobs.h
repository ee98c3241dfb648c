#ifndef KERNELMILL_TESTS_CHAOS_CLIENT_BLOBS_H_
#define KERNELMILL_TESTS_CHAOS_CLIENT_BLOBS_H_

#include <cstdint>
#include <string>

namespace kernelmill::chaos {

// Bytes that do not compress, the same for the same numbers.
std::string MakeBlob(uint64_t seed, uint64_t index, size_t size);

}  // namespace kernelmill::chaos

#endif  // KERNELMILL_TESTS_CHAOS_CLIENT_BLOBS_H_
