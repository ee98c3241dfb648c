#include "services/extractor/core/link/notebook_cells.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "services/extractor/core/link/kernel_shards.h"

namespace kernelmill::extractor {
namespace {

// The cells of one notebook, in order. Refers to the file's entry.
class Cells {
 public:
  explicit Cells(const v1::ExtractedFile& file) : cells_(file.cells()) {}

  // Returns the cell that has a line of the text of all cells; else null.
  const v1::NotebookCell* Find(int32_t line) const {
    const auto after = std::upper_bound(
        cells_.begin(), cells_.end(), line,
        [](int32_t wanted, const v1::NotebookCell& cell) { return wanted < cell.first_line(); });
    return after == cells_.begin() ? nullptr : &*std::prev(after);
  }

  // Moves the lines of a message into their cell. Returns the cell.
  template <typename Span>
  const v1::NotebookCell* MoveLines(Span& span) const {
    const v1::NotebookCell* cell = Find(span.first_line());
    if (cell == nullptr) return nullptr;
    const int32_t before = cell->first_line() - 1;
    span.set_first_line(span.first_line() - before);
    span.set_last_line(span.last_line() - before);
    return cell;
  }

  // Moves them and names the cell.
  template <typename Span>
  void MoveAndName(Span& span) const {
    const v1::NotebookCell* cell = MoveLines(span);
    if (cell != nullptr) span.set_json_pointer(cell->json_pointer());
  }

 private:
  const google::protobuf::RepeatedPtrField<v1::NotebookCell>& cells_;
};

void MoveLaunches(const Cells& cells, v1::CudaFunction& cuda) {
  for (v1::CudaLaunch& launch : *cuda.mutable_launches()) {
    const v1::NotebookCell* cell = cells.MoveLines(launch);
    if (cell == nullptr || launch.host_first_line() == 0) continue;
    const int32_t before = cell->first_line() - 1;
    launch.set_host_first_line(launch.host_first_line() - before);
    launch.set_host_last_line(launch.host_last_line() - before);
  }
}

// Decorators of other functions of the notebook are moved as well: their lines are their own
// cell's.
void MoveKernel(const Cells& cells, v1::Kernel& kernel) {
  const v1::NotebookCell* cell = cells.MoveLines(kernel);
  if (cell == nullptr) return;
  kernel.set_first_byte(kernel.first_byte() - cell->first_byte());
  kernel.set_string_begin(cell->begin());
  if (kernel.applied_line() > 0) {
    kernel.set_applied_line(kernel.applied_line() - cell->first_line() + 1);
  }
  if (kernel.has_launcher() && kernel.launcher().path() == kernel.path()) {
    cells.MoveAndName(*kernel.mutable_launcher());
  }
  if (kernel.has_cuda()) MoveLaunches(cells, *kernel.mutable_cuda());
  for (v1::ModulePiece& piece : *kernel.mutable_pieces()) {
    const bool is_own = piece.path() == kernel.path() && piece.used_source().empty();
    if (is_own && !piece.generated()) cells.MoveAndName(piece);
  }
  for (v1::DroppedDecorator& decorator : *kernel.mutable_dropped_decorators()) {
    cells.MoveLines(decorator);
  }
  for (v1::ReplacedText& replaced : *kernel.mutable_replaced_texts()) cells.MoveLines(replaced);
}

}  // namespace

void MoveToCells(v1::KernelShard& shard) {
  absl::flat_hash_map<std::string, Cells> notebooks;
  for (const v1::ExtractedFile& file : shard.files()) {
    if (file.cells_size() > 0) notebooks.emplace(file.path(), Cells(file));
  }
  if (notebooks.empty()) return;
  for (v1::Kernel& kernel : *shard.mutable_kernels()) {
    const auto cells = notebooks.find(kernel.path());
    if (cells != notebooks.end() && kernel.has_context()) MoveKernel(cells->second, kernel);
  }
  for (v1::ExtractedFile& file : *shard.mutable_files()) file.clear_cells();
  SortKernels(shard);
}

}  // namespace kernelmill::extractor
