#include "dataset/export/fill_rows.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/hash.h"
#include "common/base/text.h"
#include "common/dsl/dialects.h"
#include "common/manifest/ledger.h"
#include "common/source_files/whole_files.h"
#include "common/tokens/special_tokens.h"
#include "dataset/export/place.h"
#include "dataset/export/redact.h"
#include "dataset/training/infill.h"

// Fills the messages of rows from the messages of the stages and the index. Most fields have the
// same name and type on both sides and are copied by reflection (FieldCopier); the code below names
// only those that differ. FieldCopier resolves the fields once for each pair of types, so that
// copying a row looks up nothing by name.
namespace kernelmill::dataset {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Ends the program: the messages of the stages and of the rows do not fit each other, which the
// first test that fills such a row shows.
[[noreturn]] void Abort(const std::string& from, const std::string& to) {
  std::fprintf(stderr, "rows.proto: %s has nothing that fits %s\n", from.c_str(), to.c_str());
  std::abort();
}

// Copies a message of a stage into the message of a row that has some of its fields, by the same
// names and types: such a field needs no line here. The row's message may have no others.
class FieldCopier {
 public:
  // Pairs the fields by name and checks their types. Any mismatch ends the program at first use.
  FieldCopier(const Descriptor& from, const Descriptor& to) {
    for (int i = 0; i < to.field_count(); ++i) {
      Pair pair;
      pair.to = to.field(i);
      pair.from = from.FindFieldByName(pair.to->name());
      const bool fits = pair.from != nullptr && pair.from->cpp_type() == pair.to->cpp_type() &&
                        pair.from->is_repeated() == pair.to->is_repeated();
      if (!fits) Abort(from.full_name(), pair.to->full_name());
      if (pair.to->message_type() != nullptr) {
        pair.nested =
            std::make_unique<FieldCopier>(*pair.from->message_type(), *pair.to->message_type());
      }
      pairs_.push_back(std::move(pair));
    }
  }

  // Copies what is set; unset fields stay unset.
  void Copy(const Message& from, Message* to) const {
    const Reflection& reading = *from.GetReflection();
    const Reflection& writing = *to->GetReflection();
    for (const Pair& pair : pairs_) {
      if (pair.to->is_repeated()) {
        const int size = reading.FieldSize(from, pair.from);
        for (int i = 0; i < size; ++i) CopyElement(from, i, pair, to);
      } else if (reading.HasField(from, pair.from)) {
        switch (pair.to->cpp_type()) {
          case FieldDescriptor::CPPTYPE_STRING:
            writing.SetString(to, pair.to, reading.GetString(from, pair.from));
            break;
          case FieldDescriptor::CPPTYPE_INT32:
            writing.SetInt32(to, pair.to, reading.GetInt32(from, pair.from));
            break;
          case FieldDescriptor::CPPTYPE_INT64:
            writing.SetInt64(to, pair.to, reading.GetInt64(from, pair.from));
            break;
          case FieldDescriptor::CPPTYPE_DOUBLE:
            writing.SetDouble(to, pair.to, reading.GetDouble(from, pair.from));
            break;
          case FieldDescriptor::CPPTYPE_BOOL:
            writing.SetBool(to, pair.to, reading.GetBool(from, pair.from));
            break;
          case FieldDescriptor::CPPTYPE_ENUM:
            writing.SetEnumValue(to, pair.to, reading.GetEnumValue(from, pair.from));
            break;
          case FieldDescriptor::CPPTYPE_MESSAGE:
            pair.nested->Copy(reading.GetMessage(from, pair.from),
                              writing.MutableMessage(to, pair.to));
            break;
          default:
            Abort(from.GetTypeName(), pair.to->full_name());  // no row has such a field
        }
      }
    }
  }

 private:
  struct Pair {
    const FieldDescriptor* from = nullptr;
    const FieldDescriptor* to = nullptr;
    std::unique_ptr<FieldCopier> nested;  // the fields of a message
  };

  // Lists are of texts or messages.
  static void CopyElement(const Message& from, int index, const Pair& pair, Message* to) {
    const Reflection& reading = *from.GetReflection();
    if (pair.nested != nullptr) {
      pair.nested->Copy(reading.GetRepeatedMessage(from, pair.from, index),
                        to->GetReflection()->AddMessage(to, pair.to));
    } else {
      to->GetReflection()->AddString(to, pair.to,
                                     reading.GetRepeatedString(from, pair.from, index));
    }
  }

