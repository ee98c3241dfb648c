#ifndef KERNELMILL_SERVICES_COORDINATOR_CORE_PIECES_H_
#define KERNELMILL_SERVICES_COORDINATOR_CORE_PIECES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "services/coordinator/core/blob_ref.h"
#include "services/coordinator/core/task.h"

namespace kernelmill::coordinator {

// A shard of files that is extracted in pieces, because one of its files ends the worker.
//
// The basic idea: halve whatever ends its worker until the file that does it stands alone, and set
// that file aside. A piece is named by its place in the tree of halves, not by when it was made, so
// that the pieces, and with them all actions, do not depend on the order in which workers ended.
// Not thread-safe.
class Pieces {
 public:
  struct Range {
    int32_t first = 0;
    int32_t count = 0;
  };

  // Files [0, files) of the shard; `piece` may be set aside.
  static Range RangeOf(int32_t files, Piece piece);
  // The pieces that take the place of one that ended its worker for good: two halves, or, for a
  // single file, the same set aside. None: it cannot be taken apart further.
  static std::vector<Piece> Split(int32_t files, Piece piece);

  void Take(Piece piece, const BlobRef& kernels) { kernels_[piece] = kernels; }
  // What was taken, in the order of the files.
  std::vector<BlobRef> InOrder(int32_t files) const;

 private:
  std::map<Piece, BlobRef> kernels_;
};

}  // namespace kernelmill::coordinator

#endif  // KERNELMILL_SERVICES_COORDINATOR_CORE_PIECES_H_
