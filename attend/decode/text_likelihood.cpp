#include "attend/decode/text_likelihood.h"

#include <algorithm>
#include <numbers>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/data/windows.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

double bits(const LikelihoodStats& stats, uint64_t units) {
  if (units == 0) return 0;
  return -stats.log_likelihood / std::numbers::ln2 / static_cast<double>(units);
}

// Windows that go through the model together.
class WindowBatch {
 public:
  explicit WindowBatch(const Generator& model) : model_(model) {}

  size_t rows() const { return rows_; }

  void add(const CorpusRecord& record) {
    windows_.add(record.values[0]);
    contexts_.push_back(record.values[1].front());
    rows_ += record.values[0].size() - 1;
  }

  // Of what the windows predict. Empties it.
  LikelihoodStats measure() {
    if (contexts_.empty()) return {};
    const TeacherRows rows = window_rows(windows_.tokens(), contexts_, kIgnoredTarget);
    const Tensor losses = cross_entropy(model_.logits(Batch(contexts_.size()), rows.inputs),
                                        rows.labels, {.reduction = Reduction::kNone});
    LikelihoodStats stats;
    for (size_t i = 0; i < rows.labels.size(); ++i) {
      if (rows.labels.index_span()[i] == kIgnoredTarget) continue;
      stats += {-double{losses.span()[i]}, 1};
    }
    windows_ = {};
    contexts_.clear();
    rows_ = 0;
    return stats;
  }

 private:
  const Generator& model_;
  TokenLines windows_;
  std::vector<int32_t> contexts_;
  size_t rows_ = 0;
};

void count_text(const DocumentFiles& files, TextLikelihood& result) {
  DocumentReader reader(files);
  while (reader.next()) {
    result.bytes += reader.text().size();
    result.characters += count_code_points(reader.text());
    result.documents += reader.begins() ? 1 : 0;
  }
}

}  // namespace

double TextLikelihood::bits_per_character() const { return bits(stats, characters); }
double TextLikelihood::bits_per_byte() const { return bits(stats, bytes); }

void TextLikelihoodConfig::check() const {
  if (context == 0) throw ConfigError("likelihood: a context of 0 tokens; give at least 1");
  if (stride > context) {
    throw ConfigError(
        "likelihood: a stride of {} tokens would skip some of the text, as the context has {}; use "
        "a stride of {} or less",
        stride, context, context);
  }
}

TextLikelihood text_likelihood(const TextModel& model, const DocumentFiles& files,
                               const TextLikelihoodConfig& config) {
  config.check();
  const NoGrad no_grad;
  const ColumnSpec written = model.written();
  if (written.positions && *written.positions < config.context) {
    throw ConfigError("likelihood: a context of {} tokens, but the model has {} positions; use {}",
                      config.context, *written.positions, *written.positions);
  }
  if (std::ranges::count(files.files, std::filesystem::path("-")) > 0) {
    throw ConfigError(
        "likelihood: the text is read twice, and standard input can be read only once; give a "
        "file");
  }
  const size_t stride = config.stride == 0 ? config.context : config.stride;
  const WindowRecords records(written.name, files, encoder_of(model.tokenizers.at(written.name)),
                              {.context = config.context, .overlap = config.context - stride});
  TextLikelihood result;
  WindowBatch batch(model.generator());
  const auto stream = records.open();
  for (auto windows = stream->next(); !windows.empty(); windows = stream->next()) {
    for (const CorpusRecord& window : windows) {
      if (batch.rows() + window.values[0].size() > config.batch_tokens) {
        result.stats += batch.measure();
      }
      batch.add(window);
    }
  }
  result.stats += batch.measure();
  result.unknown = stream->columns().front().unknown;
  result.read = stream->counts().read.text;
  if (result.stats.tokens == 0) throw DataError("{}", records.explain_empty(stream->counts()));
  count_text(files, result);
  return result;
}

}  // namespace attend
