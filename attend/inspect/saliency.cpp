#include "attend/inspect/saliency.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/nn/embedding_tap.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<SaliencyMethod> kMethods[] = {{SaliencyMethod::kGradient, "gradient"},
                                              {SaliencyMethod::kIntegrated, "integrated"}};

bool is_integrated(const SaliencyConfig& config) {
  return config.method == SaliencyMethod::kIntegrated;
}

size_t probes_of_each(const SaliencyConfig& config) {
  return is_integrated(config) ? std::max<size_t>(config.steps, 1) : 1;
}

// A copy of the record: which written item it is for, and how far its vectors are on the way from
// where they begin.
struct Probe {
  size_t item;
  float share;
};

// One row of the copies of a sequence.
struct ProbedRow {
  size_t sequence, probe, item;
};

// Copies of all sequences, one for each probe. To the model every row is a token of its own: id
// first_id + n is row n, so that rows are known in whatever order, and in however many calls, a
// model embeds them. What a probe sees of a written sequence ends at its item: what comes later has
// no part in it.
class Copies {
 public:
  Copies(const TextModel& model, const Trace& trace, std::span<const Probe> probes)
      : trace_(trace), probes_(probes) {
    for (const TraceSequence& sequence : trace.sequences) {
      if (sequence.role == SequenceRole::kJoined) continue;
      const Tokenizer& tokenizer = model.tokenizer(sequence.name);
      first_id_ = std::max(first_id_, static_cast<int32_t>(tokenizer.size()));
      const SpecialTokens special = tokenizer.special();
      unknown_.push_back(special.unknown >= 0 ? special.unknown : special.start);
    }
    for (size_t s = 0; s < unknown_.size(); ++s) tokens_.push_back(copies_of(s));
  }

  std::span<const Probe> probes() const { return probes_; }
  // Of a sequence of the trace, numbered.
  const Tokens& tokens(size_t sequence) const { return tokens_[sequence]; }
  int32_t unknown(size_t sequence) const { return unknown_[sequence]; }

  // Where the items of a sequence stand in the joined one, if there is one.
  struct Place {
    size_t sequence, first;
  };
  std::optional<Place> joined(size_t sequence) const {
    const size_t last = trace_.sequences.size() - 1;
    if (trace_.sequences[last].role != SequenceRole::kJoined) return std::nullopt;
    size_t first = 0;
    for (size_t s = 0; s < sequence; ++s) first += trace_.sequences[s].size();
    return Place{last, first};
  }

  // The row that an id stands for; none for an id of the vocabulary.
  const ProbedRow* row(int32_t id) const {
    return id < first_id_ ? nullptr : &rows_[static_cast<size_t>(id - first_id_)];
  }
  int32_t real(int32_t id) const {
    const ProbedRow* const at = row(id);
    return at == nullptr ? id : trace_.sequences[at->sequence].ids[at->item];
  }

 private:
  Tokens copies_of(size_t number) {
    const TraceSequence& sequence = trace_.sequences[number];
    TokenLines lines;
    for (size_t p = 0; p < probes_.size(); ++p) {
      const bool whole = sequence.role != SequenceRole::kWritten;
      std::vector<int32_t> line(whole ? sequence.ids.size() : probes_[p].item + 1);
      std::iota(line.begin(), line.end(), first_id_ + static_cast<int32_t>(rows_.size()));
      for (size_t item = 0; item < line.size(); ++item) rows_.push_back({number, p, item});
      lines.add(line);
    }
    return lines.tokens();
  }

  const Trace& trace_;
  std::span<const Probe> probes_;
  int32_t first_id_ = 0;
  std::vector<int32_t> unknown_;
  std::vector<Tokens> tokens_;
  std::vector<ProbedRow> rows_;
};

// The vectors that go into the model, as what gradients end at. Each copy has gone its probe's
// share of the way: from zeros, or from the vector of the unknown token.
class Leaves : public EmbeddingTap {
 public:
  Leaves(const Copies& copies, bool from_unknown) : copies_(copies), from_unknown_(from_unknown) {}

