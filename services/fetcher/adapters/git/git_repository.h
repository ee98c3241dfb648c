#ifndef KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_REPOSITORY_H_
#define KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_REPOSITORY_H_

#include <initializer_list>
#include <string>

#include "absl/status/status.h"

namespace kernelmill::fetcher {

// Makes an empty folder a bare repository that may lack objects which its remote "origin" has.
absl::Status MakeRepository(const std::string& folder);

// Makes folders below one, given as "/name", parents first.
absl::Status MakeFolders(const std::string& parent, std::initializer_list<const char*> folders);

}  // namespace kernelmill::fetcher

#endif  // KERNELMILL_SERVICES_FETCHER_ADAPTERS_GIT_GIT_REPOSITORY_H_
