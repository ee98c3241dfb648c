#include "dataset/export/redact.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/sensitive/sensitive.h"

// A finding names a place in one text of a kernel, but the same secret may be in its other texts,
// in its compilers' messages and in intermediate code. So redaction collects the found words and
// replaces each wherever it occurs. Letters and digits become x and everything else stays: lengths
// and places do not change, so that lines, columns and the other findings' places remain right.
namespace kernelmill::dataset {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Replacements = std::vector<std::pair<std::string, std::string>>;

// Returns the text in which a finding is.
const std::string& TextOf(const v1::Kernel& kernel, v1::Sensitive::Text text) {
  if (text == v1::Sensitive::TEXT_MODULE) return kernel.module();
  return text == v1::Sensitive::TEXT_LAUNCHER ? kernel.launcher().text() : kernel.source();
}

std::string WrittenOver(std::string text) {
  for (char& c : text) {
    if (absl::ascii_isalnum(c)) c = 'x';
  }
  return text;
}

// Places outside the text are ignored, so that damaged findings do no harm.
Replacements MakeReplacements(const v1::Kernel& kernel, const v1::Quality& quality,
                              const v1::QualityPolicy& policy) {
  std::set<std::string> texts;
  for (const v1::Sensitive& finding : quality.sensitive()) {
    const std::string& text = TextOf(kernel, finding.text());
    const auto size = static_cast<int64_t>(text.size());
    const bool inside =
        finding.begin() >= 0 && finding.size() > 0 && finding.begin() <= size - finding.size();
    if (inside && IsRedacted(finding, policy))
      texts.insert(text.substr(finding.begin(), finding.size()));
  }
  Replacements replacements;
  for (const std::string& text : texts) replacements.emplace_back(text, WrittenOver(text));
  return replacements;
}

// These fields name the kernel and its file; changing them would break references between rows.
bool IsIdentity(const FieldDescriptor& field) {
  return field.name() == "path" || field.name() == "name" || field.name() == "qualname";
}

// Replaces the words in all fields of the type bytes, in which texts of sources are. Descends no
// deeper than messages are declared within each other.
void Replace(const Replacements& replacements, Message* message) {
  const google::protobuf::Reflection& reflection = *message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool text = field->type() == FieldDescriptor::TYPE_BYTES && !IsIdentity(*field);
    const bool nested = field->type() == FieldDescriptor::TYPE_MESSAGE;
    if (!field->is_repeated()) {
      if (text) {
        reflection.SetString(
            message, field,
            absl::StrReplaceAll(reflection.GetString(*message, field), replacements));
      }
      if (nested) Replace(replacements, reflection.MutableMessage(message, field));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
      if (text) {
        reflection.SetRepeatedString(
            message, field, i,
            absl::StrReplaceAll(reflection.GetRepeatedString(*message, field, i), replacements));
      }
      if (nested) Replace(replacements, reflection.MutableRepeatedMessage(message, field, i));
    }
  }
}

// Replaces the words in the results of compilers, a message of the store or of a row: messages
// quote the code, and values of constants are code.
template <typename Compiled>
void ReplaceInResults(const Replacements& replacements, Compiled* compiled) {
  const auto replace = [&](std::string* text) { absl::StrReplaceAll(replacements, text); };
  for (auto& import : *compiled->mutable_imports()) replace(import.mutable_error());
  for (auto& result : *compiled->mutable_results()) replace(result.mutable_message());
  for (auto& signature : *compiled->mutable_signatures()) {
    for (auto& value : *signature.mutable_constexprs()) replace(value.mutable_value());
    for (auto& option : *signature.mutable_options()) replace(option.mutable_value());
  }
}

}  // namespace

// E-mail addresses have a policy of their own; all other findings are secrets.
bool IsRedacted(const v1::Sensitive& finding, const v1::QualityPolicy& policy) {
  const v1::SensitivePolicy asked = finding.kind() == "email" ? policy.emails() : policy.secrets();
  return asked == v1::SENSITIVE_POLICY_REDACT;
}

v1::Kernel Redacted(v1::Kernel kernel, const v1::Quality& quality,
                    const v1::QualityPolicy& policy) {
  const Replacements replacements = MakeReplacements(kernel, quality, policy);
  if (!replacements.empty()) Replace(replacements, &kernel);
  return kernel;
}

std::string RedactedText(const std::string& text, const v1::Kernel& kernel,
                         const v1::Quality& quality, const v1::QualityPolicy& policy) {
  const Replacements replacements = MakeReplacements(kernel, quality, policy);
  return replacements.empty() ? text : absl::StrReplaceAll(text, replacements);
}

v1::CompiledKernel RedactedEvidence(v1::CompiledKernel compiled, const v1::Kernel& kernel,
                                    const v1::Quality& quality, const v1::QualityPolicy& policy) {
  const Replacements replacements = MakeReplacements(kernel, quality, policy);
  if (!replacements.empty()) ReplaceInResults(replacements, &compiled);
  return compiled;
}

// The texts are those of a kernel for this: source, module and launcher are looked through.
void RedactTexts(const v1::QualityPolicy& policy, v1::ReferenceRow* row) {
  v1::Kernel texts;
  texts.set_source(row->reference().text());
  texts.set_module(row->reference().module());
  texts.mutable_launcher()->set_text(row->launcher().module());
  for (const v1::ReferenceRow::Comparison& comparison : row->comparisons()) {
    texts.mutable_source()->append("\n").append(comparison.text());
  }
  v1::Quality quality;
  for (v1::Sensitive& finding : sensitive::FindSensitive(texts)) {
    *quality.add_sensitive() = std::move(finding);
  }
  if (quality.sensitive().empty()) return;
  v1::QualityPolicy asked = policy;
  if (asked.secrets() == v1::SENSITIVE_POLICY_REJECT)
    asked.set_secrets(v1::SENSITIVE_POLICY_REDACT);
  if (asked.emails() == v1::SENSITIVE_POLICY_REJECT) asked.set_emails(v1::SENSITIVE_POLICY_REDACT);
  const Replacements replacements = MakeReplacements(texts, quality, asked);
  if (!replacements.empty()) Replace(replacements, row);
}

bool RedactTexts(const v1::QualityPolicy& policy, v1::HistoryRow* row) {
  v1::Kernel texts;
  texts.set_dsl(row->after().dsl());
  texts.set_source(
      absl::StrCat(row->before().source(), "\n", row->after().source(), "\n", row->message()));
  texts.set_module(absl::StrCat(row->before().module(), "\n", row->after().module()));
  texts.mutable_launcher()->set_text(
      absl::StrCat(row->before().launcher(), "\n", row->after().launcher()));
  v1::Quality quality;
  for (v1::Sensitive& finding : sensitive::FindSensitive(texts)) {
    const v1::SensitivePolicy asked =
        finding.kind() == "email" ? policy.emails() : policy.secrets();
    if (asked == v1::SENSITIVE_POLICY_REJECT) return false;
    *quality.add_sensitive() = std::move(finding);
  }
  if (quality.sensitive_size() >= static_cast<int>(sensitive::kMaxSensitive)) return false;
  const Replacements replacements = MakeReplacements(texts, quality, policy);
  if (replacements.empty()) return true;
  Replace(replacements, row);
  for (v1::HistoryRow::Version* version : {row->mutable_before(), row->mutable_after()}) {
    if (version->has_compile()) ReplaceInResults(replacements, version->mutable_compile());
  }
  return true;
}

}  // namespace kernelmill::dataset
