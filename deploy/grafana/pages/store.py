"""Defines the dashboard of the content store: its size, its speed, and its delays."""

from panels import RATE, Page, Panel, Row, quantile, spread, total

ROOM = Row("Room", [
    Panel("In use", "Of the limit, or of the disk where there is none.", "percentunit",
          [("kernelmill:store_fullness:ratio", "full")], "stat", 5, limits=(0.8, 0.9)),
    Panel("Refuses writes", "1 while it has no room or is damaged.", "short", [("kernelmill_store_refuses_writes", "refuses")], "stat", 5,
          limits=(0.5, 1)),
    Panel("Blobs", "Kept.", "short", [("kernelmill_store_blobs", "blobs")], "stat", 5),
    Panel("Holds", "Of jobs that run and of datasets that are kept.", "short", [("kernelmill_store_holds", "holds")], "stat", 4),
    Panel("Damaged blobs", "Never served; made anew once a stage needs them.", "short",
          [("kernelmill_store_damaged_blobs", "damaged")], "stat", 5, limits=(1, 10)),
    Panel("Disk", "What the database takes, its limit, and what is free beside it.", "bytes",
          [("kernelmill_store_disk_bytes", "database"), ("kernelmill_store_limit_bytes", "limit"),
           ("kernelmill_store_free_disk_bytes", "free")]),
    Panel("Evictions", "Blobs and results dropped to make room, a second.", "ops",
          [(total("kernelmill_store_evictions_total", "kind"), "{{kind}}")]),
])

CALLS = Row("Calls", [
    Panel("Rate", "By method.", "ops",
          [(total("grpc_server_handled_total", "grpc_method", '{job="store"}'), "{{grpc_method}}")], stacked=True),
    Panel("Errors", "By method and code; NotFound is an answer.", "ops",
          [(total("grpc_server_handled_total", "grpc_method, grpc_code", '{job="store", grpc_code!~"OK|NotFound"}'),
            "{{grpc_method}} {{grpc_code}}")]),
    Panel("Duration", "95th percentile.", "s",
          [(quantile(0.95, "grpc_server_handling_seconds", "grpc_method", '{job="store"}'), "{{grpc_method}}")]),
    Panel("Bytes", "Content in and out, as on the wire.", "Bps",
          [(f"sum(rate(kernelmill_store_received_bytes_total{RATE}))", "in"),
           (f"sum(rate(kernelmill_store_sent_bytes_total{RATE}))", "out")]),
    Panel("Found", "Share of what was asked for that was there.", "percentunit",
          [(f'sum by (kind) (rate(kernelmill_store_lookups_total{{found="true"}}{RATE})) / '
            f"sum by (kind) (rate(kernelmill_store_lookups_total{RATE}))", "{{kind}}")]),
    Panel("Blobs that failed", "In batches whose call went well.", "ops",
          [(total("kernelmill_store_blob_errors_total", "method, code"), "{{method}} {{code}}")]),
    Panel("Uploads", "Open, and what they have staged.", "short", [("kernelmill_store_open_uploads", "open")]),
    Panel("Staged", "Bytes of uploads that are not whole yet.", "bytes", [("kernelmill_store_staged_bytes", "staged")]),
])

DATABASE = Row("RocksDB", [
    Panel("Time to sync", "Until a write is durable.", "s", spread("kernelmill_store_sync_seconds")),
    Panel("Writes held back", "Share of the time.", "percentunit",
          [(f"rate(kernelmill_store_stall_seconds_total{RATE})", "stalled")]),
    Panel("Compaction", "Read and written.", "Bps",
          [(total("kernelmill_store_compaction_bytes_total", "direction"), "{{direction}}")]),
    Panel("Write amplification", "Bytes written to the disk for each that was asked for.", "short",
          [("kernelmill:store_write_amplification:ratio", "times")]),
    Panel("Compaction to come", "Bytes that wait for it.", "bytes",
          [("kernelmill_store_pending_compaction_bytes", "pending")]),
])

PAGE = Page("kernelmill-store", "kernelmill: store", "How full the store is, how fast, and what holds it up.",
            [ROOM, CALLS, DATABASE])
