#!/usr/bin/env python3
"""Prints a header with its plain comments as documentation that Doxygen understands.

The headers have ordinary // comments. This makes documentation of them:

- The comment at the top of a file describes the file, and its first class unless that has a
  comment of its own.
- A comment above a declaration documents it, and so does one behind it on the same line.
- A comment above several declarations with no blank line between them documents those that have
  none of their own.
- A setting without a comment is documented by its help text in fields() (attend/base/fields.h).
- Members that mean the same in every class are documented by CONVENTIONS below.
- Indented lines of a comment, such as equations and examples, stay as they are.

Comments inside function bodies and parameter lists are left alone.

usage: filter.py HEADER
"""

import re
import sys

CONVENTIONS = [
    (r"\bvoid (\w+_)?fields\(V& v\)", "Lists the settings, with their help (attend/base/fields.h)."),
    (r"\bvoid visit\(Visitor& ", "Lists the parameters and parts by name (attend/nn/visit.h)."),
    (r"\bbool operator==\(.*= default", "Compares all members."),
    (r"~\w+\(\)", "Releases what it holds."),
    (r"\bstd::string_view name_of\(", "The name of a value, as settings, flags and messages spell it."),
    (r"^struct \w+(Config|Options) {", "Settings, each with its default."),
    (r"\bModelKind \w+_kind\(\);", "The registry's entry for this kind of model."),
    (r"\bconst \w+Config& config\(\) const", "The settings it was made with."),
    (r"\bauto (parse|format)\(", "For fmt."),
    (r"\(const \w+&( \w+)?\) = (default|delete);", "Copies, or cannot be copied."),
    (r"\(\w+&&( \w+)?\)( noexcept)?( = default)?;", "Moves."),
]
OPENS_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b[^;()=]*$")
NO_DECLARATION = re.compile(r"\s*(#|}|(public|private|protected):|(class|struct|enum class) [\w:]+;|friend )")
CLASS = re.compile(r"(class|struct) \w+.*{$")
HELP = re.compile(r'\bv\("\w+",\s*([\w.]+),\s*((?:"(?:\\.|[^"\\])*"\s*)+)')
MEMBER = re.compile(r"(\w+)\s*(?:=[^=].*|\{.*\})?;\s*$")
FORMATTERS = re.compile(r"\n(?://[^\n]*\n)*template <>\nstruct fmt::formatter<.*?\n};", re.S)
LITERAL = "\0"  # marks a line of a comment that is shown as it is
NOT_MEANT = re.compile(r'([\\@#<>"*~|&$%])')


def split_comment(line):
    """The code of a line, and its // comment or None."""
    quote, i = None, 0
    while i < len(line):
        if quote:
            if line[i] == "\\":
                i += 1
            elif line[i] == quote:
                quote = None
        elif line[i] == '"' or (line[i] == "'" and not line[i - 1:i].isdigit()):
            quote = line[i]
        elif line.startswith("//", i):
            return line[:i], line[i + 2:]
        i += 1
    return line, None


