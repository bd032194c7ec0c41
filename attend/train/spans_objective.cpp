// The loss of encoder-decoders that are pretrained on text: cross-entropy of the spans that were
// taken out of it, under teacher forcing.
#include <algorithm>

#include "attend/base/error.h"
#include "attend/train/objective.h"
#include "attend/train/span_corruption.h"

namespace attend {
namespace {

constexpr uint64_t kSpanStreams = 0x7370616e;

class SpanCorruption : public TeacherForcing {
 public:
  SpanCorruption(const RunConfig& config, const Signature& signature)
      : TeacherForcing(config, signature),
        spans_(config.spans),
        written_(written_column(signature, ColumnKind::kTokens, "span_corruption")) {
    spans_.check();
    const auto read = std::ranges::find_if(signature.columns, [](const ColumnSpec& column) {
      return !column.written && column.kind == ColumnKind::kTokens;
    });
    if (read == signature.columns.end()) {
      throw ConfigError(
          "train: training.objective span_corruption needs a model that reads one text and writes "
          "another, such as --preset small");
    }
    if (config.data.text.empty()) {
      throw ConfigError(
          "train: training.objective span_corruption trains on plain text; give --text FILE, and "
          "no "
          "source and target");
    }
    read_ = read->name;
    framing_ = read->framing;
    longest_ = longest_text(config, signature);
  }

  void prepare(const Corpus& /*corpus*/, const Tokenizers& tokenizers) override {
    const Tokenizer &read = *tokenizers.at(read_), &written = *tokenizers.at(written_);
    if (read.fingerprint() != written.fingerprint()) {
      throw ConfigError(
          "train: span corruption reads and writes the same text, but {} and {} have different "
          "tokenizers; give one tokenizer for both, or leave out vocabulary.joint and "
          "vocabulary.target_kind",
          read_, written_);
    }
    const size_t spans = spans_of(longest_, spans_);
    if (static_cast<size_t>(read.special().sentinels) >= spans) return;
    throw ConfigError(
        "train: the tokenizer has {} sentinels, but a text of {} tokens has {} spans; train it "
        "with "
        "vocabulary.sentinels {} or more, or leave it out, or set a shorter data.context. Where "
        "the "
        "tokenizer is that of init_from, init_vocabulary match trains another one",
        read.special().sentinels, longest_, spans, spans);
  }

  Loss loss(const Model& model, const Batch& batch, const LossContext& context) const override {
    const SpecialTokens special = tokenizer_of(context, read_).special();
    const Tokens whole = batch.tokens(read_);
    TokenLines read, written;
    for (size_t i = 0; i < whole.count(); ++i) {
      std::span<const int32_t> ids = whole.sequence(i);
      ids = ids.subspan(framing_.start ? 1 : 0, ids.size() - framing_.extra());
      const CorruptedText text =
          corrupted_text(ids, special, spans_, stream_of_text(ids, context, kSpanStreams));
      read.add(framed(text.source, framing_, special));
      written.add(text.target);
    }
    Batch corrupted(batch.size());
    corrupted.lines = batch.lines;
    corrupted.add(read_, read.tokens());
    corrupted.add(written_, written.tokens());
    return TeacherForcing::loss(model, corrupted, context);
  }

 private:
  SpansConfig spans_;
  std::string read_, written_;  // columns
  Framing framing_;             // of what is read
  size_t longest_ = 0;
};

}  // namespace

std::unique_ptr<Objective> make_span_corruption(const RunConfig& config,
                                                const Signature& signature) {
  return std::make_unique<SpanCorruption>(config, signature);
}

}  // namespace attend
