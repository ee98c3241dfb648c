"""Lists the dashboards in the order in which an operator reads them."""

from pages import fetch, jobs, overview, quality, store, workers

PAGES = [overview.PAGE, jobs.PAGE, workers.PAGE, store.PAGE, fetch.PAGE, quality.PAGE]
