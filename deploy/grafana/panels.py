"""Defines panels, rows and pages, and turns a page into a dashboard's JSON with the Grafana Foundation SDK."""

import dataclasses
import json

from grafana_foundation_sdk.builders import (bargauge, common as shared, dashboard as builders, prometheus, stat,
                                             table, timeseries)
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common, dashboard as models, prometheus as queries

SOURCE = models.DataSourceRef("prometheus", "${datasource}")
RATE = "[$__rate_interval]"
WIDTH = 24  # columns of a Grafana dashboard
KINDS = {"graph": timeseries.Panel, "stat": stat.Panel, "bars": bargauge.Panel, "table": table.Panel}
HEIGHTS = {"graph": 8, "stat": 4, "bars": 8, "table": 8}


@dataclasses.dataclass
class Panel:
    """A panel. `queries` are (expression, legend). Units are Grafana's: s, bytes, Bps, short, percentunit, ops ..."""
    title: str
    tells: str
    unit: str
    queries: list
    kind: str = "graph"
    width: int = 12
    stacked: bool = False
    # For stats: the value that needs attention, and the value that is bad.
    limits: tuple = ()


@dataclasses.dataclass
class Row:
    title: str
    panels: list


@dataclasses.dataclass
class Page:
    """`variables` are (name, label, query)."""
    uid: str
    title: str
    tells: str
    rows: list
    variables: list = dataclasses.field(default_factory=list)


def total(metric, by, where=""):
    """Returns the expression for the rate of a counter, summed by labels."""
    return f"sum by ({by}) (rate({metric}{where}{RATE}))"


def quantile(share, histogram, by="", where=""):
    """Returns the expression for a quantile of a histogram of seconds."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({histogram}_bucket{where}{RATE})))"


def spread(histogram, by="", where=""):
    """Returns two queries: the median and the 95th percentile."""
    legend = f"{{{{{by}}}}} " if by else ""
    return [(quantile(0.5, histogram, by, where), f"{legend}p50"), (quantile(0.95, histogram, by, where), f"{legend}p95")]


def _thresholds(panel):
    colours = ["green", "yellow", "red"]
    steps = [models.Threshold(value=value, color=colour) for value, colour in zip((None, *panel.limits), colours)]
    return builders.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps)


def _target(number, expression, legend, kind):
    target = prometheus.Dataquery().expr(expression).legend_format(legend).ref_id(chr(ord("A") + number))
    target.datasource(models.DataSourceRef("prometheus", "${datasource}"))
    if kind == "graph":
        return target.range().exemplar(True)
    target.instant()
    return target.format(queries.PromQueryFormat.TABLE) if kind == "table" else target


def _build(panel, number, x, y):
    builder = KINDS[panel.kind]().title(panel.title).description(panel.tells).unit(panel.unit).datasource(SOURCE)
    builder.id(number).grid_pos(models.GridPos(h=HEIGHTS[panel.kind], w=panel.width, x=x, y=y))
    if panel.limits:
        builder.thresholds(_thresholds(panel))
    if panel.kind == "graph":
        legend = shared.VizLegendOptions().display_mode(common.LegendDisplayMode.LIST).show_legend(True)
        legend.placement(common.LegendPlacement.BOTTOM)
        builder.min(0).fill_opacity(40 if panel.stacked else 8).legend(legend)
        if panel.stacked:
            builder.stacking(shared.StackingConfig().mode(common.StackingMode.NORMAL))
    for index, (expression, legend) in enumerate(panel.queries):
        builder.with_target(_target(index, expression, legend, panel.kind))
    return builder


def _variable(name, label, query):
    return (builders.QueryVariable(name).label(label).query(query).datasource(SOURCE).multi(True).include_all(True)
            .all_value(".*").refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED))


def render(page):
    """Returns the dashboard's JSON."""
    board = builders.Dashboard(page.title).uid(page.uid).description(page.tells).tags(["kernelmill"])
    board.refresh("10s").time("now-1h", "now").timezone("browser").tooltip(models.DashboardCursorSync.CROSSHAIR)
    board.with_variable(builders.DatasourceVariable("datasource").type("prometheus").label("Data source"))
    for variable in page.variables:
        board.with_variable(_variable(*variable))
    board.link(builders.DashboardLink("kernelmill").type(models.DashboardLinkType.DASHBOARDS).tags(["kernelmill"])
               .as_dropdown(True).keep_time(True))
    number, y = 0, 0
    for row in page.rows:
        number += 1
        board.with_row(builders.Row(row.title).id(number).grid_pos(models.GridPos(h=1, w=WIDTH, x=0, y=y)))
        x, y, tallest = 0, y + 1, 0
        for panel in row.panels:
            if x + panel.width > WIDTH:
                x, y, tallest = 0, y + tallest, 0
            number += 1
            board.with_panel(_build(panel, number, x, y))
            x, tallest = x + panel.width, max(tallest, HEIGHTS[panel.kind])
        y += tallest
    plain = json.loads(JSONEncoder(sort_keys=True).encode(board.build()))
    return json.dumps(_without_nulls(plain), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _without_nulls(value):
    """Removes the fields that the SDK leaves null; keeps a threshold's first value, which Grafana requires to be null."""
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items()
                if each is not None or (key == "value" and "color" in value)}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
