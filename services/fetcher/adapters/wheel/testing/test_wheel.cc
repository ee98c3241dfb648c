#include "services/fetcher/adapters/wheel/testing/test_wheel.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <memory>

namespace kernelmill::fetcher {

std::string MakeTestWheel(const std::vector<TestMember>& members) {
  size_t room = 1 << 16;
  for (const TestMember& member : members) room += member.content.size() + 4096;
  std::string bytes(room, '\0');
  size_t used = 0;
  const std::unique_ptr<archive, int (*)(archive*)> writer(::archive_write_new(),
                                                           &::archive_write_free);
  EXPECT_EQ(::archive_write_set_format_zip(writer.get()), ARCHIVE_OK);
  EXPECT_EQ(::archive_write_set_options(writer.get(), "zip:compression=deflate"), ARCHIVE_OK);
  EXPECT_EQ(::archive_write_set_bytes_in_last_block(writer.get(), 1), ARCHIVE_OK);
  EXPECT_EQ(::archive_write_open_memory(writer.get(), bytes.data(), bytes.size(), &used),
            ARCHIVE_OK);
  for (const TestMember& member : members) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(::archive_entry_new(),
                                                                         &::archive_entry_free);
    ::archive_entry_set_pathname(entry.get(), member.path.c_str());
    ::archive_entry_set_filetype(entry.get(), member.link_to.empty() ? AE_IFREG : AE_IFLNK);
    if (!member.link_to.empty()) ::archive_entry_set_symlink(entry.get(), member.link_to.c_str());
    ::archive_entry_set_perm(entry.get(), 0644);
    ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
    ::archive_entry_set_mtime(entry.get(), 1'600'000'000, 0);
    EXPECT_EQ(::archive_write_header(writer.get(), entry.get()), ARCHIVE_OK) << member.path;
    EXPECT_EQ(::archive_write_data(writer.get(), member.content.data(), member.content.size()),
              static_cast<la_ssize_t>(member.content.size()));
  }
  EXPECT_EQ(::archive_write_close(writer.get()), ARCHIVE_OK);
  bytes.resize(used);
  return bytes;
}

}  // namespace kernelmill::fetcher
