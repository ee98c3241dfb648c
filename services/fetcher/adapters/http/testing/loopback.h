#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_LOOPBACK_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_LOOPBACK_H_

#include "services/fetcher/adapters/http/host_policy.h"

namespace kernelmill::fetcher {

// Returns a policy that allows the servers of tests, whose addresses are not public.
HostPolicy PrivateHosts();

// A TCP socket that listens on a free port of the loopback interface; `*port` is then that port.
int ListenOnLoopback(int* port);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_LOOPBACK_H_
