#!/usr/bin/env python3
"""Writes fixtures.json beside it: what sacreBLEU 2.6, jiwer 4 and Python's str say of odd sentences.

Needs: pip install sacrebleu==2.6.0 jiwer==4.0.0
"""
import itertools
import json
import pathlib

import jiwer
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

# hypothesis, then its references
LINES = [
    ("The cat sat on the mat.", "The cat sat on the mat.", "A cat was sitting on the mat."),
    ("the the the the the the the", "The cat is on the mat .", "There is a cat on the mat"),
    ("", "Nothing was said.", "Silence"),
    ("", "", ""),
    ("Something was said.", "", "Something has been said."),
    ("Yes", "Yes", "No"),
    ("No!", "No", "no!"),
    ("It cost $1,234.56, i.e. 3-4% more ...", "It cost $1,234.56 (i.e. 3-4 % more)...",
     "The price was 1.234,56 $, or 3 to 4% more."),
    ("Rock'n'roll isn't dead - it's \"alive\", he said.", "“Rock’n’roll isn’t dead – it’s ‘alive’,” he said.",
     "Rock 'n' roll is not dead -- it's \"alive\" , he said."),
    ("Er fährt am 3.10.2021 um 12:30 nach Köln-Ehrenfeld.", "Am 3. 10. 2021 fuhr er um 12.30 Uhr nach Köln‑Ehrenfeld.",
     "ER FÄHRT AM 3.10.2021 UM 12:30 NACH KÖLN-EHRENFELD."),
    ("Straße, GRÖSSE und Maß: ÄÖÜ äöü ß ẞ", "Strasse, Größe und Mass; äöü ÄÖÜ ẞ ß", "STRASSE, GRÖẞE UND MASS"),
    ("« L'été », dit-elle : c'est l'Œuvre d'un œil !", "« L’été », dit‑elle : c’est l’œuvre d’un ŒIL !",
     "\"L'été\", dit-elle: C'EST L'ŒUVRE D'UN ŒIL!"),
    ("ΟΔΥΣΣΕΥΣ ΚΑΙ ΣΑΣ, ΌΛΟΣ.", "Οδυσσεύς και σας, όλος.", "οδυσσευσ και σασ ολοσ"),
    ("İstanbul'da IĞDIR ve DİYARBAKIR", "istanbul'da ığdır ve diyarbakır", "İstanbul’da Iğdır ve Diyarbakır"),
    ("我们今天去北京,明天去上海。", "我们 今天 去 北京,后天去上海。", "今天我们去北京。"),
    ("東京は晴れ。気温は25.5度です", "東京は晴れ、気温は25.5度。", "東京は曇り。"),
    ("한국어 문장 하나.", "한국어 문장 둘.", "문장"),
    ("Party 🎉🎉 tonight 👩‍👩‍👧‍👦 !! 🇩🇪", "Party 🎉 tonight 👩‍👩‍👧‍👦!! 🇩🇪🇫🇷", "No party tonight 😢."),
    ("&quot;A &amp; B&quot; &lt;tag&gt; &amp;lt; <skipped> &apos;", "\"A & B\" <tag> &lt; &apos;", "A&B <skipped>tag"),
    ("a.b,c 1.2,3 .5 5. ,6 6, ..., .,., 1.a a.1 1,a 1.-2 3-", "a.b,c 1.2,3 .5 5. ,6 6, ... .,., 1.a a.1 1,a 1.-2 -3",
     "a . b , c 1.2,3 . 5 5 ."),
    ("1-2 a-2 2-a --1 1--1 -1- 10-12-2021", "1 - 2 a-2 2 -a --1 1- -1 -1 - 10 - 12 - 2021", "1-2"),
    ("tabs\tand\u00a0no-break\u2003wide\u3000spaces\x1cand\x85more  ", " tabs and no-break wide spaces and more",
     "tabs\u2028and\u202fno-break"),
    ("zero\u200bwidth \ufeffmarks", "zerowidth marks", "zero width \u2060marks"),
    ("(hi) [there] {you} 'quoted' \"double\" hi) (hi", "( hi ) [ there ] { you } 'quoted' \"double\"", "(hi there)"),
    ("C++ & C# @home ~/path/to/file_name #tag ^_^ a|b `x`", "C++ and C# @ home ~/path/to/file_name #tag ^_^ a|b",
     "C + + & C # @home"),
    ("one two three four five six seven", "one two three four five six seven", "1 2 3 4 5 6 7"),
    ("seven six five four three two one", "one two three four five six seven", "seven six five four"),
    ("e\u0301te\u0301 cafe\u0301", "été café", "ETE\u0301"),
    ("x", "y", "z"),
    (".", ".", ","),
    ("two words", "two words", "too words"),
    ("just three words", "just three words", "three words only"),
    ("A man in an orange hat starring at something.", "A man in an orange hat is staring at something.",
     "Some man with an orange hat is looking at something"),
]
HYPOTHESES = [line[0] for line in LINES]
CORPORA = {
    "one reference": [[line[1]] for line in LINES],
    "two references": [[line[1], line[2]] for line in LINES],
    "some have two": [[line[1], line[2]] if i % 3 else [line[1]] for i, line in enumerate(LINES)],
}


