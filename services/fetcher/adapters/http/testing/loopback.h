#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_LOOPBACK_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_LOOPBACK_H_

namespace kernelmill::fetcher {

// A TCP socket that listens on a free port of the loopback interface; `*port` is then that port.
int ListenOnLoopback(int* port);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_HTTP_TESTING_LOOPBACK_H_
