#include "common/rocksdb/crc32c.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/file_checksum.h>

#include <memory>
#include <string>

namespace kernelmill {
namespace {

// Asks RocksDB, which calls the function through the dynamic linker. Big-endian.
std::string Checksum(const std::string& bytes) {
  UseCrc32cInstruction();
  const std::unique_ptr<rocksdb::FileChecksumGenerator> generator =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator(
          {.file_name = "", .requested_checksum_func_name = ""});
  const size_t half = bytes.size() / 2;
  generator->Update(bytes.data(), half);
  generator->Update(bytes.data() + half, bytes.size() - half);
  generator->Finalize();
  return generator->GetChecksum();
}

// The vectors of RFC 3720, B.4, and the usual check value.
TEST(Crc32cTest, HasTheValuesOfTheStandard) {
  EXPECT_EQ(Checksum(std::string(32, '\0')), "\x8a\x91\x36\xaa");
  EXPECT_EQ(Checksum(std::string(32, '\xff')), "\x62\xa8\xab\x43");
  EXPECT_EQ(Checksum("123456789"), "\xe3\x06\x92\x83");
  EXPECT_EQ(Checksum(""), std::string(4, '\0'));
}

#if defined(__x86_64__)
// The dynamic linker has the function from the program, not from RocksDB's library.
TEST(Crc32cTest, RocksDbCallsTheProgramsFunction) {
  UseCrc32cInstruction();
  void* const function = ::dlsym(RTLD_DEFAULT, "_ZN7rocksdb6crc32c6ExtendEjPKcm");
  Dl_info info = {};
  ASSERT_NE(::dladdr(function, &info), 0);
  EXPECT_THAT(info.dli_fname, ::testing::HasSubstr("common_rocksdb_test"));
}
#endif

}  // namespace
}  // namespace kernelmill
