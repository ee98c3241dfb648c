#include "common/rpc/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status.h"
#include "common/metrics/metrics.h"
#include "common/rpc/listening_sockets.h"

// The basic idea: a connection is silent until its first byte, and is then handed over. Silent ones
// are cheap, so that a new one takes the place of the oldest silent one where there is no room: a
// real client speaks at once. The server closes what it took over without telling anyone. So a
// connection is known by its descriptor and the inode of its socket: it is closed when the
// descriptor has another inode, or none. That is looked up each second, and where there is no room.
namespace kernelmill::rpc {
namespace {

constexpr char kUnixHost[] = "unix";
constexpr char kThisMachine[] = "127.0.0.1";
// The places of this machine beyond max_connections, for its health checks.
constexpr int kPlacesOfThisMachine = 64;
constexpr absl::Duration kShortPause = absl::Milliseconds(100);
constexpr absl::Duration kTick = absl::Seconds(1);
constexpr absl::Duration kLogPause = absl::Seconds(10);
constexpr int kAcceptsPerRound = 64;
constexpr int kEvents = 64;

// Returns the address without the port: all of a /64 of IPv6, since a host has as many.
std::string GetHost(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (peer.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr, text.data(),
                text.size());
    return text.data();
  }
  if (peer.ss_family != AF_INET6) return kUnixHost;
  in6_addr address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    ::inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  if (IN6_IS_ADDR_LOOPBACK(&address)) return kThisMachine;
  std::fill(address.s6_addr + 8, address.s6_addr + 16, 0);
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return absl::StrCat(text.data(), "/64");
}

// Returns the inode of the descriptor's file; 0 if it is not open.
ino_t GetInode(int fd) {
  struct stat found;
  return ::fstat(fd, &found) == 0 ? found.st_ino : 0;
}

bool OutOfDescriptors(int error) { return error == EMFILE || error == ENFILE; }

}  // namespace

// The state and the thread's function. Only Wake() may be called by another thread than the
// listener's.
class Listener::Loop {
 public:
  Loop(const Options& options, ListeningSockets sockets, std::atomic<int64_t>& refused)
      : options_(options),
        sockets_(std::move(sockets)),
        refused_(refused),
        connections_(metrics::Gauge(metrics::kConnections)),
        refused_connections_(metrics::Counter(metrics::kConnectionsRefused)) {}
  ~Loop() { CountOpen(-open_); }

  absl::Status Prepare();
  void Run(const TakeOver& take_over);
  void Wake() {
    stopping_ = true;
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof(one));
  }

 private:
  struct Silent {
    FileDescriptor socket;
    absl::Duration deadline;
  };
  struct Host {
    std::list<Silent> silent;  // the oldest first
    int handed_over = 0;
    int open() const { return static_cast<int>(silent.size()) + handed_over; }
  };
  using Hosts = std::map<std::string, Host>;
  struct HandedOver {
    Hosts::iterator host;
    ino_t inode;
  };
  struct Place {
    Hosts::iterator host;
    std::list<Silent>::iterator silent;
  };

  absl::Status Watch(int fd) const;
  void Accept(int listening);
  bool AcceptOne(int listening);
  void CloseOneWithoutDescriptor(int listening);
  void Admit(FileDescriptor socket, const std::string& name);
  bool HasRoom(const std::string& name, const Host& host) const;
  bool MakeRoom(const std::string& name, Hosts::iterator host);
  Hosts::iterator FindOldestSilent();
  void HearFrom(int fd, const TakeOver& take_over);
  void CloseOldest(Hosts::iterator host);
  FileDescriptor RemoveSilent(int fd);
  void CountHandedOver(int fd, Hosts::iterator host);
  void ForgetHandedOver(int fd);
  void Tidy();
  void Sweep();
  void Refuse(const std::string& name, const char* why);
  void CountOpen(int more);

  const Options options_;
  ListeningSockets sockets_;
  std::atomic<int64_t>& refused_;
  prometheus::Gauge& connections_;  // counts all listeners of the process
  prometheus::Counter& refused_connections_;
  std::atomic<bool> stopping_{false};
  FileDescriptor epoll_, wake_;
  FileDescriptor spare_;  // closed to accept and refuse a connection when no descriptor is left
  int open_ = 0;
  Hosts hosts_;
  absl::flat_hash_map<int, Place> silent_;
  absl::flat_hash_map<int, HandedOver> handed_over_;
  absl::Duration tidied_ = absl::ZeroDuration(), swept_ = absl::ZeroDuration();
  absl::Duration logged_ = -absl::InfiniteDuration();
  int64_t refused_since_log_ = 0;
};

