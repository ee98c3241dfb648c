#include "services/compiler/core/signature/names.h"

#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace kernelmill::compiler {

// Names as evidence, if the code says nothing. The basic idea: a name is split into words between
// '_', and a table of fragments is searched in its order. A fragment with '_' at an end matches
// only at the end of a word: "_num_" matches num_heads, not enumerate. A fragment without it
// matches within a word as well. The rule of the result names the fragment, so that the ledger
// shows what decided.

namespace {

// Fragments of "_words_of_a_name_", and what they say. The first that is found holds.
struct Fragment {
  absl::string_view text;
  absl::string_view value;
};

// x_ptr, XPtr and cuSeqlens as _x_ptr_, _x_ptr_, _cu_seqlens_.
std::string Words(absl::string_view name) {
  std::string words = "_";
  for (size_t i = 0; i < name.size(); ++i) {
    const bool capital = absl::ascii_isupper(static_cast<unsigned char>(name[i])) != 0;
    const bool after_small =
        i > 0 && absl::ascii_islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (capital && after_small) words += '_';
    words += absl::ascii_tolower(static_cast<unsigned char>(name[i]));
  }
  return words + "_";
}

// Returns the value of the first fragment that is in the name; the rule shows the fragment without
// its '_'.
std::optional<NameRule> FindFirst(absl::string_view name,
                                  std::initializer_list<Fragment> fragments) {
  const std::string words = Words(name);
  for (const Fragment& fragment : fragments) {
    if (!absl::StrContains(words, fragment.text)) continue;
    absl::string_view shown = fragment.text;
    while (absl::ConsumePrefix(&shown, "_")) {
    }
    while (absl::ConsumeSuffix(&shown, "_")) {
    }
    return NameRule{std::string(fragment.value), absl::StrCat("name:", shown)};
  }
  return std::nullopt;
}

}  // namespace

// In order: the first fragment that a name has counts, so that longer and surer ones come first.
std::optional<NameRule> ElementByName(absl::string_view name) {
  if (absl::StrContains(Words(name), "grad")) return std::nullopt;  // a float, whatever it is of
  return FindFirst(
      name,
      {
          {"_length", "i32"},      {"input_ids", "i64"},   {"cu_seq", "i32"},  {"scale", "fp32"},
          {"idx", "i32"},          {"indx", "i32"},        {"indices", "i32"}, {"_index", "i32"},
          {"indptr", "i32"},       {"seqlen", "i32"},      {"seq_len", "i32"}, {"offsets", "i32"},
          {"label", "i64"},        {"target", "i64"},      {"_ids_", "i32"},   {"_table", "i32"},
          {"slot_mapping", "i64"}, {"_slots_", "i32"},     {"_perm_", "i32"},  {"_lens_", "i32"},
          {"_count", "i32"},       {"_num_", "i32"},       {"_loc_", "i32"},   {"_lock", "i32"},
          {"_mask_", "i1"},        {"lse", "fp32"},        {"_rstd_", "fp32"}, {"_mean_", "fp32"},
          {"_seed_", "i64"},       {"_offset_", "i32"},    {"_start_", "i32"}, {"_sizes_", "i32"},
          {"tile_expert", "i32"},  {"argmax", "i64"},      {"argmin", "i64"},  {"_slot_", "i32"},
          {"_pos_ptr_", "i32"},    {"permutation", "i32"}, {"_inds_", "i32"},  {"_cids_", "i32"},
      });
}

// Floats that scale, clip or decay, strides and seeds. Other numbers have no rule here.
std::optional<NameRule> ScalarByName(absl::string_view name) {
  return FindFirst(name,
                   {
                       {"stride_", "i32"},       {"_eps", "fp32"},      {"epsilon", "fp32"},
                       {"scale", "fp32"},        {"_lr_", "fp32"},      {"learning_rate", "fp32"},
                       {"dropout", "fp32"},      {"_p_", "fp32"},       {"alpha", "fp32"},
                       {"_beta", "fp32"},        {"gamma", "fp32"},     {"momentum", "fp32"},
                       {"weight_decay", "fp32"}, {"decay", "fp32"},     {"smoothing", "fp32"},
                       {"softcap", "fp32"},      {"logit_cap", "fp32"}, {"slope", "fp32"},
                       {"temperature", "fp32"},  {"threshold", "fp32"}, {"_prob", "fp32"},
                       {"_std_", "fp32"},        {"factor", "fp32"},    {"_min_val", "fp32"},
                       {"_max_val", "fp32"},     {"clamp", "fp32"},     {"_seed", "i64"},
                   });
}

