#ifndef KERNELMILL_CLIENT_HTTP_PORT_USER_H_
#define KERNELMILL_CLIENT_HTTP_PORT_USER_H_

#include <optional>
#include <string>

namespace kernelmill::client {

// Returns who listens on a TCP port of this machine, for an error message: "process 4711
// (kernelmill-store)"; "another process" if it belongs to another user. nullopt: no process does.
std::optional<std::string> FindPortUser(int port);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_HTTP_PORT_USER_H_
