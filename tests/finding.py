# SPDX-License-Identifier: Apache-2.0
"""What `check` finds in a target, as JSON that has been checked against the schema."""

import harness
import schema


def check(target, *options):
    """The whole document. The exit code must agree with the findings."""
    result = harness.aiotrace("check", "--json", *options, target.pid)
    assert result.code in (0, 1), result.err
    document = schema.check(schema.parse(result.out))
    bad = [finding for finding in document["findings"] if finding["severity"] != "info"]
    assert result.code == (1 if bad else 0)
    return document


def findings(target, id, *options):
    """Those of one id."""
    return [finding for finding in check(target, *options)["findings"] if finding["id"] == id]


def the_finding(target, id, *options):
    """The one and only finding of that id, and the document that it stands in."""
    document = check(target, *options)
    found = [finding for finding in document["findings"] if finding["id"] == id]
    assert len(found) == 1, document["findings"]
    return found[0], document


def none(target, *options):
    """Nothing worth a warning; answers with the document."""
    document = check(target, *options)
    assert [found for found in document["findings"] if found["severity"] != "info"] == []
    return document
