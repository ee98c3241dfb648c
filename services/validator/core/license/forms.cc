#include "services/validator/core/license/forms.h"

namespace kernelmill::validator {
namespace {

constexpr LicensePhrase kPhrases[] = {
    {"LLVM-exception", "llvm exceptions to the apache 2.0 license"},
    {"LicenseRef-Commons-Clause", "commons clause license condition"},
    {"LicenseRef-NVIDIA-Proprietary",
     "without an express license agreement from nvidia corporation"},
    {"LicenseRef-Proprietary", "proprietary and confidential"},
    {"LicenseRef-OpenRAIL", "use based restrictions"},
    {"LicenseRef-NonCommercial", "non commercial use"},
    {"LicenseRef-NonCommercial", "non commercial purposes"},
    {"LicenseRef-NonCommercial", "noncommercial use"},
    {"LicenseRef-NonCommercial", "noncommercial purposes only"},
    {"LicenseRef-NonCommercial", "for research purposes only"},
    {"LicenseRef-NonCommercial", "research use only"},
};

constexpr const char* kBeginnings[] = {
    "permission is hereby granted free of charge to any person obtaining a copy",
    "permission is hereby granted free of charge to any person or organization obtaining a copy",
    "distribute this software for any purpose with or without fee is hereby granted",
    "redistribution and use in source and binary forms with or without modification are permitted",
};

}  // namespace

absl::Span<const LicensePhrase> LicensePhrases() { return kPhrases; }

absl::Span<const char* const> LicenseBeginnings() { return kBeginnings; }

}  // namespace kernelmill::validator