  Tensor embed(const Tensor& ids, const LookUp& look_up) override {
    const auto given = ids.index_span();
    std::vector<int32_t> real(given.size());
    std::ranges::transform(given, real.begin(), [&](int32_t id) { return copies_.real(id); });
    const Tensor vectors = look_up(Tensor::ids(real, {real.size()})).detach();
    Leaf leaf{{given.begin(), given.end()}, copy_of(vectors), copy_of(vectors)};
    if (from_unknown_) subtract_unknown(leaf, look_up);
    const size_t width = vectors.width();
    for (size_t i = 0; i < leaf.ids.size(); ++i) {
      const ProbedRow* const row = copies_.row(leaf.ids[i]);
      const float rest = row == nullptr ? 0.0f : 1.0f - copies_.probes()[row->probe].share;
      for (size_t c = i * width; c < (i + 1) * width; ++c) {
        leaf.vectors.data()[c] -= rest * leaf.way.data()[c];
      }
    }
    leaf.vectors.require_grad();
    leaves_.push_back(leaf);
    std::vector<size_t> extents;
    for (size_t axis = 0; axis < ids.rank(); ++axis) {
      extents.push_back(ids.extent(static_cast<int>(axis)));
    }
    extents.push_back(width);
    return leaf.vectors.reshape(Shape(extents));
  }

  // Adds gradient x way, summed over the width, of each row of a probe's copies to the probe's row
  // of its sequence.
  void add_products(float weight, const Saliency& to) const {
    for (const Leaf& leaf : leaves_) {
      const Tensor gradient = leaf.vectors.grad();
      if (!gradient.defined()) continue;
      const size_t width = gradient.width();
      for (size_t i = 0; i < leaf.ids.size(); ++i) {
        const ProbedRow* const row = copies_.row(leaf.ids[i]);
        if (row == nullptr) continue;
        float sum = 0;
        for (size_t c = i * width; c < (i + 1) * width; ++c) {
          sum += gradient.data()[c] * leaf.way.data()[c];
        }
        const size_t item = copies_.probes()[row->probe].item;
        const auto add = [&](const Tensor& map, size_t column) {
          map.data()[item * map.width() + column] += weight * sum;
        };
        add(to[row->sequence], row->item);
        if (const auto joined = copies_.joined(row->sequence)) {
          add(to[joined->sequence], joined->first + row->item);
        }
      }
    }
  }

 private:
  struct Leaf {
    std::vector<int32_t> ids;
    Tensor vectors, way;  // [ids, width]
  };

  static Tensor copy_of(const Tensor& x) { return Tensor::of(x.to_vector(), x.shape()); }

  void subtract_unknown(const Leaf& leaf, const LookUp& look_up) const {
    const size_t width = leaf.way.width();
    std::vector<std::vector<float>> unknown;  // of each sequence, where it occurs
    for (size_t i = 0; i < leaf.ids.size(); ++i) {
      const ProbedRow* const row = copies_.row(leaf.ids[i]);
      if (row == nullptr) continue;
      if (unknown.size() <= row->sequence) unknown.resize(row->sequence + 1);
      std::vector<float>& begin = unknown[row->sequence];
      if (begin.empty()) {
        begin = look_up(Tensor::ids({copies_.unknown(row->sequence)})).to_vector();
      }
      for (size_t c = 0; c < width; ++c) leaf.way.data()[i * width + c] -= begin[c];
    }
  }

  const Copies& copies_;
  bool from_unknown_;
  std::vector<Leaf> leaves_;
};

// The log-probability of what each probe is for, negated: a loss for each.
Tensor losses_of(const TextModel& model, const Trace& trace, const Copies& copies) {
  const TraceSequence& written = *trace.written();
  Batch inputs(copies.probes().size());
  for (size_t s = 0; s < trace.sequences.size(); ++s) {
    const TraceSequence& sequence = trace.sequences[s];
    if (sequence.role == SequenceRole::kRead) inputs.add(sequence.name, copies.tokens(s));
  }
  std::vector<int32_t> labels;
  Tensor logits;
  if (written.role == SequenceRole::kLabel) {
    logits = model.classifier().label_logits(inputs);
    for (const Probe& probe : copies.probes()) {
      labels.push_back(label_number(model, written, written.written[probe.item]));
    }
  } else {
    const Tokens& rows = copies.tokens(trace.index_of(written.name));
    logits = model.generator().logits(inputs, rows);
    labels.assign(rows.packing.rows(), kIgnoredTarget);
    for (size_t p = 0; p < rows.count(); ++p) {
      labels[rows.packing.end(p) - 1] = written.written[copies.probes()[p].item];
    }
  }
  return cross_entropy(logits, Tensor::ids(labels, {labels.size()}),
                       {.reduction = Reduction::kNone});
}

