#include "services/extractor/core/cuda/brackets.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/code/brackets.h"

namespace kernelmill::extractor::cuda {
namespace {

// The pass over tokens and directives; see MatchBrackets. top_ is the innermost open bracket. Each
// open bracket knows its outer one, so that the open brackets at any earlier place are still there:
// a branch goes back to those of its #if by setting top_.
class Matcher {
 public:
  explicit Matcher(const Code& code) : code_(code) {
    brackets_.match.assign(code.size(), kNoToken);
    opens_.push_back({kNoToken, 0, 0, 0, '\0'});
  }

  Brackets Run() {
    auto directive = code_.directives.begin();
    for (uint32_t token = 0; token < code_.size(); ++token) {
      while (directive != code_.directives.end() && directive->before <= token) {
        Follow(*directive++);
      }
      if (code_.tokens[token].kind == Token::kPunctuation) Read(token);
    }
    while (directive != code_.directives.end()) Follow(*directive++);
    AddLeftOver();
    std::sort(brackets_.errors.begin(), brackets_.errors.end());
    std::sort(brackets_.uneven.begin(), brackets_.uneven.end(),
              [](const Uneven& a, const Uneven& b) { return a.at < b.at; });
    return std::move(brackets_);
  }

 private:
  // An opening bracket. opens_[0] is a sentinel for "no bracket is open".
  struct Open {
    uint32_t token;
    uint32_t outer;  // the bracket around it
    uint32_t brace;  // it, or the nearest '{' around it
    uint32_t depth;
    char kind;
  };

  struct Conditional {
    uint32_t at;           // the token after #if
    uint32_t start;        // the innermost open bracket there
    uint32_t main;         // the innermost open bracket at the end of the main branch
    Condition condition;   // the #if's
    bool was_other;        // other_ at the #if
    bool chosen = false;   // the main branch has begun
    bool in_main = false;  // the main branch has begun and has not ended
    bool has_else = false;
    int branches = 0;          // that have ended
    uint32_t first_depth = 0;  // open brackets at the end of the first branch
    uint32_t last_depth = 0;   // and at the end of the latest one
    bool differ = false;       // two branches ended at different depths
  };
  using Key = std::pair<absl::string_view, bool>;

  // A '<' is no bracket here, because it may compare; only the launch marks <<< and >>> are. A >>>
  // without an open <<< is a shift or ends template arguments.
  void Read(uint32_t token) {
    const char mark = code_.tokens[token].mark;
    if (code::IsOpeningBracket(mark)) {
      Push(token, mark);
    } else if (mark == '}') {
      CloseBrace(token);
    } else if (mark == ')' || mark == ']') {
      CloseOther(token, mark == ')' ? '(' : '[');
    } else if (mark == '\0' && code_[token] == "<<<") {
      Push(token, '<');
    } else if (mark == '\0' && code_[token] == ">>>" && opens_[top_].kind == '<') {
      Pop(token);
    }
  }

  void Push(uint32_t token, char kind) {
    const auto self = static_cast<uint32_t>(opens_.size());
    const Open outer = opens_[top_];
    opens_.push_back({token, top_, kind == '{' ? self : outer.brace, outer.depth + 1, kind});
    top_ = self;
  }

  // Several branches may close one bracket. The main branch's partner wins, otherwise the first's.
  void Pop(uint32_t token) {
    const uint32_t open = opens_[top_].token;
    top_ = opens_[top_].outer;
    uint32_t& match = brackets_.match[open];
    if (other_ && match != kNoToken) return;
    if (match != kNoToken) brackets_.match[match] = kNoToken;
    match = token;
    brackets_.match[token] = open;
  }

  // '}' closes the nearest '{', and ends all that was left open within it: a missing ')' must not
  // swallow the rest of the file.
  void CloseBrace(uint32_t token) {
    if (opens_[top_].kind != '{') brackets_.errors.push_back(token);
    top_ = opens_[top_].brace;
    if (top_ != 0) Pop(token);
  }

  // A ')' or ']' closes only its own bracket, except that it ends an unclosed `<<<` within.
  void CloseOther(uint32_t token, char open) {
    const bool after_launch = opens_[top_].kind == '<' && opens_[opens_[top_].outer].kind == open;
    if (after_launch) {
      brackets_.errors.push_back(token);
      top_ = opens_[top_].outer;
    }
    if (opens_[top_].kind == open) {
      Pop(token);
    } else {
      brackets_.errors.push_back(token);
    }
  }

