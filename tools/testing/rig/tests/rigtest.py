# SPDX-License-Identifier: GPL-2.0
"""What the tests of the rig share: the import path, a scratch folder, a session to play."""

import io
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
for _path in (HERE, HERE.parent):
    if str(_path) not in sys.path:
        sys.path.insert(0, str(_path))

# pylint: disable=wrong-import-position
from seqrig import condition, ktap, results, session  # noqa: E402  (sets the path of kit)
import fake  # noqa: E402


class Case(unittest.TestCase):
    """A test with a results folder of its own."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="rig-test-")
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        self.out = io.StringIO()
        self.ktap = ktap.Ktap(self.out)

    def new_run(self):
        """An empty run."""
        return results.Run("test", {"repeat": "make rig"}, root=self.root)

    def play(self, engine, globs=("krb5i-tcp-fio",), subject=("patched", "patched"), repeats=1,
             **how):
        """Play a plan with a fake engine; returns (run, good)."""
        run = self.new_run()
        player = session.Session(run, self.ktap, engine.execute, fake.Side, lambda text: None)
        self.player = player
        conditions = condition.select(globs, seconds=15)
        return run, player.go(session.plan(conditions, [subject], repeats, **how))
