#include "services/cli/catalog/search/row_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "services/cli/catalog/search/data_files.h"

namespace kernelmill::cli {
namespace {

// Of text before it is JSON. A file costs a page as much as some 100 KiB more in one.
constexpr size_t kRowFile = 96 << 10;
constexpr size_t kWriteBytes = 1 << 20;

std::string PathIn(const TempDir& temp) { return absl::StrCat(temp.path(), "/rows"); }

}  // namespace

absl::StatusOr<RowFiles> RowFiles::Create(const std::string& temp_parent) {
  ASSIGN_OR_RETURN(TempDir temp, TempDir::Create(temp_parent));
  const std::string path = PathIn(temp);
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) return ErrnoStatus(errno, path);
  return RowFiles(std::move(temp), std::move(file));
}

absl::Status RowFiles::Add(absl::string_view row) {
  absl::StrAppend(&buffer_, row);
  ends_.push_back(ends_.back() + row.size());
  return buffer_.size() < kWriteBytes ? absl::OkStatus() : Flush();
}

absl::Status RowFiles::Flush() {
  RETURN_IF_ERROR(WriteAll(file_.get(), buffer_, PathIn(temp_)));
  buffer_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::string> RowFiles::Read(uint32_t kernel) {
  if (!buffer_.empty()) RETURN_IF_ERROR(Flush());
  std::string row(ends_[kernel + 1] - ends_[kernel], '\0');
  for (size_t done = 0; done < row.size();) {
    const ssize_t got =
        pread(file_.get(), &row[done], row.size() - done, static_cast<off_t>(ends_[kernel] + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, PathIn(temp_));
    if (got == 0) return absl::DataLossError(absl::StrCat(PathIn(temp_), " ends too early"));
    done += static_cast<size_t>(got);
  }
  return row;
}

absl::StatusOr<std::vector<uint32_t>> RowFiles::Write(const std::string& site,
                                                      const std::vector<uint32_t>& order) {
  std::vector<uint32_t> firsts;
  for (uint32_t place = 0; place < order.size();) {
    const std::string name = absl::StrCat("rows/", firsts.size());
    firsts.push_back(place);
    std::string lines;
    do {
      ASSIGN_OR_RETURN(const std::string row, Read(order[place]));
      absl::StrAppend(&lines, lines.empty() ? "" : "\n", row);
    } while (++place < order.size() && lines.size() < kRowFile);
    RETURN_IF_ERROR(WriteDataFile(site, name, JsonString(lines)));
  }
  return firsts;
}

}  // namespace kernelmill::cli