// Sizes are powers of two, since the shapes of Triton's tensors are. Flags are off, except EVEN.
// Fragments of flags come before block and the like: USE_BLOCK is a flag.
std::optional<NameRule> ConstexprByName(absl::string_view name) {
  return FindFirst(name, {
                             {"_offset", "16"},       {"stride_", "64"},
                             {"_num_warps_", "4"},    {"_num_stages_", "2"},
                             {"_num_ctas_", "1"},     {"_even_", "True"},
                             {"_is_", "False"},       {"_has_", "False"},
                             {"_use_", "False"},      {"_with_", "False"},
                             {"_enable", "False"},    {"_do_", "False"},
                             {"_need", "False"},      {"_allow", "False"},
                             {"causal", "False"},     {"_flag_", "False"},
                             {"reverse", "False"},    {"_trans", "False"},
                             {"_apply_", "False"},    {"_store_", "False"},
                             {"_return_", "False"},   {"_output_final", "False"},
                             {"_skip_", "False"},     {"_group_size_m_", "8"},
                             {"_group_m_", "8"},      {"_log2", "4"},
                             {"_half", "32"},         {"dtype_max", "448.0"},
                             {"dtype_min", "-448.0"}, {"fp8_max", "448.0"},
                             {"_factor_", "2"},       {"block", "64"},
                             {"_blk", "64"},          {"tile", "64"},
                             {"chunk", "64"},         {"head_dim", "64"},
                             {"group_size", "64"},    {"_dim_", "64"},
                             {"_size_", "64"},        {"hidden", "64"},
                             {"_bits_", "4"},         {"_num_", "4"},
                             {"_n_", "64"},           {"_split", "4"},
                             {"_topk_", "4"},         {"_top_k_", "4"},
                             {"_eps", "1e-06"},       {"scale", "1.0"},
                             {"momentum", "0.9"},     {"_beta1_", "0.9"},
                             {"_beta2_", "0.99"},     {"weight_decay", "0.01"},
                             {"temperature", "1.0"},
                         });
}

// The values are expressions of Python, so that strings have quotes.
std::optional<std::string> ConstexprByKeyword(absl::string_view keyword) {
  static constexpr std::pair<absl::string_view, absl::string_view> kValues[] = {
      {"input_precision", "'ieee'"},
      {"allow_tf32", "False"},
      {"eviction_policy", "''"},
      {"cache_modifier", "''"},
      {"padding_option", "'zero'"},
      {"num_stages", "2"},
      {"sem", "'relaxed'"},
      {"scope", "'gpu'"},
      {"flatten", "False"},
      {"warp_specialize", "False"},
      {"reverse", "False"},
      {"keep_dims", "False"},
      {"disallow_acc_multi_buffer", "False"},
      {"loop_unroll_factor", "1"},
      {"axis", "0"},
      {"bitcast", "False"},
      {"max_num_imprecise_acc", "0"},
      {"volatile", "False"},
      {"fp_downcast_rounding", "'rtne'"}};
  for (const auto& [name, value] : kValues) {
    if (name == keyword) return std::string(value);
  }
  return std::nullopt;
}

namespace {

// One row has the names of one type.
struct ElementType {
  absl::string_view element;
  absl::string_view torch;
  absl::string_view language;  // Triton's language
};

constexpr ElementType kTypes[] = {{"fp64", "float64", "float64"},
                                  {"fp32", "float32", "float32"},
                                  {"fp16", "float16", "float16"},
                                  {"bf16", "bfloat16", "bfloat16"},
                                  {"i64", "int64", "int64"},
                                  {"i32", "int32", "int32"},
                                  {"i16", "int16", "int16"},
                                  {"i8", "int8", "int8"},
                                  {"u64", "uint64", "uint64"},
                                  {"u32", "uint32", "uint32"},
                                  {"u16", "uint16", "uint16"},
                                  {"u8", "uint8", "uint8"},
                                  {"i1", "bool", "int1"},
                                  {"fp8e4nv", "float8_e4m3fn", "float8e4nv"},
                                  {"fp8e5", "float8_e5m2", "float8e5"}};

// Other names that PyTorch has for some of them.
constexpr ElementType kAliases[] = {{"fp64", "double", ""}, {"fp32", "float", ""},
                                    {"fp16", "half", ""},   {"i64", "long", ""},
                                    {"i32", "int", ""},     {"i16", "short", ""}};

}  // namespace

std::string TritonType(absl::string_view name) {
  for (const ElementType& type : kTypes) {
    if (name == type.torch || name == type.language) return std::string(type.element);
  }
  for (const ElementType& alias : kAliases) {
    if (name == alias.torch) return std::string(alias.element);
  }
  return "";
}

absl::string_view TorchType(absl::string_view element) {
  for (const ElementType& type : kTypes) {
    if (element == type.element) return type.torch;
  }
  return "int32";
}

absl::string_view LanguageType(absl::string_view element) {
  for (const ElementType& type : kTypes) {
    if (element == type.element) return type.language;
  }
  return "float32";
}

}  // namespace kernelmill::compiler
