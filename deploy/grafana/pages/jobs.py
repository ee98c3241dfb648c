"""Defines the dashboard of jobs: time in queues and stages, caches, failures."""

from panels import Page, Panel, Row, spread, total

STAGE = '{stage=~"$stage"}'

JOBS = Row("Jobs", [
    Panel("Jobs by state", "All that are kept.", "short", [("sum by (state) (kernelmill_coordinator_jobs)", "{{state}}")],
          stacked=True),
    Panel("Jobs ended", "In the hour before.", "short",
          [("sum by (state) (increase(kernelmill_coordinator_jobs_ended_total[1h]))", "{{state}}")]),
    Panel("Time of a job", "From its submission to its end.", "s", spread("kernelmill_coordinator_job_seconds")),
    Panel("Age of the oldest job", "That has not ended.", "s", [("max(kernelmill_coordinator_oldest_job_seconds)", "age")]),
])

QUEUE = Row("Queue", [
    Panel("Ready tasks", "They wait for a worker alone.", "short",
          [('sum by (stage) (kernelmill_coordinator_tasks{state="ready", stage=~"$stage"})', "{{stage}}")], stacked=True),
    Panel("Why others wait", "Backing off after an error, for a place at a host, or for an equal task's result.", "short",
          [('sum by (state) (kernelmill_coordinator_tasks{state=~"backing_off|waiting_for_host|sharing", stage=~"$stage"})',
            "{{state}}")], stacked=True),
    Panel("Wait for a worker", "From ready to leased.", "s", spread("kernelmill_coordinator_queue_seconds", "stage", STAGE)),
    Panel("Longest ready task", "By stage.", "s",
          [(f"max by (stage) (kernelmill_coordinator_oldest_ready_seconds{STAGE})", "{{stage}}")]),
    Panel("Tasks that no worker can run", "No connected worker has their stage in this version.", "short",
          [(f"sum by (stage) (kernelmill_coordinator_unserved_tasks{STAGE})", "{{stage}}")]),
    Panel("Tasks leased", "At workers now.", "short",
          [('sum by (stage) (kernelmill_coordinator_tasks{state="leased", stage=~"$stage"})', "{{stage}}")], stacked=True),
])

STAGES = Row("Stages", [
    Panel("Time of an attempt", "From leased to handed in.", "s",
          spread("kernelmill_coordinator_lease_seconds", "stage", STAGE)),
    Panel("Results by origin", "Run, from the action cache, shared with an equal task, or from an earlier visit.", "ops",
          [(total("kernelmill_coordinator_results_total", "origin", STAGE), "{{origin}}")], stacked=True),
    Panel("Results a second", "By stage.", "ops",
          [(total("kernelmill_coordinator_results_total", "stage", STAGE), "{{stage}}")], stacked=True),
    Panel("Share of the cache", "Of results, by stage.", "percentunit",
          [(f'sum by (stage) (rate(kernelmill_coordinator_results_total{{origin!="run", stage=~"$stage"}}[$__rate_interval]))'
            f" / sum by (stage) (rate(kernelmill_coordinator_results_total{STAGE}[$__rate_interval]))", "{{stage}}")]),
])

FAILURES = Row("Failures", [
    Panel("Errors", "Attempts that failed, and what came next.", "ops",
          [(total("kernelmill_coordinator_task_errors_total", "stage, code, next", STAGE),
            "{{stage}} {{code}}, then {{next}}")]),
    Panel("Leases lost", "By reason.", "ops",
          [(total("kernelmill_coordinator_leases_lost_total", "stage, reason", STAGE), "{{stage}} {{reason}}")]),
    Panel("Suspects", "Tasks that ended a worker, and run alone from then on.", "short",
          [("sum(kernelmill_coordinator_suspect_tasks)", "suspects")]),
    Panel("Files quarantined", "Since an hour: they ended their worker again and again, alone.", "short",
          [("sum(increase(kernelmill_coordinator_quarantined_files_total[1h]))", "files")]),
])

COORDINATOR = Row("Coordinator", [
    Panel("Calls", "By method.", "ops",
          [(total("grpc_server_handled_total", "grpc_method", '{job="coordinator"}'), "{{grpc_method}}")], stacked=True),
    Panel("Time of a call", "95th percentile; Lease and Watch wait by design.", "s",
          [('histogram_quantile(0.95, sum by (le, grpc_method) (rate(grpc_server_handling_seconds_bucket{job="coordinator", '
            'grpc_method!~"Lease|Watch"}[$__rate_interval])))', "{{grpc_method}}")]),
    Panel("Errors by method", "Calls that did not end with OK.", "ops",
          [(total("grpc_server_handled_total", "grpc_method, grpc_code", '{job="coordinator", grpc_code!="OK"}'),
            "{{grpc_method}} {{grpc_code}}")]),
    Panel("Time to be durable", "From a change to its sync.", "s", spread("kernelmill_coordinator_commit_seconds")),
])

PAGE = Page("kernelmill-jobs", "kernelmill: jobs", "Where the time of jobs goes, and what fails.",
            [JOBS, QUEUE, STAGES, FAILURES, COORDINATOR],
            [("stage", "Stage", "label_values(kernelmill_coordinator_tasks, stage)")])
