"""Licences: an expression for every kept row, with the evidence that it was made of."""
import re

from .dataset import check, place_of

TERM = r"\(*[\w.+-]+(?: WITH [\w.-]+)?\)*"
EXPRESSION = re.compile(rf"^{TERM}(?: (?:AND|OR) {TERM})*$")
BSD_IN_WORDS = re.compile(r"\bbsd[- ]style\b", re.IGNORECASE)


def _unasserted(record):
    license = record["license"]
    return license["expression"] == "NOASSERTION" or not (license["found"] or license["evidence"] == "job")


def _lost_family(record):
    """The file's head speaks of a BSD-style licence, beside whatever else, and the expression has none."""
    named = any(found["path"] == record["path"] and BSD_IN_WORDS.search(found["text"] or "")
                for found in record["license"]["found"])
    return named and "BSD" not in record["license"]["expression"]


def checks(dataset):
    rows = dataset.kernels
    return [
        check("licence: not an SPDX expression", rows, lambda row: not EXPRESSION.match(row["license"]["expression"]), place_of),
        check("licence: kept without one, or without evidence", rows, _unasserted, place_of),
        check("licence: a BSD head is lost beside another one", rows, _lost_family, place_of),
        check("licence: says where its code comes from", rows, lambda row: row["license"].get("adapted_from"), place_of,
              wrong=False),
    ]