  std::vector<Pair> pairs_;
};

// Makes the copier at first use and keeps it. Thread-safe.
template <typename From, typename To>
void CopyFields(const From& from, To* to) {
  static const FieldCopier& copier = *new FieldCopier(*From::descriptor(), *To::descriptor());
  copier.Copy(from, to);
}

template <typename From, typename To>
void CopyFields(const google::protobuf::RepeatedPtrField<From>& from,
                google::protobuf::RepeatedPtrField<To>* to) {
  for (const From& element : from) CopyFields(element, to->Add());
}

// Fills the job's settings for the source of a kept kernel or file.
template <typename Row>
void FillSourceTerms(const DatasetIndex& index, uint32_t number, Row* row) {
  const SourceEntry& source = index.GetSource(number);
  row->set_category(source.category);
  row->set_source_tier(source.tier);
  row->set_weight(source.weight);
  row->set_split(std::string(index.GetSplit(number)));
  row->set_hash_computed(source.hash_computed);
}

// Fills the fields by which a trainer selects and weighs any row.
template <typename Row>
void FillTrainingFields(const DatasetIndex& index, uint32_t number, const v1::Verdict& verdict,
                        Row* row) {
  const SourceEntry& source = index.GetSource(number);
  row->set_id(index.kernels[number].id());
  row->set_repository(source.repository);
  row->set_license(verdict.license().expression());
  row->set_category(source.category);
  row->set_weight(source.weight);
  row->set_split(std::string(index.GetSplit(number)));
}

// Ids are sorted, since kernels' numbers depend on the order of the sources.
template <typename Row>
void FillDuplicates(const DatasetIndex& index, uint32_t number, Row* row) {
  std::vector<std::string> ids;
  for (const auto& [leader, duplicate] : index.FindDuplicates(number)) {
    ids.push_back(index.kernels[duplicate].id());
  }
  std::sort(ids.begin(), ids.end());
  *row->mutable_duplicates() = {ids.begin(), ids.end()};
}

// The holdouts' kernels that a candidate matches, the gravest first, and the sum of the matches
// that decide nothing.
template <typename Row>
void FillContamination(const DatasetIndex& index, uint32_t number, Row* row) {
  const v1::Decision& decision = index.DecisionOn(number);
  for (const v1::Contamination& match : decision.contamination()) {
    v1::RowContamination* to = row->add_contamination();
    FillPlace(index, match.holdout(), to->mutable_holdout());
    to->set_rule(match.rule());
    to->set_score(match.score());
    to->set_text(match.text());
    to->set_holdout_text(match.holdout_text());
    to->set_copies(match.copies());
    to->set_holdout_pointer(match.json_pointer());
  }
  row->set_contamination_weak_matches(decision.weak_matches());
  if (decision.weak_matches() > 0) row->set_contamination_weak_score(decision.weak_score());
}

// Lists findings with their places, and says of each whether the text was written over.
template <typename Row>
void FillSensitive(const v1::Quality& quality, const v1::QualityPolicy& policy, Row* row) {
  for (const v1::Sensitive& finding : quality.sensitive()) {
    v1::RowSensitive* to = row->add_sensitive();
    to->set_kind(finding.kind());
    to->set_text(finding.text());
    to->set_begin(finding.begin());
    to->set_size(finding.size());
    to->set_redacted(IsRedacted(finding, policy));
  }
}

// Adds the special tokens of a text; `field` is its pointer into the row.
template <typename Row>
void AddSpecialTokens(const std::string& field, absl::string_view text, Row* row) {
  for (SpecialToken& found : FindSpecialTokens(text)) {
    v1::RowSpecialToken* to = row->add_special_tokens();
    to->set_token(std::move(found.token));
    to->set_models(std::string(found.models));
    to->set_field(field);
    to->set_count(found.count);
    to->set_look_alike(found.look_alike);
  }
}

// The texts of the row are those that are exported, with what is redacted in them.
void FillSpecialTokens(v1::KernelRow* row) {
  AddSpecialTokens("/source", row->source(), row);
  AddSpecialTokens("/module", row->module(), row);
  AddSpecialTokens("/prompt_context", row->prompt_context(), row);
  AddSpecialTokens("/docstring", row->docstring(), row);
  AddSpecialTokens("/launcher/text", row->launcher().text(), row);
}

// Fills the texts of a kernel and what was found about their names.
void FillTexts(const v1::Kernel& kernel, v1::KernelRow* row) {
  row->set_source(kernel.source());
  row->set_module(kernel.module());
  row->set_prompt_context(kernel.prompt_context());
  FillPieces(kernel.pieces(), row->mutable_pieces());
  row->set_self_contained(kernel.self_contained());
  *row->mutable_free_names() = kernel.free_names();
  CopyFields(kernel.unresolved_names(), row->mutable_unresolved_names());
  CopyFields(kernel.dropped_decorators(), row->mutable_dropped_decorators());
  CopyFields(kernel.replaced_texts(), row->mutable_replaced_texts());
  row->set_signature(kernel.signature());
  row->set_docstring(kernel.docstring());
  *row->mutable_decorators() = kernel.decorators();
  *row->mutable_calls() = kernel.calls();
}

// `default` is a keyword of C++, so protobuf's setter ends in an underscore.
template <typename Row>
void FillParameters(const v1::Kernel& kernel, Row* row) {
  for (const v1::Parameter& parameter : kernel.parameters()) {
    v1::KernelRow::Parameter* to = row->add_parameters();
    to->set_name(parameter.name());
    to->set_annotation(parameter.annotation());
    to->set_default_(parameter.default_value());
    to->set_role(parameter.role());
    to->set_rule(parameter.rule());
  }
}

// Values are source text, not numbers: configurations may have expressions.
void FillAutotune(const v1::Autotune& autotune, v1::KernelRow::Autotune* to) {
  const auto add = [](const v1::NamedText& text, v1::KernelRow::NamedValue* value) {
    value->set_name(text.name());
    value->set_value(text.text());
  };
  to->set_decorator(autotune.decorator());
  for (const v1::Autotune::Config& config : autotune.configs()) {
    v1::KernelRow::Autotune::Config* added = to->add_configs();
    for (const v1::NamedText& text : config.kwargs()) add(text, added->add_kwargs());
    for (const v1::NamedText& text : config.options()) add(text, added->add_options());
  }
  to->set_resolved(autotune.resolved());
  to->set_expression(autotune.expression());
  *to->mutable_key() = autotune.key();
  to->set_key_expression(autotune.key_expression());
}

// Names the model and the graph of a kernel that TorchInductor generated.
void FillInductor(const v1::Kernel& kernel, v1::KernelRow::Inductor* to) {
  const v1::InductorOrigin& origin = kernel.inductor();
  to->set_model(origin.model());
  to->set_graph(origin.graph());
  to->set_kernel_path(origin.kernel_path());
  to->set_source_node(origin.source_node());
  to->set_in_string(kernel.form() == v1::KERNEL_FORM_STRING);
}

// Fills the fields that were read from the texts.
void FillDerivedFields(const v1::Kernel& kernel, v1::KernelRow* row) {
  FillParameters(kernel, row);
  if (kernel.has_autotune()) FillAutotune(kernel.autotune(), row->mutable_autotune());
  if (kernel.has_heuristics()) CopyFields(kernel.heuristics(), row->mutable_heuristics());
  if (kernel.has_launcher()) CopyFields(kernel.launcher(), row->mutable_launcher());
  row->set_requires_triton(kernel.requires_triton());
  row->set_requires_triton_path(kernel.requires_triton_path());
  if (const std::optional<dsl::Dialect> dialect = dsl::FindDialect(kernel)) {
    row->mutable_dialect()->set_name(dialect->name);
    row->mutable_dialect()->set_requirement(dialect->requirement);
    row->mutable_dialect()->set_found_by(dialect->found_by);
  }
  for (const v1::Tag& tag : kernel.tags()) row->add_tags(tag.name());
  CopyFields(kernel.tags(), row->mutable_tag_rules());
  *row->mutable_features() = kernel.features();
  row->set_lexical_tokens(kernel.tokens());
  if (kernel.has_inductor()) FillInductor(kernel, row->mutable_inductor());
  if (kernel.has_context()) CopyFields(kernel.context(), row->mutable_context());
  if (kernel.has_cuda()) CopyFields(kernel.cuda(), row->mutable_cuda());
}

// Each check is a field of CheckOutcomes by its name. Reasons are listed apart, since few checks
// have one.
void FillChecks(const v1::Verdict& verdict, v1::KernelRow* row) {
  v1::KernelRow::CheckOutcomes* checks = row->mutable_checks();
  for (const v1::RuleResult& result : verdict.rules()) {
    const FieldDescriptor* check = checks->GetDescriptor()->FindFieldByName(result.rule());
    if (check == nullptr) continue;  // a check of an older version
    checks->GetReflection()->SetEnumValue(checks, check, result.outcome());
    if (result.reason().empty()) continue;
    v1::KernelRow::CheckReason* reason = row->add_check_reasons();
    reason->set_check(result.rule());
    reason->set_reason(result.reason());
  }
}

void FillQuality(const v1::Quality& quality, const v1::QualityPolicy& policy,
                 v1::KernelRow::Quality* to) {
  to->set_score(quality.score());
  to->set_tier(quality.tier());
  to->set_loads(quality.masks().loads());
  to->set_masked_loads(quality.masks().masked_loads());
  to->set_stores(quality.masks().stores());
  to->set_masked_stores(quality.masks().masked_stores());
  to->set_longest_line(quality.longest_line());
  to->set_mean_line(quality.mean_line());
  to->set_comment_ratio(quality.comment_ratio());
  to->set_generated(quality.generated());
  FillSensitive(quality, policy, to);
}

// Says whether the result's signature has a place among the kernel's. It has none if the module
// could not be loaded or no signature was found, since then nothing was compiled by one.
bool HasSignature(const v1::CompileResult& result, const v1::CompiledKernel& compiled) {
  const bool loaded = std::any_of(compiled.imports().begin(), compiled.imports().end(),
                                  [&](const v1::ModuleImport& import) {
                                    return import.ok() && import.toolchain() == result.toolchain();
                                  });
  return loaded && result.signature() >= 0 && result.signature() < compiled.signatures_size();
}

}  // namespace

