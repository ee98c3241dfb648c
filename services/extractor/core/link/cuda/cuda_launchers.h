#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_LAUNCHERS_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_LAUNCHERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kernelmill/v1/kernel.pb.h"
#include "services/extractor/core/cuda/functions.h"
#include "services/extractor/core/link/cuda/source.h"

namespace kernelmill::extractor::cuda {

// The host functions that launch the __global__ functions of a source.
//
// The basic idea: the host of a launch is the outermost function around it (cuda/functions.h
// defines launches). A launch gives a name, not a declaration. It means a kernel of that name in
// each file that the host sees through its includes. If the host only sees a declaration of the
// kernel, it means all kernels with the same qualified name. Macros that launch are known through
// includes as well.
class CudaLaunchers {
 public:
  static constexpr size_t kMaxText = 16 << 10;

  // Once the texts of all launchers reach `max_bytes`, further ones are left out.
  CudaLaunchers(const Source& source, size_t max_bytes);

  // Sets the launcher of a __global__ function if it has one.
  void FillIn(v1::Kernel& kernel);

 private:
  struct Host {
    uint32_t file;
    int first_line;
    int last_line;
    std::string qualname;
  };
  using Hosts = std::vector<uint32_t>;  // indexes of hosts_; in the order of files and lines

  static std::vector<Host> FindHostsHere(uint32_t file, const v1::Kernel& kernel);
  void AddFile(uint32_t file);
  void AddLaunch(uint32_t host, const std::string& name, const View& view);
  static void Append(Hosts& hosts, uint32_t host);
  absl::string_view GetText(const Host& host) const;

  const Source& source_;
  size_t left_;
  size_t macro_bytes_left_ = 256u << 20;  // bounds the rereading of files for their macros
  std::vector<Host> hosts_;
  // The hosts of each kernel, by the kernel's file and name.
  absl::flat_hash_map<std::pair<uint32_t, std::string>, Hosts> launchers_;
};

}  // namespace kernelmill::extractor::cuda

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_LINK_CUDA_CUDA_LAUNCHERS_H_
