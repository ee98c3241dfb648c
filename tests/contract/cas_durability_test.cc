// The store as a process: acknowledged writes survive kill -9, and SIGTERM ends it cleanly.

#include <grpcpp/channel.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/file.h"
#include "common/cas/grpc_blob_store.h"
#include "common/rpc/server.h"
#include "common/testing/status_matchers.h"

extern char** environ;

namespace kernelmill::cas {
namespace {

using ::kernelmill::testing::IsOk;
using ::kernelmill::testing::StatusIs;

// A kernelmill-store with its own socket. The destructor kills it.
class StoreProcess {
 public:
  StoreProcess(const std::string& data, const std::string& socket) {
    std::vector<std::string> words = {KERNELMILL_STORE_PATH, "--data",    data,         "--listen",
                                      "unix:" + socket,      "--metrics", "127.0.0.1:0"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawn(&pid_, KERNELMILL_STORE_PATH, nullptr, nullptr, argv.data(), environ) != 0) {
      pid_ = -1;
    }
  }
  ~StoreProcess() { End(SIGKILL); }

  // Sends the signal and returns the status of waitpid().
  int End(int signal) {
    if (pid_ <= 0) return -1;
    kill(pid_, signal);
    int status = -1;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  int Wait() { return End(0); }

 private:
  pid_t pid_ = -1;
};

class CasDurability : public ::testing::Test {
 protected:
  std::string data() const { return dir_.path() + "/data"; }
  std::string socket() const { return dir_.path() + "/socket"; }
  std::unique_ptr<BlobStore> Client() const {
    GrpcBlobStoreOptions options;
    options.retry = {.max_attempts = 200, .max_backoff = absl::Milliseconds(200)};
    return NewGrpcBlobStore(rpc::Connect("unix:" + socket()), options);
  }

  // Waits, for a limited time, until the store's log and content have this size.
  void WaitForBytes(uintmax_t bytes) const {
    const absl::Time give_up = absl::Now() + absl::Seconds(60);
    for (uintmax_t found = 0; found < bytes && absl::Now() < give_up;) {
      absl::SleepFor(absl::Milliseconds(1));
      found = 0;
      std::error_code none_yet;
      for (const auto& entry : std::filesystem::directory_iterator(data(), none_yet)) {
        if (entry.path().extension() == ".log" || entry.path().extension() == ".blob")
          found += entry.file_size(none_yet);
      }
    }
  }

  TempDir dir_ = *TempDir::Create();
};

std::string Content(size_t size, uint64_t seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<char>(seed >> 56);
  }
  return bytes;
}

TEST_F(CasDurability, AcknowledgedBlobsAndResultsSurviveSigkill) {
  const std::vector<std::string> contents = {"tiny", Content(50'000, 1), Content(9 << 20, 2)};
  std::vector<Blob> blobs;
  std::vector<Digest> digests;
  for (const std::string& content : contents) {
    digests.push_back(ComputeDigest(content));
    blobs.push_back({digests.back(), content});
  }
  ActionResult result;
  *result.add_output_files()->mutable_digest() = digests[2];
  {
    StoreProcess process(data(), socket());
    const auto client = Client();
    ASSERT_THAT(client->Put(blobs), IsOk());
    ASSERT_THAT(client->PutActionResult(ComputeDigest("action"), result), IsOk());
    EXPECT_TRUE(WIFSIGNALED(process.End(SIGKILL)));
  }
  StoreProcess process(data(), socket());
  const auto client = Client();
  const auto read = client->Get(digests);
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(*read == contents);
  EXPECT_THAT(client->GetActionResult(ComputeDigest("action")), IsOk());
}

TEST_F(CasDurability, AClientInTheMiddleOfAWriteOutlivesTheStore) {
  const std::string content = Content(64 << 20, 3);
  auto process = std::make_unique<StoreProcess>(data(), socket());
  absl::Status status;
  std::thread writer([&] { status = Client()->Put({{ComputeDigest(content), content}}); });
  // However the kill falls (within or just after the write), the blob is whole in the end.
  WaitForBytes(20 << 20);
  process->End(SIGKILL);
  process = std::make_unique<StoreProcess>(data(), socket());
  writer.join();
  ASSERT_THAT(status, IsOk());
  const auto read = Client()->Get({ComputeDigest(content)});
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(read->front() == content);
}

TEST_F(CasDurability, SigtermIsACleanEnd) {
  StoreProcess process(data(), socket());
  ASSERT_THAT(Client()->FindMissing({ComputeDigest("x")}), IsOk());
  const int status = process.End(SIGTERM);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(CasDurability, ASecondStoreOnTheSameDataIsRefused) {
  StoreProcess first(data(), socket());
  ASSERT_THAT(Client()->FindMissing({ComputeDigest("x")}), IsOk());
  StoreProcess second(data(), dir_.path() + "/other");
  const int status = second.Wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_THAT(Client()->FindMissing({ComputeDigest("x")}), IsOk());
}

}  // namespace
}  // namespace kernelmill::cas