absl::Status Listener::Loop::Prepare() {
  epoll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  wake_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  spare_ = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!epoll_.is_open() || !wake_.is_open() || !spare_.is_open()) {
    return absl::UnavailableError(absl::StrCat("cannot listen: ", std::strerror(errno)));
  }
  for (const FileDescriptor& socket : sockets_.sockets()) RETURN_IF_ERROR(Watch(socket.get()));
  return Watch(wake_.get());
}

absl::Status Listener::Loop::Watch(int fd) const {
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot listen: ", std::strerror(errno)));
}

// Each round looks at every event once, so that a flood of new connections does not keep those that
// have spoken waiting.
void Listener::Loop::Run(const TakeOver& take_over) {
  std::array<epoll_event, kEvents> events;
  while (!stopping_) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), kEvents,
                                   static_cast<int>(absl::ToInt64Milliseconds(kTick)));
    for (int i = 0; i < count && !stopping_; ++i) {
      const int fd = events[i].data.fd;
      if (fd == wake_.get()) continue;
      if (silent_.contains(fd)) {
        HearFrom(fd, take_over);
      } else if (std::any_of(sockets_.sockets().begin(), sockets_.sockets().end(),
                             [fd](const FileDescriptor& socket) { return socket.get() == fd; })) {
        Accept(fd);
      }  // else: it was closed earlier in this round
    }
    if (MonotonicNow() - tidied_ >= kShortPause) Tidy();
    if (MonotonicNow() - swept_ >= kTick) Sweep();
  }
}

void Listener::Loop::Accept(int listening) {
  for (int i = 0; i < kAcceptsPerRound && AcceptOne(listening); ++i) {
  }
}

// Returns whether to go on. The socket stays watched after any error, so that the next round tries
// again.
bool Listener::Loop::AcceptOne(int listening) {
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  FileDescriptor socket(::accept4(listening, reinterpret_cast<sockaddr*>(&peer), &size,
                                  SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) {
    Admit(std::move(socket), GetHost(peer));
    return true;
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
  if (OutOfDescriptors(errno)) {
    CloseOneWithoutDescriptor(listening);
    return true;
  }
  if (errno != ECONNABORTED && errno != EINTR) absl::SleepFor(kShortPause);
  return false;
}

// Otherwise the connection would wait in the queue, and the loop would turn without a pause.
void Listener::Loop::CloseOneWithoutDescriptor(int listening) {
  if (!spare_.is_open()) absl::SleepFor(kShortPause);  // another thread took it
  spare_.Close();
  FileDescriptor(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC)).Close();
  spare_ = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Refuse("", "the process has no descriptor left");
}

void Listener::Loop::Admit(FileDescriptor socket, const std::string& name) {
  const auto host = hosts_.try_emplace(name).first;
  const int fd = socket.get();
  if (!MakeRoom(name, host)) {
    Refuse(name, "too many connections are open");
  } else if (Watch(fd).ok()) {
    host->second.silent.push_back({std::move(socket), MonotonicNow() + options_.patience});
    silent_[fd] = {host, std::prev(host->second.silent.end())};
    CountOpen(1);
  }
}

bool Listener::Loop::HasRoom(const std::string& name, const Host& host) const {
  if (name != kUnixHost && host.open() >= options_.max_per_host) return false;
  const bool ours = name == kThisMachine || name == kUnixHost;
  return open_ < options_.max_connections + (ours ? kPlacesOfThisMachine : 0);
}

// Closes a silent connection if there is no room: of the same host if that has too many.
bool Listener::Loop::MakeRoom(const std::string& name, Hosts::iterator host) {
  if (HasRoom(name, host->second)) return true;
  if (MonotonicNow() - swept_ >= kShortPause) Sweep();
  if (HasRoom(name, host->second)) return true;
  const bool own = host->second.open() >= options_.max_per_host && name != kUnixHost;
  const auto from = own ? host : FindOldestSilent();
  if (from == hosts_.end() || from->second.silent.empty()) return false;
  Refuse(from->first, "it was silent, and a newer connection took its place");
  CloseOldest(from);
  return HasRoom(name, host->second);
}

Listener::Loop::Hosts::iterator Listener::Loop::FindOldestSilent() {
  auto oldest = hosts_.end();
  for (auto next = hosts_.begin(); next != hosts_.end(); ++next) {
    if (next->second.silent.empty()) continue;
    const absl::Duration deadline = next->second.silent.front().deadline;
    if (oldest == hosts_.end() || deadline < oldest->second.silent.front().deadline) oldest = next;
  }
  return oldest;
}

// Looks at the first byte and leaves it to the server. A connection that ended is closed.
void Listener::Loop::HearFrom(int fd, const TakeOver& take_over) {
  char first;
  const ssize_t got = ::recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const auto host = silent_[fd].host;
  FileDescriptor socket = RemoveSilent(fd);
  if (got > 0) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    CountHandedOver(fd, host);
    take_over(socket.Release());
  }
}

