# SPDX-License-Identifier: GPL-2.0
"""What scripts/rig, run and matrix share: knobs from the environment, kernels, one session."""

import dataclasses
import os
import shlex
from pathlib import Path

from kit.run import Failure, say, step
from seqrig import condition, machine, results, session
from seqrig.ktap import Ktap

SIX = "krb5*-{tcp,rdma}-fio"
LAYERS = ("guest", "debug")
KNOBS = ("CLIENT", "SERVER", "COND", "DURATION", "SECONDS", "REPEAT", "LOAD", "ENCTYPE", "LAYER",
         "CONTROL", "SEED")


@dataclasses.dataclass
class Options:
    """The knobs of a session."""

    client: str = "patched"
    server: str = "patched"
    globs: tuple = (SIX,)
    seconds: int = 60
    repeat: int = 1
    load: str = ""
    enctype: str = ""
    layer: str = "guest"
    control: str = ""
    seed: int | None = None

    def conditions(self):
        """The conditions that the knobs select."""
        defaults = {"seconds": self.seconds}
        if self.enctype:
            defaults["enctype"] = self.enctype
        if self.seed:
            defaults["seed"] = self.seed
        if not self.load:
            return condition.select(self.globs, **defaults)
        path = Path(self.load).resolve()
        if not path.is_file():
            raise Failure(f"LOAD={self.load}: no such file")
        globs = ["krb5*-{tcp,rdma}-script"] if self.globs == (SIX,) else self.globs
        return condition.select(globs, load_path=str(path), **defaults)


def count(env, name, default):
    """A whole number above zero from the environment."""
    text = env.get(name, "")
    if not text:
        return default
    if not text.isdigit() or int(text) < 1:
        raise Failure(f"{name}={text}: wanted a whole number above 0")
    return int(text)


def options(env=os.environ, **defaults):
    """The Options that the environment asks for; DURATION is SECONDS for those who call from
    bash, where SECONDS counts by itself."""
    chosen = Options(**defaults)
    for knob in ("client", "server", "load", "enctype", "layer", "control"):
        setattr(chosen, knob, env.get(knob.upper(), "").strip() or getattr(chosen, knob))
    chosen.globs = tuple(env.get("COND", "").split()) or chosen.globs
    chosen.seconds = count(env, "DURATION", count(env, "SECONDS", chosen.seconds))
    chosen.repeat = count(env, "REPEAT", chosen.repeat)
    chosen.seed = count(env, "SEED", chosen.seed)
    if chosen.layer not in LAYERS:
        raise Failure(f"LAYER={chosen.layer}: wanted one of {', '.join(LAYERS)}")
    return chosen


def command(verb, env=os.environ):
    """The command that repeats this run."""
    return " ".join(["make", verb] + [f"{knob}={shlex.quote(env[knob])}"
                                      for knob in KNOBS if env.get(knob)])


def sides(names, layer):
    """{name: Side} with a kernel bundle each; all are built before the first guest boots."""
    from kit import kernel  # pylint: disable=import-outside-toplevel
    from seqrig.engine import Side  # pylint: disable=import-outside-toplevel
    with step("kernels for " + ", ".join(names)):
        return {name: Side(name, kernel.bundle(name, layer)) for name in names}


def _part(side, name):
    """A text file of a bundle, or ''."""
    path = Path(side.bundle) / name
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def commits(found):
    """{name: 'commit (release)'} of the bundles."""
    return {name: f"{_part(side, 'commit')} ({_part(side, 'release')})"
            for name, side in found.items()}


def names_in(groups):
    """The kernels that a plan needs."""
    return sorted({name for group in groups for cell in group
                   for name in (cell.client, cell.server)})


def play(what, groups, found, repeat, ktap=None):
    """Run a plan with the kernels found; returns (the Run, the Ktap, good)."""
    from seqrig.engine import execute  # pylint: disable=import-outside-toplevel
    first = next(iter(found.values()))
    run = results.Run(what, {
        "argv": repeat.split(), "repeat": repeat, "commits": commits(found),
        "machine": machine.describe(Path(first.bundle) / "bzImage")})
    say(f"results go to {run.folder}")
    ktap = ktap or Ktap()
    player = session.Session(run, ktap, execute, found.__getitem__)
    good = player.go(groups)
    note(run, _part(first, "config"))
    for cause in player.causes:
        say(f"failed: {cause}")
    return run, ktap, good


def note(run, config):
    """Facts of the run that only its rows know."""
    run.meta["base_version"] = next((row["base_version"] for row in run.rows
                                     if row.get("base_version")), None)
    run.meta["crypto_note"] = machine.crypto_note(run.rows, config)
    run.save()