def streams(references):
    """sacreBLEU wants a list of lines for each reference, None where a line lacks it."""
    return list(itertools.zip_longest(*references))


def bleu_cases():
    smoothings = [("exp", None), ("floor", None), ("floor", 0.5), ("add-k", None), ("add-k", 2), ("none", None)]
    for (corpus, references), tokens, (smoothing, value), lower, effective in itertools.product(
            CORPORA.items(), ["13a", "none", "char"], smoothings, [False, True], [False, True]):
        bleu = BLEU(lowercase=lower, tokenize=tokens, smooth_method=smoothing, smooth_value=value,
                    effective_order=effective, force=True)
        score = bleu.corpus_score(HYPOTHESES, streams(references))
        case = {"corpus": corpus, "tokens": tokens, "smoothing": smoothing, "value": value, "lower": lower,
                "effective": effective, "score": score.score, "text": str(score),
                "signature": str(bleu.get_signature())}
        if effective and corpus == "two references" and value is None and (tokens == "13a" or smoothing == "exp"):
            case["lines"] = [bleu.sentence_score(h, r).score for h, r in zip(HYPOTHESES, references)]
        yield case


def chrf_cases():
    for (corpus, references), (characters, beta), words, lower, space in itertools.product(
            CORPORA.items(), [(6, 2), (4, 3)], [0, 1, 2], [False, True], [False, True]):
        chrf = CHRF(char_order=characters, word_order=words, beta=beta, lowercase=lower, whitespace=space)
        score = chrf.corpus_score(HYPOTHESES, streams(references))
        case = {"corpus": corpus, "characters": characters, "words": words, "beta": beta, "lower": lower,
                "space": space, "score": score.score, "name": score.name, "signature": str(chrf.get_signature())}
        if characters == 6 and corpus == "two references" and not space:
            case["lines"] = [chrf.sentence_score(h, r).score for h, r in zip(HYPOTHESES, references)]
        yield case


def error_cases():
    """The tools take one reference: theirs are the edits and lengths of each line and reference."""
    for hypothesis, *references in LINES:
        for reference in references:
            normal = " ".join(hypothesis.split()), " ".join(reference.split())
            case = {"hypothesis": hypothesis, "reference": reference}
            for unit, process in ("word", jiwer.process_words), ("character", jiwer.process_characters):
                given, expected = normal if unit == "word" else (hypothesis.strip(), reference.strip())
                if expected:
                    out = process(expected, given)
                    case[unit] = [out.substitutions + out.deletions + out.insertions,
                                  out.hits + out.substitutions + out.deletions]
            yield case


def text_cases():
    tokenizer = Tokenizer13a()
    for line in sorted({text for lines in LINES for text in lines} | {"line-\nbroken-\n", "two\nlines\r\n", " \t "}):
        yield {"text": line, "13a": tokenizer(line.rstrip()), "lower": line.lower(), "words": line.split(),
               "strip": line.strip(), "points": [ord(c) for c in line]}


def main():
    parts = {"bleu": bleu_cases(), "chrf": chrf_cases(), "errors": error_cases(), "texts": text_cases()}
    blocks = [f'"hypotheses": {json.dumps(HYPOTHESES)}', f'"corpora": {json.dumps(CORPORA)}']
    for name, cases in parts.items():
        blocks.append(f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]")
    path = pathlib.Path(__file__).with_name("fixtures.json")
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="ascii")


if __name__ == "__main__":
    main()
