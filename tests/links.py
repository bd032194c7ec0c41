"""Checks the links of all pages: files and headings must exist, and no placeholder such as
TABLE_OF_SCORES may be left where a program's output belongs. Then docs/claims.md: every claim has a row,
and every claim that is shown has a verdict and a link.

usage: links.py ROOT
"""
import pathlib
import re
import sys
import unicodedata

CLAIMS = set(range(1, 82)) - {49}
# Claims whose last column may still say "not shown yet". Take a number out when its row gets a link.
NOT_SHOWN_YET = {27, 50, 51, 52, 53, 54, 55, 56, 58, 79, 80, 81}

LINK = re.compile(r"\[[^\[\]]*\]\(<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
FENCE = re.compile(r"^\s*(```|~~~)")
IDENTIFIER = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
PLACEHOLDER = re.compile(r"^[A-Z]+(_[A-Z]+)+$")
ROW = re.compile(r"^\|\s*(\d+)\s*\|(.*)\|\s*$")


def text_lines(page):
    """The lines of a page, those of code blocks empty."""
    in_code = False
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = FENCE.match(line)
        in_code = in_code != bool(fence)
        yield "" if fence or in_code or line.startswith("    ") else line


def anchors(page):
    """The names by which headings can be linked, as GitHub makes them."""
    found = set()
    for line in text_lines(page):
        found.update(IDENTIFIER.findall(line))
        heading = HEADING.match(line)
        if not heading:
            continue
        text = LINK.sub(lambda link: link[0][1:link[0].index("]")], heading[1])
        kept = (c for c in text.lower() if c in "- _" or unicodedata.category(c)[0] in "LM"
                or unicodedata.category(c) == "Nd")
        slug = "".join(kept).replace(" ", "-")
        name, count = slug, 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def pages(root):
    return sorted(p for p in root.rglob("*.md")
                  if not {"build", ".git"} & set(p.relative_to(root).parts))


def placeholders(root):
    for page in pages(root):
        for number, line in enumerate(text_lines(page), 1):
            if PLACEHOLDER.match(line):
                yield f"{page.relative_to(root)}:{number}: {line} is to be replaced"


def dead_links(root):
    known = {}
    for page in pages(root):
        text = "\n".join(re.sub(r"`[^`]*`", "code", line) for line in text_lines(page))
        for link in LINK.finditer(text):  # perhaps over the end of a line
            if re.match(r"[a-z]+:", link[1]):
                continue  # elsewhere
            path, _, anchor = link[1].partition("#")
            place = f"{page.relative_to(root)}:{text.count(chr(10), 0, link.end()) + 1}"
            file = (page.parent / path).resolve() if path else page.resolve()
            if not file.exists():
                yield f"{place}: {path} does not exist"
            elif anchor and file.suffix == ".md":
                if file not in known:
                    known[file] = anchors(file)
                if anchor not in known[file]:
                    yield f"{place}: {path or page.name} has no heading #{anchor}"


def wrong_claims(root):
    page = root / "docs" / "claims.md"
    seen = set()
    for number, line in enumerate(text_lines(page), 1):
        row = ROW.match(line)
        if not row:
            continue
        claim, place = int(row[1]), f"docs/claims.md:{number}"
        cells = [cell.strip() for cell in row[2].split("|")]
        if claim in seen:
            yield f"{place}: claim {claim} has two rows"
        seen.add(claim)
        if len(cells) != 3 or not cells[0]:
            yield f"{place}: a row is | number | claim | verdict | shown by |"
        elif cells[2] == "not shown yet":
            if claim not in NOT_SHOWN_YET:
                yield f"{place}: claim {claim} must be shown"
        elif not LINK.search(cells[2]):
            yield f"{place}: claim {claim} has no link to what shows it"
        elif claim in NOT_SHOWN_YET:
            yield f"{place}: claim {claim} is shown: take it out of NOT_SHOWN_YET in tests/links.py"
        elif not re.match(r"(true|half true|false)\b", cells[1]):
            yield f"{place}: the verdict begins with 'true', 'half true' or 'false'"
    for claim in sorted(CLAIMS - seen):
        yield f"docs/claims.md: claim {claim} has no row"
    for claim in sorted(seen - CLAIMS):
        yield f"docs/claims.md: there is no claim {claim}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = [*placeholders(root), *dead_links(root), *wrong_claims(root)]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
