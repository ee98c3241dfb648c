#include "dataset/export/ir_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "dataset/export/redact.h"
#include "dataset/rows/row_json.h"
#include "kernelmill/v1/compile.pb.h"

namespace kernelmill::dataset {
namespace {

// Which text of a kernel: toolchain, target and form.
using TextKey = std::tuple<std::string, std::string, std::string>;
using TextHashes = std::map<TextKey, std::string>;

std::string NameOf(const TextKey& key) {
  return absl::StrCat(std::get<0>(key), ", ", std::get<1>(key), ", ", std::get<2>(key));
}

// The texts that the job keeps of a kernel, with their SHA-256, by its evidence.
TextHashes HashesOf(const v1::CompiledKernel& compiled, const v1::CompilePolicy& policy) {
  TextHashes hashes;
  for (const v1::CompileResult& result : compiled.results()) {
    for (const v1::IrForm& form : result.forms()) {
      const auto& keep = policy.keep();
      if (std::find(keep.begin(), keep.end(), form.form()) == keep.end()) continue;
      hashes[{result.toolchain(), result.target(), form.form()}] = form.sha256();
    }
  }
  return hashes;
}

class IrRowMaker {
 public:
  IrRowMaker(const DatasetIndex& index, const manifest::ShardView& view, IrSink sink)
      : index_(index), view_(view), sink_(sink) {
    for (int i = 0; i < view.kernels->kernels_size(); ++i) {
      if (index.DecisionOn(NumberOf(i)).fate() != v1::FATE_KEPT || index.IsFile(NumberOf(i))) {
        continue;
      }
      TextHashes hashes = HashesOf(view.verdicts->verdicts(i).compiled(), index.manifest.compile());
      if (!hashes.empty()) awaited_[NumberOf(i)] = std::move(hashes);
    }
  }

  absl::Status Add(const v1::IrText& text) {
    if (text.kernel() >= static_cast<uint32_t>(view_.kernels->kernels_size())) {
      return absl::DataLossError(absl::StrCat("a compiler's text is of kernel ", text.kernel(),
                                              " of a shard of ", view_.kernels->kernels_size()));
    }
    const auto place = static_cast<int>(text.kernel());
    const uint32_t number = NumberOf(place);
    const bool kept = index_.DecisionOn(number).fate() == v1::FATE_KEPT && !index_.IsFile(number);
    if (!kept) return absl::OkStatus();
    const TextKey key(text.toolchain(), text.target(), text.form());
    const std::string sha256 = Sha256Hex(text.text());
    const auto kernel = awaited_.find(number);
    const bool known = kernel != awaited_.end() && kernel->second.contains(key);
    if (!known || kernel->second.at(key) != sha256) {
      return absl::DataLossError(
          absl::StrCat("kernel ", index_.kernels[number].id(),
                       ": its evidence speaks of another text: ", NameOf(key)));
    }
    kernel->second.erase(key);
    return sink_(number, MakeRow(place, text, sha256));
  }

  // Once all have come.
  absl::Status Finish() const {
    for (const auto& [number, hashes] : awaited_) {
      if (hashes.empty()) continue;
      return absl::DataLossError(absl::StrCat(
          "kernel ", index_.kernels[number].id(),
          ": a text that its evidence speaks of is lost: ", NameOf(hashes.begin()->first)));
    }
    return absl::OkStatus();
  }

 private:
  uint32_t NumberOf(int place) const { return view_.first_number + static_cast<uint32_t>(place); }

  v1::IrRow MakeRow(int place, const v1::IrText& text, const std::string& sha256) const {
    const uint32_t number = NumberOf(place);
    const v1::Kernel& kernel = view_.kernels->kernels(place);
    const v1::Verdict& verdict = view_.verdicts->verdicts(place);
    const SourceEntry& source = index_.SourceOf(number);
    v1::IrRow row;
    row.set_kernel_id(kernel.id());
    row.set_repository(source.repository);
    row.set_name(kernel.name());
    row.set_toolchain(text.toolchain());
    row.set_target(text.target());
    row.set_form(text.form());
    row.set_sha256(sha256);
    row.set_text(RedactedText(text.text(), kernel, verdict.quality(), index_.manifest.quality()));
    row.set_license(verdict.license().expression());
    row.set_category(source.category);
    row.set_weight(source.weight);
    row.set_split(std::string(index_.SplitOf(number)));
    FillNotUtf8(SchemaOf<v1::IrRow>(), &row);
    return row;
  }

  const DatasetIndex& index_;
  const manifest::ShardView& view_;
  const IrSink sink_;
  std::map<uint32_t, TextHashes> awaited_;  // by the kernel's number, till they have come
};

}  // namespace

absl::Status MakeIrRows(cas::BlobStore& store, const DatasetIndex& index,
                        const manifest::ShardView& view, IrSink sink) {
  IrRowMaker maker(index, view, sink);
  const v1::ManifestSource& source = index.manifest.sources(view.source);
  if (view.shard < source.ir_parts_size()) {
    const auto parts = source.ir_parts().begin();
    const int first = std::accumulate(parts, parts + view.shard, 0);
    const int end = first + source.ir_parts(view.shard);
    if (first < 0 || end < first || end > source.ir_size()) {
      return absl::DataLossError("the manifest names other blobs of compilers' texts than it says");
    }
    for (int i = first; i < end; ++i) {
      ASSIGN_OR_RETURN(const auto shard, cas::GetMessage<v1::IrShard>(store, source.ir(i)));
      for (const v1::IrText& text : shard.texts()) RETURN_IF_ERROR(maker.Add(text));
    }
  }
  return maker.Finish();
}

}  // namespace kernelmill::dataset
