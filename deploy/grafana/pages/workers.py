"""Defines the dashboard of workers: the number of each kind, their tasks, and their resources."""

from panels import Page, Panel, Row, spread, total

ROLE = '{job=~"$role"}'

WHO = Row("Who works", [
    Panel("Connected workers", "As the coordinator hears of them, by stage and version.", "short",
          [("sum by (stage, version) (kernelmill_coordinator_workers)", "{{stage}} {{version}}")]),
    Panel("Slots busy", "By role.", "percentunit",
          [(f"sum by (job) (kernelmill_worker_busy_slots{ROLE}) / sum by (job) (kernelmill_worker_slots{ROLE})",
            "{{job}}")]),
    Panel("Builds", "Processes by release.", "short", [("count by (job, version) (kernelmill_build_info)", "{{job}} {{version}}")],
          "table"),
    Panel("Out of reach", "Workers that wait for the store or the coordinator.", "short",
          [(f"sum by (job, peer) (kernelmill_worker_waiting_for{ROLE})", "{{job}}: {{peer}}")]),
])

TASKS = Row("Tasks", [
    Panel("Tasks by outcome", "As workers saw them end.", "ops",
          [(total("kernelmill_worker_tasks_total", "stage, outcome", ROLE), "{{stage}} {{outcome}}")], stacked=True),
    Panel("Time in a stage", "Without the cache's lookup.", "s", spread("kernelmill_worker_stage_seconds", "stage", ROLE)),
    Panel("Asking the cache", "Time of a lookup.", "s", spread("kernelmill_worker_lookup_seconds", "stage", ROLE)),
    Panel("Calls that failed", "Of workers to the store and the coordinator.", "ops",
          [('sum by (job, grpc_method, grpc_code) (rate(grpc_client_handled_total{job=~"$role", grpc_code!~"OK|NotFound"}'
            "[$__rate_interval]))", "{{job}} {{grpc_method}} {{grpc_code}}")]),
])

PROCESSES = Row("Processes", [
    Panel("Processor", "Cores in use, by role.", "short",
          [(total("process_cpu_seconds_total", "job", ROLE), "{{job}}")], stacked=True),
    Panel("Memory", "The largest process of each role.", "bytes",
          [(f"max by (job) (process_resident_memory_bytes{ROLE})", "{{job}}")]),
    Panel("Open files", "Of those that a process may have.", "percentunit",
          [(f"max by (job) (process_open_fds{ROLE} / process_max_fds{ROLE})", "{{job}}")]),
    Panel("Restarts", "Processes that began in the hour before.", "short",
          [(f"sum by (job) (changes(process_start_time_seconds{ROLE}[1h]))", "{{job}}")]),
    Panel("Threads", "The most of each role.", "short", [(f"max by (job) (process_threads{ROLE})", "{{job}}")]),
    Panel("Uptime", "The youngest process of each role.", "s",
          [(f"time() - max by (job) (process_start_time_seconds{ROLE})", "{{job}}")]),
])

COMPILERS = Row("Compilers", [
    Panel("Time of a kernel", "All its targets and tries by one toolchain.", "s", spread("kernelmill_compiler_kernel_seconds", "toolchain")),
    Panel("Kernels refused", "By the stage that refused them: limit and sandbox are bounds that stopped them.", "ops",
          [(total("kernelmill_compiler_refused_total", "toolchain, stage"), "{{toolchain}} {{stage}}")], stacked=True),
    Panel("Compiles lost", "Times that nothing came of a kernel, by why.", "short",
          [("sum by (toolchain, reason) (increase(kernelmill_compiler_lost_total[5m]))", "{{toolchain}} {{reason}}")], stacked=True),
    Panel("Compilers started", "Processes that load Triton: more than at first where they are lost, or have to be ended.", "short",
          [("sum by (toolchain) (increase(kernelmill_compiler_processes_total[5m]))", "{{toolchain}}")]),
])

PAGE = Page("kernelmill-workers", "kernelmill: workers", "Who works, on what, and with what.", [WHO, TASKS, COMPILERS, PROCESSES],
            [("role", "Role", 'label_values(kernelmill_build_info, job)')])
