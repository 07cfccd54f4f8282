"""The Sapwood side: reports of `sapwood run`."""

import csv
import json
import subprocess
import tempfile
from pathlib import Path


class Failed(Exception):
    """The program failed, or its report is incomplete."""


def run(program, scene, *options):
    """The report of a run."""
    command = [str(program), "run", str(scene), "--json", *[str(option) for option in options]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failed(f"{program}: {error.strerror}; allowed: a program `sapwood`, see --program") from error
    if done.returncode != 0:
        raise Failed(f"`{' '.join(command)}` ended with {done.returncode}: {done.stderr.strip() or done.stdout[:2000]}")
    return json.loads(done.stdout)


def settle(program, scene, worlds, steps, last, *options):
    """Steps worlds to rest. Returns the first and last row of the trajectory of each world, the energy, contacts and
    iterations per world and step, and contacts of the last few steps.

    A run with a trajectory counts contacts in every step, so the contacts of the last steps are a difference of two
    sums."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trajectory.csv"

        def watched(world, n):
            return run(
                program,
                scene,
                "--worlds",
                worlds,
                "--steps",
                n,
                "--trajectory",
                path,
                "--trajectory-world",
                world,
                *options,
            )

        def contacts(report):
            if "contacts" not in report:
                raise Failed(f"{program}: its report has no contacts; allowed: a program that counts them")
            if report["contacts"]["steps_looked_at"] != report["steps"]:
                raise Failed(
                    f"{scene}: contacts of {report['contacts']['steps_looked_at']} steps are counted; "
                    f"allowed: all {report['steps']}"
                )
            return report["contacts"]["mean"] * report["steps"]

        before = contacts(watched(0, steps - last))
        first_rows, last_rows, report = [], [], None
        for world in range(worlds):
            report = watched(world, steps)
            with open(path, newline="", encoding="ascii") as file:
                start, *_, end = csv.DictReader(file)
            first_rows.append(start)
            last_rows.append(end)
    return {
        "first_rows": first_rows,
        "last_rows": last_rows,
        "kinetic": report["energy"]["mean"]["end"]["kinetic"],
        "contacts": (contacts(report) - before) / last,
        "iterations": report["newton_iterations"]["mean"],
    }
