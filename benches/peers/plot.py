"""Plots as SVG: rows of dots along a logarithmic axis, and small panels of lines below."""
import html
import math

WIDTH, LEFT, RIGHT, ROW, TOP = 880, 150, 24, 24, 92
PANEL, GAP = 150, 70
# Colours that are told apart without seeing all of them (Okabe and Ito); and shapes.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#56b4e9", "#777777")
FONT = 'font-family="Helvetica, Arial, sans-serif"'


def text(x, y, content, anchor="start", size=12, colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}" {FONT}>{html.escape(content)}</text>'


def line(x1, y1, x2, y2, colour, width=1.0):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def mark(shape, x, y):
    colour = COLOURS[shape]
    if shape < 2:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{colour}"/>'
    if shape < 4:
        return f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" fill="{"none" if shape == 3 else colour}" stroke="{colour}" stroke-width="2"/>'
    return f'<path d="M{x - 5:.1f} {y + 4:.1f}h10l-5 -9z" fill="{colour}"/>'


class Scale:
    """Logarithmic, from one end of the picture to another."""

    def __init__(self, values, start, end):
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.high = max(self.high, self.low + 1)
        self.start, self.end = start, end

    def at(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def tick(value):
    return f"{value:g}" if 1e-4 <= value < 1e6 else f"1e{round(math.log10(value))}"


def svg(title, series, rows, panels, caption):
    """`rows`: name and a value, or None, for each of the series. `panels`: title and, by name, points."""
    bottom = TOP + ROW * len(rows)
    height = bottom + 30 + (GAP + PANEL + 34 if panels else 0) + 28
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>', text(LEFT, 26, title, size=16)]
    for k, name in enumerate(series):
        x = LEFT + k * 142
        out += [mark(k, x + 6, 50), text(x + 17, 54, name)]
    scale = Scale([value for _, values in rows for value in values if value], LEFT, WIDTH - RIGHT)
    for value in scale.ticks():
        x = scale.at(value)
        out += [line(x, TOP - 8, x, bottom, "#555" if value == 1 else "#ddd", 1.5 if value == 1 else 1), text(x, TOP - 14, tick(value), "middle", 11)]
    for k, (name, values) in enumerate(rows):
        y = TOP + ROW * (k + 0.5)
        out += [line(LEFT, y, WIDTH - RIGHT, y, "#eee"), text(LEFT - 10, y + 4, name, "end")]
        # The project's own above the others.
        out += [mark(shape, scale.at(value), y) for shape, value in reversed(list(enumerate(values))) if value]
    top, width = bottom + 30 + GAP - 30, (WIDTH - LEFT - RIGHT - GAP) / 2
    for k, (name, lines) in enumerate(panels):
        out += panel(name, lines, LEFT + k * (width + GAP), top, width)
    return "\n".join([*out, text(LEFT, height - 10, caption, size=10, colour="#666"), "</svg>", ""])


def panel(title, lines, left, top, width):
    points = [point for line_points in lines.values() for point in line_points]
    across = Scale([x for x, _ in points], left, left + width)
    up = Scale([y for _, y in points], top + PANEL, top)
    out = [text(left, top - 14, title)]
    for value in up.ticks():
        out += [line(left, up.at(value), left + width, up.at(value), "#ddd"), text(left - 6, up.at(value) + 4, tick(value), "end", 11)]
    for value in across.ticks():
        out += [line(across.at(value), top, across.at(value), top + PANEL, "#eee"), text(across.at(value), top + PANEL + 16, tick(value), "middle", 11)]
    for shape, line_points in enumerate(lines.values()):
        places = [(across.at(x), up.at(y)) for x, y in line_points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out += [f'<polyline points="{path}" fill="none" stroke="{COLOURS[shape]}" stroke-width="2"/>']
        out += [mark(shape, x, y) for x, y in places]
    return out
