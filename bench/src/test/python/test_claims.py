"""Holds what README claims against the report that it links to."""
import os
import subprocess
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4)
CLAIMS = os.path.join(ROOT, "bench", "src", "main", "python", "whole", "claims.py")


class ClaimsTest(unittest.TestCase):
    def test_readme_claims_what_its_report_says(self):
        readme = os.path.join(ROOT, "README.md")
        claims = subprocess.run([sys.executable, CLAIMS, readme], capture_output=True, text=True, check=True).stdout
        with open(readme) as file:
            self.assertIn(claims, file.read(), f"run {CLAIMS} --write {readme}")


if __name__ == "__main__":
    unittest.main()