  // Follows a directive: begins or ends a branch. An #endif continues with the brackets that were
  // open at the end of the main branch.
  void Follow(const Directive& directive) {
    if (directive.kind == Directive::kIf) {
      conditionals_.push_back({directive.before, top_, top_, directive.condition, other_});
      return BeginBranch(directive, conditionals_.back());
    }
    if (conditionals_.empty()) return;
    Conditional& conditional = conditionals_.back();
    EndBranch(conditional);
    if (directive.kind != Directive::kEndif) return BeginBranch(directive, conditional);
    if (!conditional.has_else) {  // an #else without text is implied
      conditional.in_main = !conditional.chosen;
      EndBranch(conditional);
    }
    AddUneven(conditional, directive.before);
    top_ = conditional.main;
    other_ = conditional.was_other;
    conditionals_.pop_back();
  }

  void BeginBranch(const Directive& directive, Conditional& conditional) {
    conditional.in_main = !conditional.chosen && Holds(directive);
    conditional.chosen |= conditional.in_main;
    conditional.has_else |= directive.kind == Directive::kElse;
    other_ = conditional.was_other || !conditional.in_main;
  }

  // A condition that is asked for the first time is assumed to hold, here and at all later #ifs.
  bool Holds(const Directive& directive) {
    if (directive.kind == Directive::kElse) return true;
    const Condition& asked = directive.condition;
    const Key key = {asked.expression, asked.of_definition};
    const bool value = known_.try_emplace(key, !asked.negated).first->second;
    return value != asked.negated;
  }

  // Notes the depth at the end of a branch, and goes back to the brackets at the #if.
  void EndBranch(Conditional& conditional) {
    const uint32_t depth = opens_[top_].depth;
    if (conditional.in_main) conditional.main = top_;
    if (conditional.branches++ == 0) conditional.first_depth = depth;
    conditional.differ |= depth != conditional.first_depth;
    conditional.last_depth = depth;
    top_ = conditional.start;
  }

  // Notes a conditional whose branches end at different depths. Two branches may be balanced by
  // another conditional on the same condition; more than two are an error.
  void AddUneven(const Conditional& conditional, uint32_t before) {
    if (!conditional.differ) return;
    if (conditional.branches != 2) {
      brackets_.errors.push_back(conditional.at);
      brackets_.errors.push_back(before);
      return;
    }
    const int difference =
        static_cast<int>(conditional.first_depth) - static_cast<int>(conditional.last_depth);
    const bool negated = conditional.condition.negated;
    brackets_.uneven.push_back(
        {conditional.at, before, conditional.condition, negated ? -difference : difference});
  }

  // Adds errors for conditions whose differences do not add up to 0 in the whole text.
  void AddLeftOver() {
    absl::flat_hash_map<Key, int> sums;
    const auto key = [](const Uneven& uneven) {
      return Key(uneven.condition.expression, uneven.condition.of_definition);
    };
    for (const Uneven& uneven : brackets_.uneven) sums[key(uneven)] += uneven.difference;
    for (const Uneven& uneven : brackets_.uneven) {
      if (sums[key(uneven)] == 0) continue;
      brackets_.errors.push_back(uneven.at);
      brackets_.errors.push_back(uneven.before);
    }
  }

  const Code& code_;
  Brackets brackets_;
  std::vector<Open> opens_;
  uint32_t top_ = 0;
  std::vector<Conditional> conditionals_;
  bool other_ = false;                    // in a branch that is not the main one
  absl::flat_hash_map<Key, bool> known_;  // conditions asked before, and their answers
};

}  // namespace

bool Brackets::HasErrorIn(uint32_t first, uint32_t last) const {
  constexpr int kMaxUneven = 64;  // in one function; more count as an error, to bound the time
  const auto error = std::lower_bound(errors.begin(), errors.end(), first);
  if (error != errors.end() && *error <= last) return true;
  // A function is fine if its uneven conditionals balance one another: a brace that one #ifdef
  // opens, the next #ifdef on the same condition closes.
  auto at = std::lower_bound(uneven.begin(), uneven.end(), first,
                             [](const Uneven& a, uint32_t token) { return a.at < token; });
  absl::flat_hash_map<std::pair<absl::string_view, bool>, int> sums;
  for (int count = 0; at != uneven.end() && at->at <= last; ++at) {
    if (++count > kMaxUneven) return true;
    sums[{at->condition.expression, at->condition.of_definition}] += at->difference;
  }
  return std::any_of(sums.begin(), sums.end(), [](const auto& sum) { return sum.second != 0; });
}

Brackets MatchBrackets(const Code& code) { return Matcher(code).Run(); }

}  // namespace kernelmill::extractor::cuda
