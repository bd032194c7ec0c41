#!/usr/bin/env python3
"""Writes label_fixtures.json beside it: what scikit-learn, scipy and seqeval say of labels, numbers and tags,
made up and of real data: scikit-learn's digits and diabetes, and the words of a licence, all with mistakes of
simple models.

Needs: Debian's /usr/share/common-licenses, and pip install scikit-learn==1.9.1 scipy==1.17.1 seqeval==1.2.2
"""
import json
import pathlib
import random
import warnings

from scipy import stats
from seqeval import scheme
from seqeval.metrics import classification_report
from seqeval.metrics.sequence_labeling import get_entities
from sklearn import datasets, linear_model, metrics, naive_bayes

warnings.simplefilter("ignore")
SCHEMES = {"any": None, "iob1": scheme.IOB1, "iob2": scheme.IOB2, "iobes": scheme.IOBES}


def predicted(draw, gold, labels, right):
    return [label if draw.random() < right else draw.choice(labels) for label in gold]


def label_cases():
    draw = random.Random(1)
    for classes, records, right in (2, 40, .8), (3, 200, .6), (7, 300, .5), (5, 6, .3), (2, 300, 0), (50, 80, .4):
        labels = list(range(classes))
        gold = [min(draw.choice(labels), draw.choice(labels)) for _ in range(records)]
        yield gold, predicted(draw, gold, labels, right)
    yield [0, 0, 1, 1], [0, 0, 0, 0]  # a label that is never predicted
    yield [0, 0, 0, 0], [0, 1, 0, 1]  # one that is never right
    yield [0, 0, 0], [0, 0, 0]  # one label alone
    yield [0, 0], [1, 1]  # none right
    yield [0, 1], [1, 0]
    yield [1], [1]
    yield [4], [2]
    yield [5, 9, 5, 9], [5, 9, 9, 9]  # numbers with gaps
    pixels, digits = datasets.load_digits(return_X_y=True)
    model = naive_bayes.GaussianNB().fit(pixels[:900], digits[:900])
    yield digits[900:].tolist(), model.predict(pixels[900:]).tolist()


def averages(scores):
    """precision, recall and F1 in percent."""
    return [100 * score for score in scores[:3]]


def label_scores(gold, given):
    labels = sorted({*gold, *given})
    each = metrics.precision_recall_fscore_support(gold, given, labels=labels, zero_division=0)
    case = {"gold": gold, "predicted": given, "labels": labels,
            "classes": [[*averages(row), int(row[3])] for row in zip(*(part.tolist() for part in each))],
            "confusion": metrics.confusion_matrix(gold, given, labels=labels).tolist(),
            "accuracy": 100 * metrics.accuracy_score(gold, given),
            "matthews": float(metrics.matthews_corrcoef(gold, given))}
    for average in "micro", "macro", "weighted":
        case[average] = averages(metrics.precision_recall_fscore_support(gold, given, average=average,
                                                                         zero_division=0))
    return case


def number_cases():
    draw = random.Random(2)
    for count in 2, 3, 10, 100:
        gold = [draw.gauss(0, 1) for _ in range(count)]
        yield gold, [x + draw.gauss(0, .5) for x in gold]
    gold = [draw.randrange(6) for _ in range(60)]  # ties, as in ratings from 0 to 5
    yield gold, [x + draw.choice([-1, 0, 0, 0, 1]) for x in gold]
    yield gold, [float(x) * 1e-200 for x in gold]
    yield [1, 2, 3, 4], [4, 3, 2, 1]
    yield [1, 2, 3, 4], [1e6 + 1e-6, 1e6 + 2e-6, 1e6 + 3e-6, 1e6 + 5e-6]
    yield [1, 2, 3, 1000], [1, 2, 3, 4]
    patients, progress = datasets.load_diabetes(return_X_y=True)
    model = linear_model.LinearRegression().fit(patients[:222], progress[:222])
    yield progress[222:].tolist(), [round(x, 3) for x in model.predict(patients[222:]).tolist()]


def number_scores(gold, given):
    return {"gold": gold, "predicted": given, "pearson": float(stats.pearsonr(given, gold)[0]),
            "spearman": float(stats.spearmanr(given, gold)[0]),
            "mean_squared_error": float(metrics.mean_squared_error(gold, given)),
            "mean_absolute_error": float(metrics.mean_absolute_error(gold, given))}


def tag_cases():
    """Sequences of tags, most of which break the rules of all schemes."""
    draw = random.Random(3)
    for prefixes, types in ("BI", "XY"), ("BI", "X"), ("BIES", "XY"), ("BIES", ["X", "Y-Z", ""]):
        tags = ["O"] + [f"{prefix}-{kind}" if kind else prefix for prefix in prefixes for kind in types]
        for _ in range(40):
            gold = [draw.choice(tags) for _ in range(draw.randrange(1, 9))]
            yield gold, predicted(draw, gold, tags, .7)
    yield from licence_tags()
    yield ["O", "O"], ["O", "O"]
    yield ["B-X", "I-X"], ["O", "O"]
    yield ["O", "O"], ["B-X", "I-X"]


def licence_tags():
    """Runs of capitalised words, and those that one finds who knows the words of the first lines alone."""
    text = pathlib.Path("/usr/share/common-licenses/GPL-3").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if line.strip()][:160]
    known = {word.lower() for line in lines[:40] for word in line if word[0].isupper()}

    def tags(marked):
        kinds = [("BIG" if word.isupper() else "CAP") if mark else "" for word, mark in marked]
        return [f"{'I' if i and kinds[i - 1] == kind else 'B'}-{kind}" if kind else "O"
                for i, kind in enumerate(kinds)]
    for line in lines[40:]:
        yield tags([(word, word[0].isupper()) for word in line]), tags([(word, word.lower() in known) for word in line])


def has_tags(name, tags):
    return name in ("any", "iobes") or not any(tag[0] in "ES" for tag in tags)


def spans_of(tags, name):
    """[type, first token, one past the last token]"""
    if name == "any":
        return [[kind, begin, last + 1] for kind, begin, last in get_entities(tags)]
    return [[span.tag, span.start, span.end] for span in scheme.Tokens(tags, SCHEMES[name]).entities]


def tag_spans(gold, given):
    return {"gold": " ".join(gold), "predicted": " ".join(given),
            "spans": {name: [spans_of(gold, name), spans_of(given, name)]
                      for name in SCHEMES if has_tags(name, gold + given)}}


def tag_reports():
    """Of all sequences together, by each scheme that has their tags."""
    for name, rules in SCHEMES.items():
        pairs = [(gold, given) for gold, given in tag_cases() if has_tags(name, gold + given)]
        settings = {"mode": "strict", "scheme": rules} if rules else {}
        report = classification_report(*zip(*pairs), output_dict=True, zero_division=0, **settings)
        yield {"scheme": name, "sequences": len(pairs),
               "rows": {kind: [*averages(list(row.values())), int(row["support"])] for kind, row in report.items()}}


def main():
    parts = {"labels": [label_scores(*case) for case in label_cases()],
             "numbers": [number_scores(*case) for case in number_cases()],
             "tags": [tag_spans(*case) for case in tag_cases()],
             "tag_reports": tag_reports()}
    blocks = [f'"{name}": [\n' + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]"
              for name, cases in parts.items()]
    path = pathlib.Path(__file__).with_name("label_fixtures.json")
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="ascii")


if __name__ == "__main__":
    main()
