#include "common/manifest/source_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/hash.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/code/line_index.h"
#include "common/documents/document.h"
#include "common/job/source_spec.h"
#include "common/json/json_documents.h"
#include "common/json/json_strings.h"

// The proof of a dataset's origin. Before a dataset is exported, everything that it says about
// places is computed again from the files' content in the store: hash and size of each file, the
// lines and the hash of each kernel, its id, the repository and the commit. So neither a bug in an
// old extractor nor a worker that lies can give a kernel a wrong origin. Files are hashed once
// each, so the cost is linear in their bytes.
//
// The checks run where a shard is prepared, so on all threads of the walk. Any difference is
// DATA_LOSS with the file, the line and the kernel.
namespace kernelmill::manifest {
namespace {

using Kernels = std::vector<const v1::Kernel*>;

absl::Status Mismatch(absl::string_view what) { return absl::DataLossError(what); }

// Compares a kernel's source with the lines of a text.
absl::Status CheckSpan(const v1::Kernel& kernel, absl::string_view text, const LineIndex& lines) {
  const bool exists = kernel.first_line() >= 1 && kernel.first_line() <= kernel.last_line() &&
                      kernel.last_line() <= lines.count();
  if (!exists) {
    return Mismatch(absl::StrCat("the lines ", kernel.first_line(), " to ", kernel.last_line(),
                                 " do not exist: it has ", lines.count()));
  }
  const size_t begin = lines.Begin(kernel.first_line());
  if (kernel.first_byte() != static_cast<int64_t>(begin)) {
    return Mismatch(absl::StrCat("the line begins at byte ", begin, ", not ", kernel.first_byte()));
  }
  const absl::string_view there = text.substr(begin, lines.End(kernel.last_line()) - begin);
  const absl::string_view source = kernel.source();
  if (there == source) return absl::OkStatus();
  const auto differs = std::mismatch(there.begin(), there.end(), source.begin(), source.end());
  return Mismatch(
      absl::StrCat("the source is not what the file has on its lines: they differ from byte ",
                   differs.second - source.begin(), " of ", source.size(), " on"));
}

// The hash is part of the id, so a wrong one would give the kernel another identity.
absl::Status CheckHash(const v1::Kernel& kernel) {
  const std::string hash = Sha256Hex(kernel.source());
  if (hash == kernel.sha256()) return absl::OkStatus();
  return Mismatch(
      absl::StrCat("the source has SHA-256 ", hash, ", not ", JsonString(kernel.sha256())));
}

// Adds the kernel's line and name to an error.
absl::Status NameKernel(const absl::Status& status, const v1::Kernel& kernel) {
  if (status.ok()) return status;
  std::string where = absl::StrCat("line ", kernel.first_line());
  if (kernel.has_json_pointer()) {
    absl::StrAppend(&where, " of the string ", JsonString(kernel.json_pointer()));
  }
  return Annotate(status, absl::StrCat(where, ", kernel ", JsonString(kernel.qualname())));
}

// `text` is the file's content, or the decoded string for a kernel in JSON; `lines` divides it.
absl::Status CheckKernel(const v1::Kernel& kernel, absl::string_view text, const LineIndex& lines) {
  RETURN_IF_ERROR(NameKernel(CheckHash(kernel), kernel));
  return NameKernel(CheckSpan(kernel, text, lines), kernel);
}

// Checks that a whole file equals its file.
absl::Status CheckWholeFile(const v1::Kernel& whole, absl::string_view text) {
  RETURN_IF_ERROR(NameKernel(CheckHash(whole), whole));
  const bool all = whole.first_line() == 1 && whole.last_line() == CountLines(text) &&
                   whole.first_byte() == 0 && !whole.has_json_pointer();
  if (all && whole.source() == text) return absl::OkStatus();
  return NameKernel(Mismatch("it must be the whole file, and is not"), whole);
}

absl::Status NoSuchString(const v1::Kernel& kernel) {
  return NameKernel(Mismatch("the file has no such string there"), kernel);
}

// A check of a JSON file's kernels that reads its strings once. It sorts the kernels by the offset
// of their string, so that kernels and strings are merged in order.
class JsonCheck {
 public:
  // Takes the kernels of the file, in any order.
  explicit JsonCheck(Kernels kernels) : kernels_(std::move(kernels)) {
    std::stable_sort(kernels_.begin(), kernels_.end(), [](const auto* a, const auto* b) {
      return a->string_begin() < b->string_begin();
    });
  }

  absl::Status Run(const v1::SourceFile& file) {
    json::Documents documents(file.path(), file.content());
    json::Document document;
    while (next_ < kernels_.size() && documents.Next(&document)) {
      json::StringReader reader(document.text);
      while (next_ < kernels_.size() && reader.Next()) {
        const auto begin = reader.raw().data() - file.content().data();
        RETURN_IF_ERROR(CheckString(reader, document.pointer, begin));
      }
    }
    return next_ == kernels_.size() ? absl::OkStatus() : NoSuchString(*kernels_[next_]);
  }