void Listener::Loop::CloseOldest(Hosts::iterator host) {
  RemoveSilent(host->second.silent.front().socket.get()).Close();
}

FileDescriptor Listener::Loop::RemoveSilent(int fd) {
  const auto at = silent_.find(fd);
  const Place place = at->second;
  FileDescriptor socket = std::move(place.silent->socket);
  place.host->second.silent.erase(place.silent);
  silent_.erase(at);
  CountOpen(-1);
  return socket;
}

// The number of a descriptor that the server closed may be in use again before the next sweep.
void Listener::Loop::CountHandedOver(int fd, Hosts::iterator host) {
  ++host->second.handed_over;
  CountOpen(1);
  if (handed_over_.contains(fd)) ForgetHandedOver(fd);
  handed_over_[fd] = {host, GetInode(fd)};
}

void Listener::Loop::ForgetHandedOver(int fd) {
  const auto at = handed_over_.find(fd);
  const auto host = at->second.host;
  handed_over_.erase(at);
  --host->second.handed_over;
  CountOpen(-1);
}

// Closes what was silent for too long, and forgets hosts without a connection.
void Listener::Loop::Tidy() {
  tidied_ = MonotonicNow();
  for (auto next = hosts_.begin(); next != hosts_.end();) {
    const auto host = next++;
    const std::list<Silent>& silent = host->second.silent;
    while (!silent.empty() && silent.front().deadline <= tidied_) CloseOldest(host);
    if (host->second.open() == 0) hosts_.erase(host);
  }
}

void Listener::Loop::Sweep() {
  swept_ = MonotonicNow();
  std::vector<int> closed;
  for (const auto& [fd, connection] : handed_over_) {
    if (GetInode(fd) != connection.inode) closed.push_back(fd);
  }
  for (const int fd : closed) ForgetHandedOver(fd);
}

void Listener::Loop::CountOpen(int more) {
  open_ += more;
  connections_.Increment(more);
}

// Logs at most every kLogPause, since a flood would fill the log.
void Listener::Loop::Refuse(const std::string& name, const char* why) {
  ++refused_;
  refused_connections_.Increment();
  ++refused_since_log_;
  const absl::Duration now = MonotonicNow();
  if (now - logged_ < kLogPause) return;
  logged_ = now;
  LogWarning("closed connections",
             {{"count", refused_since_log_}, {"last_host", name}, {"why", why}, {"open", open_}});
  refused_since_log_ = 0;
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(const Options& options) {
  ASSIGN_OR_RETURN(ListeningSockets sockets, ListeningSockets::Open(options.address));
  const int port = sockets.port();
  std::unique_ptr<Listener> made(new Listener(port));
  made->loop_ = std::make_unique<Loop>(options, std::move(sockets), made->refused_);
  RETURN_IF_ERROR(made->loop_->Prepare());
  return made;
}

Listener::Listener(int port) : port_(port) {}

Listener::~Listener() { Stop(); }

void Listener::Start(TakeOver take_over) {
  thread_ = std::thread([this, take_over = std::move(take_over)] { loop_->Run(take_over); });
}

void Listener::Stop() {
  if (loop_ == nullptr) return;
  loop_->Wake();
  if (thread_.joinable()) thread_.join();
  loop_.reset();
}

}  // namespace kernelmill::rpc