void FillPieces(const google::protobuf::RepeatedPtrField<v1::ModulePiece>& pieces,
                google::protobuf::RepeatedPtrField<v1::KernelRow::Piece>* to) {
  CopyFields(pieces, to);
}

// Sizes exist only for a kernel that compiled; for others they stay unset.
void FillCompile(const v1::CompiledKernel& compiled, v1::KernelRow::Compile* to) {
  to->set_not_attempted(compiled.not_attempted());
  CopyFields(compiled.imports(), to->mutable_imports());
  CopyFields(compiled.signatures(), to->mutable_signatures());
  for (const v1::CompileResult& result : compiled.results()) {
    v1::KernelRow::Compile::Result* added = to->add_results();
    added->set_toolchain(result.toolchain());
    added->set_target(result.target());
    added->set_status(result.status());
    if (HasSignature(result, compiled)) added->set_signature(result.signature());
    added->set_stage(result.stage());
    added->set_message(result.message());
    added->set_line(result.line());
    added->set_missing(result.missing());
    if (result.status() == v1::COMPILE_STATUS_OK) {
      added->set_registers(result.registers());
      added->set_shared_bytes(result.shared_bytes());
      added->set_spill_bytes(result.spill_bytes());
      added->set_instructions(result.instructions());
    }
    added->set_limited(result.limited());
    CopyFields(result.forms(), added->mutable_forms());
  }
}

