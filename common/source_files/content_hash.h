#ifndef KERNELMILL_COMMON_SOURCE_FILES_CONTENT_HASH_H_
#define KERNELMILL_COMMON_SOURCE_FILES_CONTENT_HASH_H_

#include <string>

#include "kernelmill/v1/source.pb.h"

namespace kernelmill::source_files {

// Returns 64 hexadecimal digits that name the content of a tree, whatever it is called and wherever
// it came from: SHA-256 over the paths, fates and contents of its selected files and licence files,
// and what it requires. It is the pin of a folder.
std::string ContentHash(const v1::SourceTree& tree);

}  // namespace kernelmill::source_files

#endif  // KERNELMILL_COMMON_SOURCE_FILES_CONTENT_HASH_H_
