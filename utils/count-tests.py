"""Prints 'passed failed skipped' of a lit JSON or a pytest JUnit XML report.

Example: python utils/count-tests.py build/lit.json
"""

import json
import sys
import xml.etree.ElementTree as ET


def count_lit(path):
    with open(path) as f:
        codes = [t["code"] for t in json.load(f)["tests"]]
    passed = sum(c in ("PASS", "XFAIL", "FLAKYPASS") for c in codes)
    skipped = sum(c in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for c in codes)
    return passed, len(codes) - passed - skipped, skipped


def count_junit(path):
    total = failed = skipped = 0
    for suite in ET.parse(path).getroot().iter("testsuite"):
        total += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    return total - failed - skipped, failed, skipped


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    report = sys.argv[1]
    print(*(count_lit if report.endswith(".json") else count_junit)(report))
