// usage: tsan_probe mutex|calls [race]
// Two threads that share fields, ordered by Abseil's synchronization (mutex) or by calls through
// gRPC (calls). With race, they also write one field in no order. Ends with 0 unless
// ThreadSanitizer reports something.
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "kernelmill/v1/store.grpc.pb.h"

namespace kernelmill {
namespace {

constexpr int kRounds = 200;

struct Shared {
  bool race = false;
  int racy = 0;

  void Race() {
    for (int i = 0; race && i < kRounds; ++i) {
      ++racy;
      std::this_thread::yield();
    }
  }
};

int Mutexes(Shared& shared) {
  absl::Mutex mutex;
  absl::CondVar changed;
  absl::Notification done;
  bool turn = false;
  int count = 0;
  int after = 0;
  const auto play = [&](bool mine) {
    for (int i = 0; i < kRounds; ++i) {
      absl::MutexLock lock(&mutex);
      while (turn != mine) changed.WaitWithTimeout(&mutex, absl::Seconds(1));
      ++count;
      turn = !turn;
      changed.SignalAll();
    }
    shared.Race();
    if (mine) after = 1;
    if (mine) done.Notify();
  };
  std::thread first([&] { play(false); });
  std::thread second([&] { play(true); });
  {
    absl::MutexLock lock(&mutex);
    const auto all = [&] { return count == 2 * kRounds; };
    while (!mutex.AwaitWithTimeout(absl::Condition(&all), absl::Milliseconds(1))) continue;
  }
  done.WaitForNotification();
  const bool seen = ++after == 2;
  first.join();
  second.join();
  return seen ? 0 : 1;
}

class Service : public v1::Store::Service {
 public:
  explicit Service(Shared& shared) : shared_(shared) {}

  grpc::Status Hold(grpc::ServerContext*, const v1::HoldRequest*, v1::HoldResponse*) override {
    if (before != "a call") return grpc::Status(grpc::StatusCode::INTERNAL, "");
    if (!shared_.race) after = before;
    shared_.Race();
    return grpc::Status::OK;
  }

  std::string before;
  std::string after;

 private:
  Shared& shared_;
};

bool CallOften(Service& service, const std::string& address, bool alone) {
  const auto stub =
      v1::Store::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  for (int i = 0; i < kRounds; ++i) {
    if (alone) service.after.clear();
    grpc::ClientContext context;
    v1::HoldResponse response;
    if (!stub->Hold(&context, v1::HoldRequest(), &response).ok()) return false;
    if (alone && service.after != "a call") return false;
  }
  return true;
}

int Calls(Shared& shared) {
  Service service(shared);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const std::string address = "127.0.0.1:" + std::to_string(port);
  service.before = "a call";
  if (!shared.race) return CallOften(service, address, /*alone=*/true) ? 0 : 1;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] { CallOften(service, address, /*alone=*/false); });
  }
  for (std::thread& client : clients) client.join();
  return 0;
}

}  // namespace
}  // namespace kernelmill

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  kernelmill::Shared shared;
  shared.race = argc > 2;
  if (what == "mutex") return kernelmill::Mutexes(shared);
  return what == "calls" ? kernelmill::Calls(shared) : 2;
}