 private:
  // Checks the kernels whose string_begin is inside the string. A decoded string is never longer
  // than written, so that this also holds for a string inside a string.
  absl::Status CheckString(const json::StringReader& reader, const std::string& document,
                           int64_t begin) {
    const int64_t end = begin + static_cast<int64_t>(reader.raw().size());
    if (kernels_[next_]->string_begin() > end) return absl::OkStatus();
    const std::string text = json::Unescape(reader.raw());
    const LineIndex lines(text);
    const std::string pointer = document + reader.Pointer().value_or("");
    for (; next_ < kernels_.size() && kernels_[next_]->string_begin() <= end; ++next_) {
      const v1::Kernel& kernel = *kernels_[next_];
      if (kernel.string_begin() < begin || kernel.json_pointer() != pointer) {
        return NoSuchString(kernel);
      }
      RETURN_IF_ERROR(CheckKernel(kernel, text, lines));
    }
    return absl::OkStatus();
  }

  Kernels kernels_;
  size_t next_ = 0;
};

// Checks the kernels of a notebook or another document. Each is read as the extractor reads it: in
// a notebook within the cell that json_pointer and string_begin name, else by the lines of the
// document's text.
absl::Status CheckDocument(const Kernels& kernels, const v1::SourceFile& file) {
  const documents::Document document = documents::ReadDocument(file.path(), file.content());
  std::map<absl::string_view, const documents::Cell*> cells;
  for (const documents::Cell& cell : document.cells) cells.emplace(cell.pointer, &cell);
  const LineIndex lines(document.text);
  for (const v1::Kernel* kernel : kernels) {
    if (!documents::IsNotebookPath(file.path())) {
      if (kernel->has_json_pointer()) return NoSuchString(*kernel);
      RETURN_IF_ERROR(CheckKernel(*kernel, document.text, lines));
      continue;
    }
    const auto cell = cells.find(kernel->json_pointer());
    if (cell == cells.end() || !kernel->has_json_pointer() ||
        kernel->string_begin() != static_cast<int64_t>(cell->second->begin)) {
      return NoSuchString(*kernel);
    }
    const absl::string_view text = documents::GetCellText(document, *cell->second);
    RETURN_IF_ERROR(CheckKernel(*kernel, text, LineIndex(text)));
  }
  return absl::OkStatus();
}

// Checks that the extractor lists the file as it is.
absl::Status CheckFile(const v1::ExtractedFile& listed, const v1::SourceFile& file) {
  const absl::string_view text = file.content();
  if (listed.size_bytes() != static_cast<int64_t>(text.size()) ||
      listed.sha256() != Sha256Hex(text)) {
    return Mismatch("the file is listed with the wrong size or SHA-256");
  }
  // A file that was not read has no lines.
  if (listed.failed().empty() && listed.lines() != CountLines(text)) {
    return Mismatch(absl::StrCat("the file is listed with ", listed.lines(), " lines, but has ",
                                 CountLines(text)));
  }
  return absl::OkStatus();
}

// Checks the kernels of one file: the record of the whole file, then the others by the file's lines
// or, in JSON, by the lines of their string.
absl::Status CheckKernels(Kernels kernels, const v1::SourceFile& file) {
  const auto whole =
      std::stable_partition(kernels.begin(), kernels.end(), [](auto* k) { return !IsFile(*k); });
  if (kernels.end() - whole > 1) return Mismatch("it has more than one record of the whole file");
  if (whole != kernels.end()) RETURN_IF_ERROR(CheckWholeFile(**whole, file.content()));
  kernels.erase(whole, kernels.end());
  if (kernels.empty()) return absl::OkStatus();
  if (documents::IsDocumentPath(file.path())) return CheckDocument(kernels, file);
  const bool is_json = json::IsJsonPath(file.path());
  // A kernel in a JSON file is in a string of it, and only there.
  for (const v1::Kernel* kernel : kernels) {
    if (kernel->has_json_pointer() != is_json) return NoSuchString(*kernel);
  }
  if (is_json) return JsonCheck(std::move(kernels)).Run(file);
  const LineIndex lines(file.content());
  for (const v1::Kernel* kernel : kernels) {
    RETURN_IF_ERROR(CheckKernel(*kernel, file.content(), lines));
  }
  return absl::OkStatus();
}

// Checks that each kernel's id follows from its place, which was checked before.
absl::Status CheckIds(const v1::SourceTree& place, const v1::KernelShard& kernels) {
  // One message is filled again for each kernel: SetKernelIds reads only these fields.
  v1::KernelShard named;
  v1::Kernel& kernel = *named.add_kernels();
  for (const v1::Kernel& given : kernels.kernels()) {
    kernel.Clear();
    kernel.set_path(given.path());
    kernel.set_first_line(given.first_line());
    kernel.set_sha256(given.sha256());
    kernel.set_form(given.form());
    if (given.has_json_pointer()) kernel.set_json_pointer(given.json_pointer());
    SetKernelIds(place, &named);
    if (kernel.id() == given.id()) continue;
    const absl::Status wrong = Mismatch(absl::StrCat("its id is not ", JsonString(given.id())));
    return Annotate(NameKernel(wrong, given), JsonString(given.path()));
  }
  return absl::OkStatus();
}

constexpr absl::string_view kRemedy = "; `kernelmill retry JOB --no-cache` makes the dataset again";

// Adds the source's name, and what to do about it.
absl::Status Explain(const absl::Status& status, const v1::ManifestSource& source) {
  if (!absl::IsDataLoss(status)) return status;
  return absl::DataLossError(
      absl::StrCat(JsonString(job::SourceName(source.source())), ": ", status.message(), kRemedy));
}

}  // namespace

// Groups the kernels by file, so that each file is hashed and divided into lines once.
absl::Status CheckSources(const v1::FileShard& files, const v1::KernelShard& kernels) {
  std::map<absl::string_view, const v1::SourceFile*> by_path;
  for (const v1::SourceFile& file : files.files()) by_path[file.path()] = &file;
  // The kernels of each file, so that it is divided into lines once.
  std::map<absl::string_view, Kernels> kernels_of;
  for (const v1::Kernel& kernel : kernels.kernels()) kernels_of[kernel.path()].push_back(&kernel);
  for (const v1::ExtractedFile& listed : kernels.files()) {
    const auto file = by_path.find(listed.path());
    if (file == by_path.end()) {
      return Annotate(Mismatch("the shard has no such file"), JsonString(listed.path()));
    }
    RETURN_IF_ERROR(Annotate(CheckFile(listed, *file->second), JsonString(listed.path())));
  }
  for (const auto& [path, of_file] : kernels_of) {
    const auto file = by_path.find(path);
    const absl::Status status =
        file == by_path.end() ? NameKernel(Mismatch("the shard has no such file"), *of_file[0])
                              : CheckKernels(of_file, *file->second);
    RETURN_IF_ERROR(Annotate(status, JsonString(path)));
  }
  return absl::OkStatus();
}

// The tree must be that of the pinned source, so a cached tree of another commit is found here.
absl::Status CheckTree(const v1::Source& source, const v1::SourceTree& tree) {
  const std::string name = job::SourceName(source);
  if (tree.repository() != name) {
    return Mismatch(absl::StrCat("the tree is that of ", JsonString(tree.repository())));
  }
  const std::string pin =
      source.has_git() ? source.ref() : absl::StrCat("sha256:", source.sha256());
  if (tree.commit() != pin) {
    return Mismatch(absl::StrCat("the tree is that of commit ", JsonString(tree.commit()), ", not ",
                                 JsonString(pin)));
  }
  return absl::OkStatus();
}

// A dataset of an older version lists no files, so its shards cannot be compared.
absl::Status CheckingVisitor::VisitTree(int source, const v1::SourceTree& tree) {
  const v1::ManifestSource& named = manifest_.sources(source);
  if (named.files_size() != named.kernels_size() && !IsEvidence(named.source())) {
    return absl::FailedPreconditionError(
        absl::StrCat(named.files_size(), " file shards for ", named.kernels_size(),
                     " kernel shards: an older version made the dataset; `kernelmill retry JOB` "
                     "makes it again"));
  }
  RETURN_IF_ERROR(Explain(CheckTree(named.source(), tree), named));
  return inner_.VisitTree(source, tree);
}

// Reads the shard's files from the store and compares.
absl::StatusOr<v1::FileShard> CheckingVisitor::CheckShard(const ShardView& view) {
  const v1::ManifestSource& source = manifest_.sources(view.source);
  // If the numbers differ, the visit of the tree reports it.
  if (source.files_size() != source.kernels_size()) return v1::FileShard();
  const cas::Digest& digest = source.files(view.shard);
  ASSIGN_OR_RETURN(auto files, cas::GetMessage<v1::FileShard>(store_, digest));
  RETURN_IF_ERROR(CheckSources(files, *view.kernels));
  RETURN_IF_ERROR(CheckIds(*view.tree, *view.kernels));
  return files;
}

// Checks before the inner visitor sees anything of the shard.
absl::StatusOr<std::unique_ptr<PreparedShard>> CheckingVisitor::PrepareShard(
    const ShardView& view) {
  const absl::StatusOr<v1::FileShard> files = CheckShard(view);
  RETURN_IF_ERROR(Explain(files.status(), manifest_.sources(view.source)));
  ShardView checked = view;
  checked.files = &*files;
  return inner_.PrepareShard(checked);
}

absl::Status CheckingVisitor::VisitShard(const ShardView& view) { return inner_.VisitShard(view); }

}  // namespace kernelmill::manifest
