"""Draws the curve of examples/quadruped_es.py as SVG: python python/tools/plot_curve.py curve.csv curve.svg"""

import csv
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 60, 60, 30, 50
GREY, BLUE, RED = "#888", "#1f5fa8", "#b03a2e"


def ticks(largest, count=5):
    """Round numbers from 0 up to the largest."""
    step = next(s * 10**e for e in range(-6, 12) for s in (1, 2, 5) if s * 10**e * count >= largest)
    return [i * step for i in range(int(largest / step + 1e-9) + 1)]


def line(x, y, colour):
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'


def text(x, y, words, anchor="middle", colour="#333"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def main(source, target):
    with open(source, newline="") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    returns, speeds = ([row[key] for row in rows] for key in ("mean_return", "mean_speed"))
    steps = [row["world_steps"] / 1e6 for row in rows]
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def scaled(values, largest, low, high):
        return [low + (high - low) * value / largest for value in values]

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"',
        ' font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for value, x in zip(ticks(steps[-1]), scaled(ticks(steps[-1]), steps[-1], LEFT, right)):
        out += [f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#eee"/>', text(x, bottom + 18, f"{value:g}")]
    for values, side, anchor, colour in ((returns, LEFT - 6, "end", BLUE), (speeds, right + 6, "start", RED)):
        largest = max(values)
        for value, y in zip(ticks(largest), scaled(ticks(largest), largest, bottom, TOP)):
            out.append(text(side, y + 4, f"{value:g}", anchor, colour))
        out.append(line(scaled(steps, steps[-1], LEFT, right), scaled(values, largest, bottom, TOP), colour))
    out += [
        f'<path d="M{LEFT} {TOP}V{bottom}H{right}V{TOP}" stroke="{GREY}" fill="none"/>',
        text(LEFT, 18, "mean return of the worlds", "start", BLUE),
        text(right, 18, "mean speed, m/s", "end", RED),
        text((LEFT + right) / 2, HEIGHT - 12, "million world-steps"),
        "</svg>",
    ]
    with open(target, "w") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
