#ifndef KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MATCH_H_
#define KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MATCH_H_

#include <string>
#include <vector>

#include "kernelmill/v1/kernel.pb.h"

namespace kernelmill::extractor {

// The kernels of one version of a file, in the order of the text.
struct VersionKernels {
  std::vector<v1::Kernel> kernels;
  // By kernel, its name among the file's: the qualified name, and for the second of that name "#1".
  std::vector<std::string> keys;
};

// Gives each kernel its key.
VersionKernels MakeVersion(std::vector<v1::Kernel> kernels);

// A file on both sides of a commit. Null: the file is not there, or holds no kernel.
struct FileSides {
  std::string before_path, path;
  const VersionKernels* before = nullptr;
  const VersionKernels* after = nullptr;
};

// A kernel of a side: the number of its file, and its number there.
struct KernelAt {
  size_t file = 0;
  size_t kernel = 0;
};

struct KernelMatch {
  KernelAt before, after;
  const char* match = "";  // "same", "moved", "renamed" or "split"
  double similarity = 1;
};

// Matches the kernels of both sides of a commit. A kernel is in at most one match of each side,
// except that a kernel of the side before may also be the origin of several parts ("split"). In the
// order of the side after.
//
// The basic idea: names decide before texts. First the same key in the same file; then the same
// name in another file, of several the most similar; then the most similar text under another name,
// nearer in the file first among equals; and last the kernel whose text has most of a new one's.
// Similarity is that of the sets of runs of four tokens, without comments and the kernel's name.
std::vector<KernelMatch> MatchKernels(const std::vector<FileSides>& files);

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_CORE_HISTORY_MATCH_H_
