"""Defines the dashboard of the whole cluster: its health, its current work, and the time until jobs end."""

from panels import Page, Panel, Row, quantile, total

HEALTH = Row("Healthy?", [
    Panel("Processes up", "Of those that Prometheus knows.", "short",
          [('sum(up{job=~"coordinator|store|fetcher|extractor|compiler|validator|deduplicator"})', "up")], "stat", 4),
    Panel("Processes down", "They do not answer a scrape.", "short",
          [('count(up{job=~"coordinator|store|fetcher|extractor|compiler|validator|deduplicator"} == 0) or vector(0)', "down")],
          "stat", 4, limits=(1, 2)),
    Panel("Alerts firing", "By the rules in deploy/prometheus/rules.", "short",
          [('count(ALERTS{alertstate="firing"}) or vector(0)', "firing")], "stat", 4, limits=(1, 3)),
    Panel("Tasks that no worker can run", "Ready, and no connected worker has their stage in this version.", "short",
          [("sum(kernelmill_coordinator_unserved_tasks)", "unserved")], "stat", 4, limits=(1, 100)),
    Panel("Store's disk in use", "Of the limit, or of the disk where there is no limit.", "percentunit",
          [("max(kernelmill:store_fullness:ratio)", "full")], "stat", 4, limits=(0.8, 0.9)),
    Panel("Failed calls", "Share of gRPC calls that ended in an error which is a server's.", "percentunit",
          [("kernelmill:grpc_server_errors:ratio_rate5m", "errors")], "stat", 4, limits=(0.01, 0.05)),
])

WORK = Row("What is it doing?", [
    Panel("Jobs that run", "Not ended yet.", "short", [('sum(kernelmill_coordinator_jobs{state="running"})', "running")],
          "stat", 4),
    Panel("Age of the oldest job", "Since it was handed in.", "s", [("max(kernelmill_coordinator_oldest_job_seconds)", "age")],
          "stat", 4),
    Panel("Tasks left", "Known so far; later stages are not known before the earlier are done.", "short",
          [("sum(kernelmill:tasks_left)", "left")], "stat", 4),
    Panel("Done when", "Tasks left by the rate of the last five minutes.", "s",
          [("sum(kernelmill:tasks_left) / sum(kernelmill:tasks_ended:rate5m)", "to go")], "stat", 4),
    Panel("Slots busy", "Of all workers.", "percentunit",
          [("sum(kernelmill_worker_busy_slots) / sum(kernelmill_worker_slots)", "busy")], "stat", 4),
    Panel("From the cache", "Results that nobody had to compute.", "percentunit",
          [("kernelmill:results_reused:ratio_rate5m", "reused")], "stat", 4),
    Panel("Tasks by state", "Of the jobs that run.", "short",
          [("sum by (state) (kernelmill_coordinator_tasks)", "{{state}}")], stacked=True),
    Panel("Results by stage", "What workers and caches delivered, a second.", "ops",
          [(total("kernelmill_coordinator_results_total", "stage"), "{{stage}}")], stacked=True),
])

TROUBLE = Row("What goes wrong?", [
    Panel("Errors by stage", "Attempts that failed, a second; most are tried again.", "ops",
          [(total("kernelmill_coordinator_task_errors_total", "stage, code"), "{{stage}} {{code}}")]),
    Panel("Longest ready task", "How long the task waits that has waited longest.", "s",
          [("max by (stage) (kernelmill_coordinator_oldest_ready_seconds)", "{{stage}}")]),
    Panel("Leases lost", "Tasks whose worker fell silent or ended.", "ops",
          [(total("kernelmill_coordinator_leases_lost_total", "stage, reason"), "{{stage}} {{reason}}")]),
    Panel("Lines of warning and error", "In the logs of all processes, a second.", "ops",
          [('sum by (job, level) (rate(kernelmill_log_lines_total{level=~"warning|error"}[$__rate_interval]))',
            "{{job}} {{level}}")]),
    Panel("Slow calls", "95th percentile of a call, by service.", "s",
          [(quantile(0.95, "grpc_server_handling_seconds", "grpc_service",
                     '{grpc_method!~"Lease|Watch"}'), "{{grpc_service}}")]),
    Panel("Refused by a limit", "Calls beyond what a caller may have, a second.", "ops",
          [(total("kernelmill_limit_refusals_total", "limit"), "{{limit}}")]),
    Panel("Connections", "Open at the process of each kind that has the most.", "short",
          [("max by (job) (kernelmill_connections)", "{{job}}")]),
    Panel("Connections refused, answers not read", "Connections closed for want of room, and calls ended because their client "
          "did not read, a second.", "ops",
          [(total("kernelmill_connections_refused_total", "job"), "{{job}} connections"),
           (total("kernelmill_answers_stalled_total", "job"), "{{job}} answers")]),
])

PAGE = Page("kernelmill-overview", "kernelmill: overview", "Is the cluster healthy, what is it doing, when will it be done?",
            [HEALTH, WORK, TROUBLE])