void run(const TextModel& model, const Trace& trace, std::span<const Probe> probes,
         const SaliencyConfig& config, const Saliency& to) {
  const Copies copies(model, trace, probes);
  Leaves leaves(copies, is_integrated(config));
  const Tensor losses = losses_of(model, trace, copies);
  backward(losses, Tensor::full(losses.shape(), -1.0f));
  leaves.add_products(1.0f / static_cast<float>(probes_of_each(config)), to);
}

// The first of them that go through the model together; one at least.
std::span<const Probe> first_of(std::span<const Probe> probes, const Trace& trace,
                                size_t most_rows) {
  size_t longest = 0;
  for (const TraceSequence& sequence : trace.sequences) {
    if (sequence.role == SequenceRole::kRead) longest = std::max(longest, sequence.size());
  }
  size_t count = 0;
  for (size_t rows = 0; count < probes.size(); ++count) {
    rows += std::max(longest, probes[count].item + 1);
    if (rows > most_rows && count > 0) break;
  }
  return probes.first(count);
}

}  // namespace

SaliencyMethod saliency_method_from_name(std::string_view name) {
  return value_from_name(kMethods, "saliency", name);
}

void check_saliency(const Trace& trace, const SaliencyConfig& config) {
  const TraceSequence* const written = trace.written();
  if (written == nullptr || written->written.empty()) {
    throw ConfigError(
        "saliency: nothing is written, and saliency explains what is; look at attention instead");
  }
  size_t items = 0;
  for (const TraceSequence& sequence : trace.sequences) {
    if (sequence.role != SequenceRole::kJoined) items += sequence.ids.size();
  }
  if (written->written.size() * probes_of_each(config) * items <= kMostSaliencyRows) return;
  throw DataError(
      "saliency: {} items for each of {} written tokens take too long; use a shorter "
      "text{}",
      items, written->written.size(), is_integrated(config) ? ", or the plain gradient" : "");
}

std::string saliency_keys(const Trace& trace, std::string_view name) {
  if (!name.empty()) {
    if (trace.sequence(name).role != SequenceRole::kLabel) return std::string(name);
    throw ConfigError(
        "saliency: '{}' is not read, so it has no gradient; choose a sequence that is", name);
  }
  const auto is_read = [](const TraceSequence& s) { return s.role == SequenceRole::kRead; };
  const auto first = std::ranges::find_if(trace.sequences, is_read);
  return first == trace.sequences.end() ? trace.sequences.at(0).name : first->name;
}

Saliency saliency(const TextModel& model, const Trace& trace, const SaliencyConfig& config,
                  const SaliencyListener& listener) {
  check_saliency(trace, config);
  check_intervention(trace);
  const size_t written = trace.written()->written.size();
  const size_t steps = probes_of_each(config);
  std::vector<Probe> probes;
  for (size_t item = 0; item < written; ++item) {
    for (size_t step = 0; step < steps; ++step) {
      const float middle = (static_cast<float>(step) + 0.5f) / static_cast<float>(steps);
      probes.push_back({item, is_integrated(config) ? middle : 1.0f});
    }
  }
  Saliency found;
  for (const TraceSequence& sequence : trace.sequences) {
    const bool embedded = sequence.role != SequenceRole::kLabel;
    found.push_back(embedded ? Tensor::zeros({written, sequence.size()}) : Tensor());
  }
  for (size_t done = 0; done < probes.size();) {
    const auto some = first_of(std::span(probes).subspan(done), trace, config.most_rows);
    run(model, trace, some, config, found);
    done += some.size();
    if (listener && !listener(found, done / steps)) break;
  }
  return found;
}

}  // namespace attend
