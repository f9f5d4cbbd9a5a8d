# SPDX-License-Identifier: Apache-2.0
"""The generated files in the tree are what their generators write, byte for byte."""
import filecmp
import os
import subprocess
import sys
import tempfile
import unittest

PROJECT_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class GeneratedFilesTest(unittest.TestCase):
    """One test a generator."""

    def assert_current(self, generator):
        """Runs the generator into a new folder and compares every file with the one beside the generator."""
        kept = os.path.join(PROJECT_DIR, os.path.dirname(generator))
        with tempfile.TemporaryDirectory() as fresh:
            subprocess.run([sys.executable, "-B", os.path.join(PROJECT_DIR, generator), fresh], check=True,
                           stdout=subprocess.DEVNULL)
            written = [os.path.relpath(os.path.join(folder, name), fresh) for folder, _, names in os.walk(fresh)
                       for name in names]
            self.assertGreater(len(written), 2)
            for name in written:
                self.assertTrue(filecmp.cmp(os.path.join(fresh, name), os.path.join(kept, name), shallow=False),
                                f"{name} differs: run {generator}")

    def test_own_records(self):
        """tests/data."""
        self.assert_current("tests/data/generate_records.py")

    def test_level(self):
        """deploy/level."""
        self.assert_current("deploy/level/generate_level.py")


if __name__ == "__main__":
    unittest.main()
