#ifndef KERNELMILL_CLIENT_EVALUATE_SHEET_H_
#define KERNELMILL_CLIENT_EVALUATE_SHEET_H_

#include <cstddef>
#include <string>

#include "client/evaluate/evaluation_report.h"

namespace kernelmill::client {

inline constexpr size_t kSheetTasks = 100;  // as many as the write-up's author read

// sheet.html: samples to read, one page that needs nothing else. For each of at most `tasks` tasks
// the prompt, the reference, and the first sample of the generations, beside that of the baseline
// where there is one, with what the checks, the compilers and the search in the dataset said of it.
// Which tasks, a hash of their ids says: the same for other models, and a fair share of each kind.
//
// All texts stand there escaped, and what would hide or turn text is spelled out, as in \u202e; a
// text of more than 20,000 characters is cut. The page has no scripts, and a policy that forbids
// them and whatever else would be loaded.
std::string ReadingSheet(const EvaluationReport& report, size_t tasks);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_EVALUATE_SHEET_H_
