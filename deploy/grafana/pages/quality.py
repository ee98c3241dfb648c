"""Defines the dashboard of results: kernels by fate, licences, files by outcome."""

from panels import Page, Panel, Row, total

DATASETS = Row("Datasets made", [
    Panel("Kernels", "Of datasets made in the time shown.", "short",
          [("sum(increase(kernelmill_coordinator_kernels_total[$__range]))", "found")], "stat", 6),
    Panel("Kept", "Share of those found.", "percentunit",
          [('sum(increase(kernelmill_coordinator_kernels_total{fate="kept"}[$__range])) / '
            "sum(increase(kernelmill_coordinator_kernels_total[$__range]))", "kept")], "stat", 6),
    Panel("Duplicates", "Share of those found.", "percentunit",
          [('sum(increase(kernelmill_coordinator_kernels_total{fate="duplicate"}[$__range])) / '
            "sum(increase(kernelmill_coordinator_kernels_total[$__range]))", "duplicate")], "stat", 6),
    Panel("Contaminated", "Share of those found.", "percentunit",
          [('sum(increase(kernelmill_coordinator_kernels_total{fate="contaminated"}[$__range])) / '
            "sum(increase(kernelmill_coordinator_kernels_total[$__range]))", "contaminated")], "stat", 6,
          limits=(0.05, 0.2)),
    Panel("Kernels by fate", "And the rule that decided.", "short",
          [("sum by (fate, rule) (increase(kernelmill_coordinator_kernels_total[$__range])) > 0", "{{fate}} {{rule}}")],
          "bars"),
    Panel("Files by what became of them", "And why.", "short",
          [("sum by (result, reason) (increase(kernelmill_coordinator_files_total[$__range])) > 0", "{{result}} {{reason}}")],
          "bars"),
])

STAGES = Row("As it is found", [
    Panel("Kernels found", "By language, a second.", "ops",
          [(total("kernelmill_extractor_kernels_total", "dsl"), "{{dsl}}")], stacked=True),
    Panel("Files read", "Extracted and failed.", "ops",
          [(total("kernelmill_extractor_files_total", "result, reason"), "{{result}} {{reason}}")], stacked=True),
    Panel("Kernels compiled", "By toolchain, target and what the compiler said.", "ops",
          [(total("kernelmill_compiler_kernels_total", "toolchain, target, status"), "{{toolchain}} {{target}} {{status}}")],
          stacked=True),
    Panel("Kernels not compiled", "By why no compiler was asked.", "ops",
          [(total("kernelmill_compiler_not_attempted_total", "reason"), "{{reason}}")], stacked=True),
    Panel("Verdicts", "By rule.", "ops",
          [(total("kernelmill_validator_kernels_total", "verdict, rule"), "{{verdict}} {{rule}}")], stacked=True),
    Panel("Licences", "Where they were found.", "ops",
          [(total("kernelmill_validator_licenses_total", "kind"), "{{kind}}")], stacked=True),
    Panel("Decisions", "On duplicates and contamination.", "ops",
          [(total("kernelmill_deduplicator_kernels_total", "fate, rule"), "{{fate}} {{rule}}")], stacked=True),
])

PAGE = Page("kernelmill-quality", "kernelmill: dataset quality", "What comes out, and what falls out on the way.",
            [DATASETS, STAGES])
