"""The proof that columns cost forked workers no memory: eight of them look up a million keys each."""

import json
import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "bench/src/main/python/columns_memory.py")


@unittest.skipUnless(os.path.exists(SCRIPT), "needs a checkout")
class ColumnsMemoryTest(unittest.TestCase):
    def test_a_million_look_ups_cost_a_forked_worker_less_than_a_twentieth_of_what_a_dict_costs(self):
        done = subprocess.run([sys.executable, "-W", "error", SCRIPT], stdout=subprocess.PIPE, check=True)

        figures = json.loads(done.stdout)

        self.assertEqual((figures["keys"], figures["workers"], figures["lookups"]), (10**6, 8, 10**6))
        self.assertLess(figures["ratio"], 0.05, figures)


if __name__ == "__main__":
    unittest.main()