// Fills what the validator found: tokens, licence, checks, quality, kind, target, and the
// compilers' results.
void FillVerdict(const v1::Verdict& verdict, const v1::QualityPolicy& policy, v1::KernelRow* row) {
  CopyFields(verdict.source_tokens(), row->mutable_tokens());
  CopyFields(verdict.module_tokens(), row->mutable_module_tokens());
  CopyFields(verdict.license(), row->mutable_license());
  FillChecks(verdict, row);
  FillQuality(verdict.quality(), policy, row->mutable_quality());
  row->set_kind(verdict.kind());
  row->set_kind_rule(verdict.kind_rule());
  row->set_target(verdict.target());
  row->set_target_rule(verdict.target_rule());
  if (verdict.has_compiled()) FillCompile(verdict.compiled(), row->mutable_compile());
}

void FillKernelRow(const KeptKernel& kept, absl::string_view fim_sha1,
                   absl::string_view fim_excluded, v1::KernelRow* row) {
  const auto& [index, number, kernel, verdict] = kept;
  FillIdentity(index, number, row);
  row->set_name(kernel.name());
  row->set_qualname(kernel.qualname());
  row->set_found_by(kernel.found_by());
  row->set_applied_by(kernel.applied_by());
  FillSourceTerms(index, number, row);
  row->set_cluster(kernel.id());
  FillDuplicates(index, number, row);
  FillTexts(kernel, row);
  FillDerivedFields(kernel, row);
  row->set_fim_sha1(absl::BytesToHexString(fim_sha1));
  row->set_fim_excluded(std::string(fim_excluded));
  FillVerdict(verdict, index.manifest.quality(), row);
  FillContamination(index, number, row);
  row->set_word_overlap(std::max(0.0, index.DecisionOn(number).word_overlap()));
  FillSpecialTokens(row);
}

