#include "services/extractor/adapters/tree_sitter/counted_language.h"

#include "tree_sitter/parser.h"

extern "C" const TSLanguage* tree_sitter_python(void);

namespace kernelmill::extractor {
namespace {

thread_local ParseBudget* current_budget = nullptr;

void SpendOne() {
  if (current_budget != nullptr) current_budget->Spend(1);
}

bool CountedLex(TSLexer* lexer, TSStateId state) {
  SpendOne();
  return tree_sitter_python()->lex_fn(lexer, state);
}

bool CountedScan(void* scanner, TSLexer* lexer, const bool* valid_symbols) {
  SpendOne();
  return tree_sitter_python()->external_scanner.scan(scanner, lexer, valid_symbols);
}

}  // namespace

ParseBudget::ParseBudget(uint64_t work) : left_(work) { current_budget = this; }
ParseBudget::~ParseBudget() { current_budget = nullptr; }

void ParseBudget::Spend(uint64_t work) {
  if (work < left_) {
    left_ -= work;
  } else {
    left_ = 0;
    stop_ = 1;
  }
}

const TSLanguage* CountedPython() {
  static const TSLanguage* counted = [] {
    auto* language = new TSLanguage(*tree_sitter_python());
    language->lex_fn = CountedLex;
    language->external_scanner.scan = CountedScan;
    return language;
  }();
  return counted;
}

}  // namespace kernelmill::extractor
