#ifndef KERNELMILL_COMMON_ROCKSDB_FORMAT_H_
#define KERNELMILL_COMMON_ROCKSDB_FORMAT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace rocksdb {
class DB;
}

namespace kernelmill {

// The formats of a database. A database keeps the number of its format in a record. A program reads
// the newest format that it knows, and turns older ones into it when it opens them.

// Turns a format into the next one. The process may be killed at any time, and the step then runs
// again on what it left behind.
struct FormatStep {
  std::string what;  // for the log
  std::function<absl::Status()> run;
};

struct Formats {
  std::string key;                      // the record's, in the default column family
  int oldest = 1;                       // the format that steps[0] reads
  std::vector<FormatStep> steps;        // steps[i] turns format oldest + i into the next one
  std::vector<std::string> files = {};  // in the database's folder; a copy needs them

  int newest() const { return oldest + static_cast<int>(steps.size()); }
};

// Checks the record of a database. FAILED_PRECONDITION: a newer program wrote the database or began
// to upgrade it, or its format is older than the oldest.
absl::Status CheckReadable(absl::string_view record, int oldest, int newest);

// Upgrades the open database in `dir` to the newest format. A new database gets its number. Before
// the first step, a copy of the old database is made in a subfolder of `dir`, before-format-N,
// which is a database by itself. It shares the files of tables and blobs by hard links, and nothing
// deletes it.
//
// A killed upgrade goes on at the next call; until then programs of the old format refuse the
// database. FAILED_PRECONDITION: see CheckReadable; nothing is changed.
absl::Status UpgradeFormat(rocksdb::DB& db, const std::string& dir, const Formats& formats);

}  // namespace kernelmill

#endif  // KERNELMILL_COMMON_ROCKSDB_FORMAT_H_