void FillReferenceRow(const KeptKernel& kept, const v1::KernelReferences& references,
                      const v1::TestReference* test, v1::ReferenceRow* row) {
  const auto& [index, number, kernel, verdict] = kept;
  const SourceEntry& source = index.GetSource(number);
  row->set_kernel_id(kernel.id());
  row->set_repository(source.repository);
  row->set_path(kernel.path());
  row->set_first_line(kernel.first_line());
  row->set_last_line(kernel.last_line());
  row->set_url(
      WebLink(source.url, source.commit, kernel.path(), kernel.first_line(), kernel.last_line()));
  row->set_name(kernel.name());
  row->set_module_sha256(Sha256Hex(kernel.module()));
  row->set_status(test == nullptr ? references.reason() : test->status());
  const bool withheld =
      manifest::WithholdsLauncher(index.DecisionOn(number), index.manifest.dedup().contamination());
  // One row of a kernel has it: it is the same for all, and large.
  const bool first = test == nullptr || test == &references.tests(0);
  if (first && references.has_launcher() && !withheld) {
    CopyFields(references.launcher(), row->mutable_launcher());
  }
  if (test != nullptr) {
    v1::ReferenceRow::Test& place = *row->mutable_test();
    place.set_path(test->path());
    place.set_qualname(test->qualname());
    place.set_first_line(test->first_line());
    place.set_last_line(test->last_line());
    place.set_url(
        WebLink(source.url, source.commit, test->path(), test->first_line(), test->last_line()));
    *row->mutable_chain() = test->chain();
    row->set_entry(test->entry());
    row->set_entry_path(test->entry_path());
    CopyFields(test->comparisons(), row->mutable_comparisons());
    if (test->has_reference()) CopyFields(test->reference(), row->mutable_reference());
    CopyFields(test->cases(), row->mutable_cases());
    row->set_cases_total(test->cases_total());
    *row->mutable_open_parameters() = test->open_parameters();
  }
  row->set_further_tests(references.further_tests());
  row->set_license(verdict.license().expression());
  row->set_category(source.category);
  row->set_weight(source.weight);
  row->set_split(std::string(index.GetSplit(number)));
}

// A whole file is numbered like a kernel, and its row has the ids of the kept kernels within it.
void FillFileRow(const KeptKernel& kept, const std::vector<std::string>& kernels,
                 v1::FileRow* row) {
  const auto& [index, number, file, verdict] = kept;
  const SourceEntry& source = index.GetSource(number);
  const FileEntry& entry = index.GetFile(number);
  row->set_id(index.kernels[number].id());
  row->set_repository(source.repository);
  row->set_repository_url(source.url);
  row->set_commit(source.commit);
  row->set_url(WebLink(source.url, source.commit, entry.path, 0, 0));
  row->set_path(entry.path);
  row->set_sha256(entry.sha256());
  row->set_language(std::string(source_files::LanguageOfFile(entry.path)));
  FillSourceTerms(index, number, row);
  row->set_text(file.source());
  row->set_bytes(entry.size_bytes);
  row->set_lines(entry.lines);
  CopyFields(verdict.source_tokens(), row->mutable_tokens());
  CopyFields(verdict.license(), row->mutable_license());
  row->set_generated(verdict.quality().generated());
  FillSensitive(verdict.quality(), index.manifest.quality(), row);
  *row->mutable_kernels() = {kernels.begin(), kernels.end()};
  FillDuplicates(index, number, row);
  FillContamination(index, number, row);
  AddSpecialTokens("/text", row->text(), row);
}

// The infill is cut by the pair's own hash, so it needs nothing else.
void FillFimRow(const KeptKernel& kept, const manifest::FimPair& pair, absl::string_view sha1,
                v1::FimRow* row) {
  Infill infill = CutInfill(pair, sha1);
  row->set_prompt(pair.prompt);
  row->set_completion(pair.completion);
  row->set_prefix(std::move(infill.prefix));
  row->set_middle(std::move(infill.middle));
  row->set_suffix(std::move(infill.suffix));
  row->set_sha1(absl::BytesToHexString(sha1));
  FillTrainingFields(kept.index, kept.number, kept.verdict, row);
  AddSpecialTokens("/prompt", row->prompt(), row);
  AddSpecialTokens("/completion", row->completion(), row);
}

