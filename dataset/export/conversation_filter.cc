#include "dataset/export/conversation_filter.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "common/base/hash.h"
#include "common/tokens/encoding.h"

namespace kernelmill::dataset {
namespace {

// Returns a hash of the text's words, so that texts that differ in white space alone are equal.
uint64_t HashWordSequence(absl::string_view text) {
  std::string words;
  words.reserve(text.size() + 1);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    while (at < text.size() && !absl::ascii_isspace(text[at])) ++at;
    if (at > begin) words.append(text.data() + begin, at - begin).push_back(' ');
    while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
  }
  return StableHash64(words);
}

}  // namespace

InstructKey MakeInstructKey(const Conversation& conversation) {
  return {conversation.template_name, HashWordSequence(conversation.user),
          HashWordSequence(conversation.assistant)};
}

int64_t CountTokens(const Conversation& conversation) {
  int64_t tokens = 0;
  for (const std::string* text :
       {&conversation.system, &conversation.user, &conversation.assistant}) {
    tokens += static_cast<int64_t>(bpe::Cl100kBase().Count(*text));
  }
  return tokens;
}

bool ConversationFilter::Add(const InstructKey& key) {
  const std::string name(key.template_name);
  const bool known_question = questions_.contains(key.question);
  if (!known_question && !answers_.contains(key.answer)) {
    questions_.insert(key.question);
    answers_.insert(key.answer);
    ++counts_.rows[name];
    return true;
  }
  ++counts_.excluded[name][known_question ? "repeated_question" : "repeated_answer"];
  return false;
}

void ConversationFilter::Count(const NotAsked& one) {
  ++counts_.excluded[std::string(one.template_name)][std::string(one.reason)];
}

}  // namespace kernelmill::dataset
