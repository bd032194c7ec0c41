#include "attend/inspect/lens.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/inspect/attention_maps.h"
#include "attend/io/json_text.h"
#include "attend/kernels/top_k.h"
#include "attend/nn/row_tap.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr size_t kRowsAtOnce = 128;  // of logits, each as wide as the vocabulary

struct Stage {
  std::string name;
  Tensor rows;  // [positions, width]
};

struct StageTap : RowTap {
  std::vector<Stage> stages;
  void see(const std::string& stage, const Tensor& rows) override {
    stages.push_back({stage, rows.detach()});
  }
};

std::vector<Stage> stages_of(const TextModel& model, const Trace& trace) {
  StageTap tap;
  logits_of(model, trace);
  return std::move(tap.stages);
}

// The cells of some rows, from their logits.
class LensRows {
 public:
  LensRows(const Tokenizer& tokenizer, const Tensor& logits, size_t top)
      : tokenizer_(tokenizer),
        logits_(logits),
        top_(std::min(top, logits.width())),
        ids_(logits.rows() * top_),
        log_probabilities_(ids_.size()) {
    kernels::top_k({logits.data(), logits.rows(), logits.width(), logits.stride()}, top_,
                   ids_.data(), log_probabilities_.data());
  }

  LensCell cell(size_t row, int32_t written) const {
    LensCell cell;
    const float* const logits = logits_.data() + row * logits_.stride();
    for (size_t i = row * top_; i < (row + 1) * top_ && ids_[i] >= 0; ++i) {
      cell.likeliest.push_back(
          {ids_[i], tokenizer_.piece(ids_[i]), std::exp(log_probabilities_[i])});
    }
    if (cell.likeliest.empty()) return cell;  // nothing is a number
    const float first = logits[ids_[row * top_]], own = logits[written];
    cell.probability = std::exp(own - first + log_probabilities_[row * top_]);
    cell.rank += static_cast<size_t>(
        std::count_if(logits, logits + logits_.width(), [own](float x) { return x > own; }));
    return cell;
  }

 private:
  const Tokenizer& tokenizer_;
  const Tensor& logits_;
  size_t top_;
  std::vector<int32_t> ids_;
  std::vector<float> log_probabilities_;
};

std::vector<std::string> item_texts(std::span<const TraceItem> items) {
  std::vector<std::string> texts;
  for (const TraceItem& item : items) texts.push_back(item.text);
  return texts;
}

const TraceSequence& written_by(const Trace& trace) {
  const TraceSequence* const written = trace.written();
  if (written != nullptr && written->role == SequenceRole::kWritten) return *written;
  throw ConfigError(
      "lens: the model writes no tokens, so no layer has a next one; the logit lens is for models "
      "that write");
}

}  // namespace

LogitLens logit_lens(const TextModel& model, const Trace& trace, size_t top) {
  if (top < 1 || top > kMostLensTokens) {
    throw ConfigError("lens: {} tokens of each cell; use 1 to {}", top, kMostLensTokens);
  }
  const NoGrad no_grad;
  const TraceSequence& written = written_by(trace);
  const size_t read = trace.first_written(trace.sequences.back().name);
  LogitLens lens{.items = item_texts(written.items), .written = item_texts(written.next)};
  for (const auto& [name, all] : stages_of(model, trace)) {
    if (all.rows() != read + written.size()) continue;  // of another sequence
    const Tensor rows = all.slice_rows(read, written.size());
    lens.stages.push_back(name);
    for (size_t begin = 0; begin < rows.rows(); begin += kRowsAtOnce) {
      const size_t count = std::min(kRowsAtOnce, rows.rows() - begin);
      const auto logits = model.generator().logits_of_rows(rows.slice_rows(begin, count));
      if (!logits) break;
      const LensRows some(model.tokenizer(written.name), *logits, top);
      for (size_t i = 0; i < count; ++i) {
        lens.cells.push_back(some.cell(i, written.written[begin + i]));
      }
    }
  }
  if (lens.cells.empty()) {
    throw ConfigError(
        "lens: the layers of this model pass on no rows that its output layer can read, as those "
        "of a Transformer do; there is no logit lens of it");
  }
  return lens;
}

bool has_logit_lens(const TextModel& model) {
  if (model.model->generator() == nullptr) return false;
  TraceTexts texts;
  for (const ColumnSpec& column : model.model->signature().columns) {
    if (column.kind == ColumnKind::kTokens) texts[column.name] = "";
  }
  try {
    logit_lens(model, given_trace(model, texts), 1);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string lens_json(const LogitLens& lens) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t stage = 0; stage < lens.stages.size(); ++stage) {
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (size_t position = 0; position < lens.positions(); ++position) {
      const LensCell& cell = lens.at(stage, position);
      nlohmann::ordered_json likeliest = nlohmann::ordered_json::array();
      for (const LensToken& token : cell.likeliest) {
        likeliest.push_back({token.text, shortest(token.probability)});
      }
      row.push_back({{"likeliest", likeliest},
                     {"probability", shortest(cell.probability)},
                     {"rank", cell.rank}});
    }
    rows.push_back(std::move(row));
  }
  return json_text({{"stages", lens.stages},
                    {"items", lens.items},
                    {"written", lens.written},
                    {"cells", std::move(rows)}});
}

}  // namespace attend