namespace {

// A conversation is three messages: system, user, assistant.
void FillConversation(const Conversation& conversation, v1::InstructRow* row) {
  const auto add = [row](const char* role, const std::string& content) {
    AddSpecialTokens(absl::StrCat("/messages/", row->messages_size(), "/content"), content, row);
    v1::InstructRow::Message* message = row->add_messages();
    message->set_role(role);
    message->set_content(content);
  };
  row->set_template_(std::string(conversation.template_name));
  add("system", conversation.system);
  add("user", conversation.user);
  add("assistant", conversation.assistant);
}

}  // namespace

void FillInstructRow(const KeptKernel& kept, const Conversation& conversation,
                     v1::InstructRow* row) {
  FillConversation(conversation, row);
  FillTrainingFields(kept.index, kept.number, kept.verdict, row);
}

void FillInstructRow(const v1::HistoryRow& change, const Conversation& conversation,
                     v1::InstructRow* row) {
  FillConversation(conversation, row);
  row->set_id(change.kernel_id());
  row->set_change_id(change.change_id());
  row->set_repository(change.repository());
  row->set_license(change.license());
  row->set_category(change.category());
  row->set_weight(change.weight());
  row->set_split(change.split());
}

void FillTaskRow(const KeptKernel& kept, v1::TaskRow* row) {
  const auto& [index, number, kernel, verdict] = kept;
  FillIdentity(index, number, row);
  row->set_name(kernel.name());
  row->set_qualname(kernel.qualname());
  row->set_module(kernel.module());
  row->set_module_sha256(Sha256Hex(ToUtf8(kernel.module())));
  row->set_target(verdict.target());
  FillParameters(kernel, row);
  row->set_license(verdict.license().expression());
  FillSourceTerms(index, number, row);
  FillDuplicates(index, number, row);
  FillContamination(index, number, row);
}

void FillTaskTokens(v1::TaskRow* row) {
  AddSpecialTokens("/text", row->text(), row);
  AddSpecialTokens("/module", row->module(), row);
}

void FillGraphTokens(v1::GraphRow* row) {
  AddSpecialTokens("/pytorch", row->pytorch(), row);
  AddSpecialTokens("/model_source", row->model_source(), row);
  AddSpecialTokens("/wrapper", row->wrapper(), row);
}

void FillParallelTokens(v1::ParallelRow* row) {
  AddSpecialTokens("/a/module", row->a().module(), row);
  AddSpecialTokens("/a/launcher/text", row->a().launcher().text(), row);
  AddSpecialTokens("/b/module", row->b().module(), row);
  AddSpecialTokens("/b/launcher/text", row->b().launcher().text(), row);
}

void FillParallelKernel(const KeptKernel& kept, v1::ParallelRow::Kernel* row) {
  const auto& [index, number, kernel, verdict] = kept;
  FillIdentity(index, number, row);
  row->set_name(kernel.name());
  row->set_qualname(kernel.qualname());
  row->set_module(kernel.module().empty() ? kernel.source() : kernel.module());
  row->set_self_contained(kernel.self_contained());
  if (kernel.has_launcher()) CopyFields(kernel.launcher(), row->mutable_launcher());
  row->set_license(verdict.license().expression());
}

void FillLedgerRow(const DatasetIndex& index, uint32_t number, v1::LedgerRow* row) {
  const v1::Decision& decision = index.DecisionOn(number);
  // A kernel that is rejected for the sake of one that is opted out names that one too.
  const bool of_another = decision.fate() != v1::FATE_KEPT && decision.leader() != number;
  FillIdentity(index, number, row);
  row->set_name(index.kernels[number].name);
  row->set_qualname(index.kernels[number].qualname);
  row->set_fate(std::string(manifest::FateName(decision.fate())));
  row->set_reason(decision.reason());
  if (of_another) {
    row->set_of(index.kernels[decision.leader()].id());
    row->set_similarity(decision.similarity());
  }
  row->set_preferred_by(decision.preferred_by());
  FillContamination(index, number, row);
}

// The link is to the whole file.
void FillNoticeRow(const SourceEntry& source, const v1::SourceFile& file, v1::NoticeRow* row) {
  row->set_repository(source.repository);
  row->set_repository_url(source.url);
  row->set_commit(source.commit);
  row->set_path(file.path());
  row->set_url(WebLink(source.url, source.commit, file.path(), 0, 0));
  row->set_sha256(Sha256Hex(file.content()));
  row->set_text(file.content());
}

}  // namespace kernelmill::dataset
