// store_bench: puts one kind of load on a server of the Remote Execution API, and prints its speed
// as one line of JSON. store.py runs it against several servers and makes a table.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/access/credentials.h"
#include "common/base/locks.h"
#include "common/base/status.h"
#include "tests/bench/store/connection.h"
#include "tests/bench/store/load.h"

namespace kernelmill::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// The measurements of one connection.
struct Seen {
  absl::Status status;
  int64_t bytes = 0;
  std::vector<double> seconds;  // for each call
};

// Makes calls until `next` runs out, or one fails.
void Drive(const Load& load, Connection& connection, int operations, std::atomic<int>& next,
           Seen* seen) {
  for (int i = next++; i < operations; i = next++) {
    const Clock::time_point start = Clock::now();
    const absl::StatusOr<int64_t> bytes = load.Run(i, connection);
    seen->seconds.push_back(Seconds(Clock::now() - start));
    if (!bytes.ok()) {
      seen->status = bytes.status();
      next = operations;
      return;
    }
    seen->bytes += *bytes;
  }
}

// Connects first, then starts a thread for each connection. The time runs from the first call to
// the last answer. Prints one line of JSON for store.py.
absl::Status Measure(const Load& load, const std::string& target, const access::Identity& identity,
                     int connections, int operations) {
  ASSIGN_OR_RETURN(const auto credentials, access::ChannelCredentials(identity));
  std::vector<std::unique_ptr<Connection>> open;
  for (int i = 0; i < connections; ++i) {
    open.push_back(std::make_unique<Connection>(target, credentials));
    RETURN_IF_ERROR(open.back()->WaitUntilReady());
  }
  std::atomic<int> next = 0;
  std::vector<Seen> seen(connections);
  std::vector<std::thread> threads;
  const double cpu = CpuSeconds();
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] { Drive(load, *open[i], operations, next, &seen[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = Seconds(Clock::now() - start);
  std::vector<double> all;
  int64_t bytes = 0;
  for (const Seen& one : seen) {
    RETURN_IF_ERROR(one.status);
    bytes += one.bytes;
    all.insert(all.end(), one.seconds.begin(), one.seconds.end());
  }
  std::sort(all.begin(), all.end());
  std::printf(
      "{\"operations\": %zu, \"seconds\": %.6f, \"bytes\": %lld, \"p50\": %.6f, \"p99\": %.6f, "
      "\"client_cpu\": %.6f}\n",
      all.size(), seconds, static_cast<long long>(bytes), all[all.size() / 2],
      all[all.size() * 99 / 100], CpuSeconds() - cpu);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  EndDeadlockSearch();
  CLI::App app("puts load on a content store", "store_bench");
  std::string target;
  std::string name;
  bool source = false;
  int connections = 1;
  access::Identity identity;
  LoadOptions options;
  app.add_option("--target", target, "host:port or unix:/path")->required();
  app.add_option("--tls-ca", identity.authority, "the authority of the server's certificate");
  app.add_option("--tls-cert", identity.certificate, "the client's own");
  app.add_option("--tls-key", identity.key, "its key");
  app.add_option("--load", name, "find, find-half, update, read, write or stream")->required();
  app.add_flag("--source", source,
               "content like source code, which shrinks; default: random bytes");
  app.add_option("--seed", options.seed, "names the content");
  app.add_option("--operations", options.operations, "calls in all")->capture_default_str();
  app.add_option("--stored", options.stored, "blobs of this seed that are there")
      ->capture_default_str();
  app.add_option("--message-bytes", options.message_bytes, "size of one message of a write")
      ->capture_default_str();
  app.add_option("--connections", connections, "each with one call at a time")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  options.kind = source ? Kind::kSource : Kind::kRandom;
  const auto load = MakeLoad(name, options);
  const absl::Status status =
      load.ok() ? Measure(**load, target, identity, connections, options.operations)
                : load.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "store_bench: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace kernelmill::bench

int main(int argc, char** argv) { return kernelmill::bench::Main(argc, argv); }
