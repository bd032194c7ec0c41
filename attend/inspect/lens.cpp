#include "attend/inspect/lens.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/inspect/candidates_json.h"
#include "attend/inspect/stage_rows.h"
#include "attend/io/json_text.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr size_t kRowsAtOnce = 128;  // of logits, each as wide as the vocabulary

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
  check_candidates("lens", top);
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
      const auto next = std::span(written.written).subspan(begin, count);
      for (Candidates& cell : candidates_of(model.tokenizer(written.name), *logits, next, top)) {
        lens.cells.push_back(std::move(cell));
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
      row.push_back(candidates_json(lens.at(stage, position)));
    }
    rows.push_back(std::move(row));
  }
  return json_text({{"stages", lens.stages},
                    {"items", lens.items},
                    {"written", lens.written},
                    {"cells", std::move(rows)}});
}

}  // namespace attend
