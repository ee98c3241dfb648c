"""Defines the dashboard of git hosts, package indexes and searches: their answers and latencies."""

from panels import RATE, Page, Panel, Row, spread, total

HOST = '{host=~"$host"}'

HOSTS = Row("Hosts", [
    Panel("Requests", "By host.", "ops", [(total("kernelmill_fetcher_requests_total", "host", HOST), "{{host}}")], stacked=True),
    Panel("Requests that failed", "By host and result.", "ops",
          [('sum by (host, result) (rate(kernelmill_fetcher_requests_total{result!="ok", host=~"$host"}'
            f"{RATE}))", "{{host}} {{result}}")]),
    Panel("Rate limited", "Answers 429 and the like, in the hour before.", "short",
          [('sum by (host) (increase(kernelmill_fetcher_requests_total{result="rate_limited", host=~"$host"}[1h]))',
            "{{host}}")]),
    Panel("Left alone", "Seconds of pause that hosts asked for, a second.", "percentunit",
          [(total("kernelmill_fetcher_retry_after_seconds_total", "host", HOST), "{{host}}")]),
    Panel("Tasks by host", "Running, and waiting for a place.", "short",
          [(f"sum by (host, state) (kernelmill_coordinator_host_tasks{HOST})", "{{host}} {{state}}")]),
    Panel("Hosts paused", "They asked to be left alone.", "short", [("sum(kernelmill_coordinator_paused_hosts)", "hosts")]),
])

TRANSFER = Row("Transfer", [
    Panel("Bytes", "Received, by host.", "Bps",
          [(total("kernelmill_fetcher_received_bytes_total", "host", HOST), "{{host}}")], stacked=True),
    Panel("Time of a request", "By kind.", "s", spread("kernelmill_fetcher_request_seconds", "kind")),
    Panel("Files", "Selected, skipped and failed, by reason.", "ops",
          [(total("kernelmill_fetcher_files_total", "result, reason"), "{{result}} {{reason}}")], stacked=True),
    Panel("Time to fetch", "A source, and to pin it.", "s",
          spread("kernelmill_worker_stage_seconds", "stage", '{stage=~"pin|fetch|discover"}')),
])

PAGE = Page("kernelmill-fetch", "kernelmill: fetch and hosts", "What git hosts, package indexes and searches give.",
            [HOSTS, TRANSFER], [("host", "Host", "label_values(kernelmill_fetcher_requests_total, host)")])
