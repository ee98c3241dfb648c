#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_ANNOTATIONS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_ANNOTATIONS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/text/text.h"

namespace kernelmill::validator {

// How an annotation relates to the file's own statement (REUSE 3.3).
enum class Precedence {
  kClosest,    // counts if the file says nothing
  kAggregate,  // holds besides it
  kOverride,   // holds instead of it
};

// A table [[annotations]] of a REUSE.toml, or a paragraph of .reuse/dep5, which always is an
// aggregate.
struct Annotation {
  std::vector<std::string> globs;   // relative to the folder that the file is about
  bool star_spans_folders = false;  // '*' matches '/' in dep5; in REUSE.toml only "**" does
  Precedence precedence = Precedence::kClosest;
  std::vector<std::string> licenses;  // as written
  std::vector<std::string> copyrights;
  int line = 0;
};

// Read annotations: at most 1 MiB of text, 1,024 annotations and 16 KiB of globs. Lines that cannot
// be parsed are skipped; from TOML only tables, strings and arrays of strings are read.
std::vector<Annotation> ReadReuseToml(absl::string_view text);
std::vector<Annotation> ReadDep5(absl::string_view text);

// Returns whether a glob matches the path: '*' is any run within a folder, "**" any run at all, and
// '\' takes the next character literally. `star_spans_folders`: '*' is any run at all too, and '?'
// any character.
bool GlobMatches(absl::string_view glob, absl::string_view path, bool star_spans_folders);

// The joined statement of the annotations of a file.
struct Annotated {
  std::string path;  // the annotations' file; the first of several
  // absent: nothing is said, or it cannot be understood
  std::optional<spdx::SpdxExpression> license;
  bool says_license = false;
  Evidence evidence;
  std::vector<std::string> copyrights;
};

// The REUSE.toml and .reuse/dep5 files of a tree. Within one file, the last annotation that matches
// the path counts. Among several files, an override ends the search, the one nearest to the root
// first; otherwise all aggregates and the nearest other annotation count.
class Annotations {
 public:
  explicit Annotations(const v1::SourceTree& tree);

  struct Answer {
    std::optional<Annotated> instead;    // an override
    std::optional<Annotated> besides;    // aggregates
    std::optional<Annotated> otherwise;  // the nearest other one, for a file that says nothing
  };
  Answer Of(absl::string_view path) const;

 private:
  struct File {
    std::string path;
    std::vector<Annotation> annotations;
  };

  std::multimap<std::string, File> files_;  // by the folder that they are about
};

}  // namespace kernelmill::validator

#endif  // KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_ANNOTATIONS_H_
