"""Draws the charts of a report as SVG, with matplotlib."""
import os

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams |= {
    "svg.hashsalt": "larder",  # the same figures give the same bytes
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.figsize": (6.4, 4.4),
    "lines.linewidth": 2,
    "lines.markersize": 5,
}

import parts
from matplotlib import pyplot


def draw(chart, folder):
    """Writes a harness.Chart; returns the file's name and the title."""
    drawing, axes = pyplot.subplots()
    axes.set_title(chart.title, loc="left", fontsize=11)
    axes.set_xlabel(chart.x)
    axes.set_ylabel(chart.y)
    if chart.log_x:
        axes.set_xscale("log", base=chart.log_x)
    if chart.log_y:
        axes.set_yscale("log")
    for label, color, style, points in chart.lines:
        axes.plot(*zip(*points), style, color=color, label=label)
    for label, color, value in chart.levels:
        axes.axhline(value, color=color, linestyle="--", label=label)
    axes.set_xticks(list(chart.ticks))
    axes.set_xticklabels(chart.ticks.values())
    axes.minorticks_off()
    if not chart.log_y:
        axes.set_ylim(bottom=0, top=chart.top)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=2)
    drawing.tight_layout()
    drawing.savefig(os.path.join(folder, chart.name + ".svg"), metadata={"Date": None})
    pyplot.close(drawing)
    return chart.name + ".svg", chart.title


def draw_all(run):
    """Draws the charts of a run's folder; returns [(file, title)] by part, and errors by part."""
    folder = os.path.join(run, "charts")
    os.makedirs(folder, exist_ok=True)
    return parts.collected(run, "charts", lambda chart: draw(chart, folder))
