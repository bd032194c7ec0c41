#!/usr/bin/env python3
"""Prints the warnings of Doxygen that count. Fails if there are any.

Every namespace member, class, enum and member function needs documentation. The comment of a class
covers its constructors and those of its data members whose names say it all; a function that
overrides another is documented where that one is.

usage: undocumented.py WARNINGS
"""

import re
import sys

MEMBER = re.compile(r"Member (.*) \((\w+)\) of (?:struct|class|namespace|file) (\S.*?) is not documented")
COMPOUND = re.compile(r"Compound (\S.*?) is not documented")


def counts(warning, undocumented):
    member = MEMBER.search(warning)
    if not member or member[3] in undocumented:
        return True
    declaration, kind, scope = member.groups()
    constructor = re.match(r"(\w+)\(", declaration)
    class_name = re.sub(r"<.*", "", scope).split("::")[-1].strip()
    return not (kind == "variable" and not scope == "attend" or
                constructor and constructor[1] == class_name or
                re.search(r"\boverride\b|=default|=delete", declaration))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        warnings = [line.rstrip() for line in file if line.strip()]
    undocumented = {found[1] for found in map(COMPOUND.search, warnings) if found}
    left = [warning for warning in warnings if counts(warning, undocumented)]
    print("\n".join(left) or "Every public declaration is documented.")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
