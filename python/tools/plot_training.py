"""Draws curves of examples/train_rsl_rl.py --curve as SVG: python python/tools/plot_training.py walk.csv ... curves.svg

One line for each file, with the name of the file: reward per step over processor seconds.
"""

import csv
import sys
from pathlib import Path

from plot_curve import BLUE, BOTTOM, GREY, HEIGHT, LEFT, RED, RIGHT, TOP, WIDTH, line, text, ticks

COLOURS = (BLUE, RED, "#2e7d32", "#7b4fa0", "#c77f00")


def read(path):
    """Seconds and rewards of a file, from the start."""
    with open(path, newline="") as file:
        rows = [(float(row["seconds"]), float(row["reward"])) for row in csv.DictReader(file)]
    return [0.0] + [seconds for seconds, _ in rows], [rows[0][1]] + [reward for _, reward in rows]


def main(*paths):
    *sources, target = paths
    curves = [(Path(source).stem, *read(source)) for source in sources]
    longest, highest = max(x[-1] for _, x, _ in curves), max(max(y) for _, _, y in curves)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def at(seconds, reward):
        return LEFT + (right - LEFT) * seconds / longest, bottom + (TOP - bottom) * max(reward, 0.0) / highest

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"',
        f' font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for value in ticks(longest):
        x = at(value, 0)[0]
        out += [f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#eee"/>', text(x, bottom + 18, f"{value:g}")]
    for value in ticks(highest):
        out.append(text(LEFT - 6, at(0, value)[1] + 4, f"{value:g}", "end"))
    for i, (name, seconds, rewards) in enumerate(curves):
        colour = COLOURS[i % len(COLOURS)]
        out.append(line(*zip(*map(at, seconds, rewards)), colour))
        out.append(text(right - 8, bottom - 10 - 16 * (len(curves) - 1 - i), name, "end", colour))
    out += [
        f'<path d="M{LEFT} {TOP}V{bottom}H{right}" stroke="{GREY}" fill="none"/>',
        text(LEFT, 18, "reward per step", "start"),
        text((LEFT + right) / 2, HEIGHT - 12, "seconds of one core"),
        "</svg>",
    ]
    Path(target).write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
