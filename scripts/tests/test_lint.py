# SPDX-License-Identifier: GPL-2.0
"""What make lint takes for a complaint."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit.lint_kernel import complaints, like_compiler

DOC = "Warning: net/sunrpc/xprt.c:30 No description found for return value of 'xprt_get'\n"


class Complaints(unittest.TestCase):
    """complaints()."""

    def count(self, text, *files):
        return sum(complaints(text, list(files)).values())

    def test_compiler(self):
        text = "../net/sunrpc/xprt.c:30:5: warning: unused variable 'i' [-Wunused-variable]\n"
        self.assertEqual(1, self.count(text, "net/sunrpc/xprt.c"))
        self.assertEqual(0, self.count(text, "net/sunrpc/clnt.c"))

    def test_kernel_doc(self):
        self.assertEqual(1, self.count(like_compiler(DOC), "net/sunrpc/xprt.c"))
        self.assertEqual(1, self.count(like_compiler(DOC.replace("30 ", "30: ")), "net/sunrpc/xprt.c"))

    def test_place_does_not_matter(self):
        one, two = (complaints(like_compiler(DOC.replace("30", line)), ["net/sunrpc/xprt.c"])
                    for line in ("30", "31"))
        self.assertEqual(one, two)


if __name__ == "__main__":
    unittest.main()