def escaped(text):
    """Comment text in which nothing but `code` means something to Doxygen."""
    if text.startswith("  "):
        return LITERAL + text
    parts = text.split("`")
    parts[::2] = [NOT_MEANT.sub(r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def with_code_blocks(lines):
    """The lines, with those that are literal between @code and @endcode."""
    out, inside = [], False
    for line in lines:
        literal = LITERAL in line
        if literal != inside:
            indent = re.match(r"\s*", line)[0] if literal else indent
            out.append(indent + ("/// @code{.unparsed}" if literal else "/// @endcode"))
            inside = literal
        out.append(line.replace(LITERAL, ""))
    return out


class Scopes:
    """Where the next line is: among declarations, or in a body or a list of parameters."""

    def __init__(self):
        self.open = []  # for each open brace, whether declarations follow it
        self.parentheses = 0
        self.statement = ""  # code since the last ; or brace

    def declares(self):
        return self.parentheses == 0 and all(self.open)

    def at_start(self):
        return not re.sub(r"\b(public|private|protected):", "", self.statement).strip()

    def read(self, code):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', code)
        code = re.sub(r"'(\\.|[^'\\])'", "0", code)
        for c in code:
            self.parentheses += (c in "([") - (c in ")]")
            if c == "{":
                scope = self.parentheses == 0 and OPENS_SCOPE.search(self.statement)
                self.open.append(bool(scope))
            elif c == "}" and self.open:
                self.open.pop()
            if c in "{}" or (c == ";" and self.parentheses == 0):
                self.statement = ""
            else:
                self.statement += c
        self.statement += " "


class Filter:
    def __init__(self, text):
        text = FORMATTERS.sub("", text)  # Doxygen does not know the namespace of fmt
        self.lines = text.split("\n")
        self.helps = [(m.start(), m[1].split(".")[-1], "".join(re.findall(r'"((?:\\.|[^"\\])*)"', m[2])))
                      for m in HELP.finditer(text)]
        self.out = []
        self.described = []  # the comment at the top, until a class has taken it

    def help_of(self, code, place):
        """Of a setting that is declared in this code, from the fields() that follow it."""
        member = MEMBER.search(code)
        for begin, name, text in self.helps:
            if member and begin > place and name == member[1]:
                return text
        return None

    def default_comment(self, code, place):
        for pattern, text in CONVENTIONS:
            if re.search(pattern, code):
                return text
        return self.help_of(code, place)

    def run(self):
        scopes = Scopes()
        above = []  # a comment that waits for its declaration
        covering = []  # the comment of this paragraph
        outer = []  # those of the scopes around
        behind = None  # the column of a comment behind the line before
        place = 0
        top = True
        for number, line in enumerate(self.lines):
            code, comment = split_comment(line)
            declares, starts, before = scopes.declares(), scopes.at_start(), list(scopes.open)
            only_comment = comment is not None and not code.strip()
            if top and only_comment:
                self.described.append("///" + escaped(comment))
                self.out += ["/// @file"] * (not self.out) + self.described[-1:]
            elif not line.strip() or not declares:
                top = False
                self.out += above + [line]
                above, covering, behind = [], [] if not line.strip() else covering, None
            elif only_comment and behind == len(code):
                self.out.append(code + "///<" + escaped(comment))
            elif only_comment:
                above.append(code + "///" + escaped(comment))
                covering, behind = [], None
            else:
                top = False
                if code.lstrip().startswith("template"):
                    code = code + " " + self.lines[number + 1]
                self.declaration(line, code, comment, above, covering, starts, place)
                code, comment = split_comment(line)
                covering = above or covering
                above = []
            if not only_comment:
                scopes.read(code)
                if len(scopes.open) > len(before) and scopes.open[-1]:
                    outer.append(covering)
                    covering = []
                elif len(scopes.open) < len(before) and before[-1]:
                    covering = outer.pop()
                if declares and line.strip():
                    documents = comment is not None and scopes.declares() and self.is_declared(code)
                    behind = len(code) if documents else None
                    if documents:
                        self.out[-1] = code + "///<" + escaped(comment)
            place += len(line) + 1
        return "\n".join(with_code_blocks(self.out + above))

    @staticmethod
    def is_declared(code):
        """Whether a comment behind this code is of a declaration that ends in it."""
        return not NO_DECLARATION.match(code) and not code.rstrip().endswith(("{", ":", "("))

    def declaration(self, line, code, comment, above, covering, starts, place):
        if NO_DECLARATION.match(code) or not starts:
            self.out += [text.replace("///", "//", 1) for text in above] + [line]
            return
        own = above
        if CLASS.match(code):
            own, self.described = own or self.described, []
        if not own and comment is None:
            text = self.default_comment(code, place)
            own = ["/// " + escaped(text)] if text else covering
        self.out += own + [line]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        print(Filter(header.read()).run(), end="")
