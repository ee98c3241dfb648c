#ifndef KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_ANNOTATIONS_H_
#define KERNELMILL_SERVICES_VALIDATOR_CORE_LICENSE_TREE_ANNOTATIONS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/spdx/expression.h"
#include "kernelmill/v1/source.pb.h"
#include "services/validator/core/license/text/evidence.h"

namespace kernelmill::validator {

// How an annotation stands to what the file says of itself (REUSE 3.3).
enum class Precedence {
  kClosest,    // counts where the file says nothing
  kAggregate,  // holds besides
  kOverride,   // holds instead
};

// A table [[annotations]] of a REUSE.toml, or a paragraph of .reuse/dep5, which is an aggregate.
struct Annotation {
  std::vector<std::string> globs;   // relative to the folder that it is about
  bool star_spans_folders = false;  // dep5's '*' does; of REUSE.toml only "**" does
  Precedence precedence = Precedence::kClosest;
  std::vector<std::string> licenses;  // as written
  std::vector<std::string> copyrights;
  int line = 0;
};

// Of a text at most 1 MiB, 1,024 annotations and 16 KiB of globs are read. What cannot be parsed is
// passed over: of TOML tables, strings and arrays of strings are read.
std::vector<Annotation> ReadReuseToml(absl::string_view text);
std::vector<Annotation> ReadDep5(absl::string_view text);

// Whether a glob names the path: '*' is any run within a folder, "**" any run at all, '\' takes the
// next character as it is. `star_spans_folders`: '*' is any run too, and '?' any character.
bool GlobMatches(absl::string_view glob, absl::string_view path, bool star_spans_folders);

// What annotations say of a file together.
struct Annotated {
  std::string path;                             // of the file that says so, the first of several
  std::optional<spdx::SpdxExpression> license;  // none: nothing, or nothing that is understood
  bool says_license = false;
  Evidence evidence;
  std::vector<std::string> copyrights;
};

// The REUSE.toml and .reuse/dep5 of a tree. Of one file the last annotation that names the path
// counts. Of several files an override nearest to the root ends the search; otherwise all
// aggregates and the nearest other one count.
class Annotations {
 public:
  explicit Annotations(const v1::SourceTree& tree);

  struct Answer {
    std::optional<Annotated> instead;    // an override
    std::optional<Annotated> besides;    // aggregates
    std::optional<Annotated> otherwise;  // the nearest, where the file says nothing
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
