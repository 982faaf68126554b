# SPDX-License-Identifier: GPL-2.0
"""Run an executable of scripts/ with a fake engine and fake kernels, for test_scripts.py.

usage: play_script.py <script> <results folder> <counts as JSON> [argument ...]
"""

import json
import runpy
import sys
import types
from pathlib import Path

from rigtest import fake, results

from kit.paths import TOP
from kit.run import Failure


def bundle(folder):
    """kit.kernel.bundle() of kernels that nobody built."""
    def make(side, _layer):
        if side not in ("base", "patched", "repairs"):
            raise Failure(f"no kernel and no patch is called '{side}'")
        home = folder / "kernels" / side
        home.mkdir(parents=True, exist_ok=True)
        (home / "commit").write_text(f"c0ffee-{side}\n", encoding="utf-8")
        (home / "release").write_text("7.3.4-test\n", encoding="utf-8")
        return home
    return make


class Side(fake.Side):
    """A side with its bundle."""

    def __init__(self, name, home):
        super().__init__(name)
        self.bundle = home


def main(script, root, counts, *argv):
    """Put the fakes in place of the modules and run the script."""
    root = Path(root)
    results.RESULTS = root / "results"
    counts = {pair: fake.panic(rule) if isinstance(rule, str) else {**fake.QUIET, **rule}
              for pair, rule in json.loads(counts).items()}
    engine = fake.Engine(counts, latency=True)
    sys.modules["seqrig.engine"] = types.SimpleNamespace(
        Side=Side, execute=engine.execute)
    kernel = types.ModuleType("kit.kernel")
    kernel.bundle = bundle(root)
    sys.modules["kit.kernel"] = kernel
    __import__("kit").kernel = kernel
    sys.argv = [script, *argv]
    runpy.run_path(str(TOP / "scripts" / script), run_name="__main__")


main(*sys.argv[1:])
