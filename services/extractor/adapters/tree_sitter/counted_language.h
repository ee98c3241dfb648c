#ifndef KERNELMILL_SERVICES_EXTRACTOR_ADAPTERS_TREE_SITTER_COUNTED_LANGUAGE_H_
#define KERNELMILL_SERVICES_EXTRACTOR_ADAPTERS_TREE_SITTER_COUNTED_LANGUAGE_H_

#include <cstddef>
#include <cstdint>

struct TSLanguage;

namespace kernelmill::extractor {

// How much work a parse may do, in calls of the lexer. A clock would end the same parse at another
// point on every machine; this count does not. While it lives, it is the budget of the parses of
// its thread; one at a time.
class ParseBudget {
 public:
  explicit ParseBudget(uint64_t work);
  ~ParseBudget();
  ParseBudget(const ParseBudget&) = delete;
  ParseBudget& operator=(const ParseBudget&) = delete;

  void Spend(uint64_t work);
  bool spent() const { return stop_ != 0; }
  // For ts_parser_set_cancellation_flag: not zero once the budget is spent.
  const size_t* stop_flag() const { return &stop_; }

 private:
  uint64_t left_;
  size_t stop_ = 0;
};

// tree-sitter's Python, with every call of its lexer and scanner counted against the thread's
// budget.
const TSLanguage* CountedPython();

}  // namespace kernelmill::extractor

#endif  // KERNELMILL_SERVICES_EXTRACTOR_ADAPTERS_TREE_SITTER_COUNTED_LANGUAGE_H_
