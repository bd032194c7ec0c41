#include "attend/decode/embed.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/parallel.h"
#include "attend/decode/line_limit.h"
#include "attend/decode/text_batches.h"
#include "attend/nn/embedding_tap.h"
#include "attend/ops/embedding.h"
#include "attend/ops/pool.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<EmbeddingPooling> kEmbeddingPoolings[] = {
    {EmbeddingPooling::kMean, "mean"},
    {EmbeddingPooling::kFirst, "first"},
    {EmbeddingPooling::kLast, "last"},
    {EmbeddingPooling::kAttention, "attention"}};

ColumnSpec embedded_spec(const TextModel& model) {
  if (model.model->encoder() == nullptr) {
    throw ConfigError("embed: a {} model has no encoder, and so no vectors of texts",
                      model.config.kind.name);
  }
  const std::optional<ColumnSpec> read = model.read();
  return read ? *read : model.written();
}

// What an encoder reads of the texts. A language model reads a start before each.
struct EncoderTexts {
  ColumnSpec column;
  Framing framing;
  std::vector<std::vector<int32_t>> ids;  // without start and end
  std::vector<size_t> lengths;            // with them

  EncoderTexts(const TextModel& model, std::span<const std::string> texts)
      : column(embedded_spec(model)),
        framing(column.written ? Framing{.start = true} : column.framing) {
    const Tokenizer& tokenizer = model.tokenizer(column.name);
    const LineLimit limit = line_limit(column, 0);
    ids.resize(texts.size());
    constexpr size_t kTextsOfThread = 32;
    parallel_for(texts.size(), kTextsOfThread, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ids[i] = tokenizer.encode(texts[i]);
    });
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!limit.allows(ids[i].size())) {
        limit.fail(fmt::format("embed: text {}", i + 1), ids[i].size());
      }
      lengths.push_back(ids[i].size() + framing.extra());
    }
  }

  // Calls use(numbers, rows) for each batch of texts that have rows.
  template <typename Use>
  void in_batches(const TextModel& model, size_t batch_tokens, const Use& use) const {
    const SpecialTokens special = model.tokenizer(column.name).special();
    for (std::vector<size_t> batch : batches_by_length(lengths, batch_tokens)) {
      std::erase_if(batch, [&](size_t i) { return lengths[i] == 0; });
      if (batch.empty()) continue;
      TokenLines lines;
      for (const size_t i : batch) lines.add(framed(ids[i], framing, special));
      use(batch, model.model->encoder()->encode({column.name, lines.tokens()}));
    }
  }
};

// [sequences, width]
Tensor pooled(const TextModel& model, const Column& rows, EmbeddingPooling pooling) {
  if (pooling == EmbeddingPooling::kMean) return mean_pool(rows.values, rows.packing);
  if (pooling == EmbeddingPooling::kAttention) {
    const Tensor found = model.model->encoder()->attention_pooled(rows);
    if (found.defined()) return found;
    throw ConfigError(
        "embed: pooling 'attention' takes the query that a model has learned, and this {} model "
        "has none; use mean, first or last, or train labels or numbers with pooling 'attention'",
        model.config.kind.name);
  }
  std::vector<int32_t> one;
  for (size_t i = 0; i < rows.packing.count(); ++i) {
    const size_t at =
        pooling == EmbeddingPooling::kFirst ? rows.packing.begin(i) : rows.packing.end(i) - 1;
    one.push_back(static_cast<int32_t>(at));
  }
  return gather_rows(rows.values, Tensor::ids(one, {one.size()}));
}

double length_of(std::span<const float> x) {
  double sum = 0;
  for (const float v : x) sum += double{v} * double{v};
  return std::sqrt(sum);
}

void normalize(std::span<float> x) {
  const double length = length_of(x);
  if (!(length > 0)) return;
  for (float& v : x) v = static_cast<float>(double{v} / length);
}

std::span<float> row_of(const Tensor& x, size_t i) {
  return {x.data() + i * x.stride(), x.width()};
}

}  // namespace

std::string_view name_of(EmbeddingPooling pooling) {
  return name_from_value(kEmbeddingPoolings, pooling);
}

std::string embedded_column(const TextModel& model) { return embedded_spec(model).name; }

Tensor embed_texts(const TextModel& model, std::span<const std::string> texts,
                   const EmbeddingOptions& options) {
  const NoGrad no_grad;
  const EncoderTexts read(model, texts);
  Tensor found = Tensor::zeros({texts.size(), model.model->encoder()->width()});
  read.in_batches(model, options.batch_tokens,
                  [&](std::span<const size_t> numbers, const Column& rows) {
                    const Tensor vectors = pooled(model, rows, options.pooling);
                    for (size_t i = 0; i < numbers.size(); ++i) {
                      const std::span<float> to = row_of(found, numbers[i]);
                      std::ranges::copy(row_of(vectors, i), to.begin());
                      if (options.normalize) normalize(to);
                    }
                  });
  return found;
}

std::vector<TokenRows> embed_tokens(const TextModel& model, std::span<const std::string> texts,
                                    const EmbeddingOptions& options) {
  const NoGrad no_grad;
  const EncoderTexts read(model, texts);
  const Tokenizer& tokenizer = model.tokenizer(read.column.name);
  const size_t width = model.model->encoder()->width();
  std::vector<TokenRows> found(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    found[i] = {tokenizer.pieces(texts[i]), Tensor::zeros({read.ids[i].size(), width})};
  }
  read.in_batches(model, options.batch_tokens,
                  [&](std::span<const size_t> numbers, const Column& rows) {
                    for (size_t i = 0; i < numbers.size(); ++i) {
                      const size_t first = rows.packing.begin(i) + (read.framing.start ? 1 : 0);
                      const Tensor& to = found[numbers[i]].rows;
                      for (size_t k = 0; k < to.extent(0); ++k) {
                        std::ranges::copy(row_of(rows.values, first + k), row_of(to, k).begin());
                        if (options.normalize) normalize(row_of(to, k));
                      }
                    }
                  });
  return found;
}

Tensor token_vectors(const TextModel& model, std::string_view name) {
  // Looks up all tokens beside those that the model asks for.
  struct Table : EmbeddingTap {
    Tensor all, table;
    bool first;
    Table(size_t tokens, bool of_first)
        : all(Tensor::empty({tokens}, DType::kInt32)), first(of_first) {
      for (size_t i = 0; i < tokens; ++i) all.indices()[i] = static_cast<int32_t>(i);
    }
    Tensor embed(const Tensor& ids, const LookUp& look_up) override {
      if (!first || !table.defined()) table = look_up(all);
      return look_up(ids);
    }
  };
  const NoGrad no_grad;
  const Signature signature = model.model->signature();
  const ColumnSpec& column = signature.column(name);
  const Tokenizer& tokenizer = model.tokenizer(name);
  const auto one_token = [&](const ColumnSpec& of) {
    const Tokenizer& tokens = model.tokenizer(of.name);
    const int32_t id =
        std::min<int32_t>(tokens.first_piece(), static_cast<int32_t>(tokens.size()) - 1);
    return one_sequence(framed(std::span(&id, 1), of.framing, tokens.special()));
  };
  // What a model writes it looks up after what it reads.
  Table tap(tokenizer.size(), !column.written);
  const std::optional<ColumnSpec> read = model.read();
  if (column.written && read && model.model->generator() != nullptr) {
    model.model->generator()->force({read->name, one_token(*read)}, one_token(column));
  } else if (model.model->encoder() != nullptr) {
    model.model->encoder()->encode({column.name, one_token(column)});
  }
  if (!tap.table.defined()) {
    throw ConfigError("neighbours: a {} model looks up no vectors for its {}",
                      model.config.kind.name, column.name);
  }
  return tap.table;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double product = 0;
  for (size_t i = 0; i < a.size(); ++i) product += double{a[i]} * double{b[i]};
  const double lengths = length_of(a) * length_of(b);
  return lengths > 0 ? product / lengths : 0.0;
}

NearestVectors::NearestVectors(const Tensor& vectors)
    : unit_(Tensor::empty({vectors.rows(), vectors.width()})) {
  for (size_t i = 0; i < size(); ++i) {
    std::ranges::copy(row_of(vectors, i), row_of(unit_, i).begin());
    normalize(row_of(unit_, i));
  }
}

std::span<const float> NearestVectors::unit(size_t number) const { return row_of(unit_, number); }

std::vector<Neighbour> NearestVectors::operator()(std::span<const float> query, size_t count,
                                                  std::span<const size_t> left_out) const {
  const double length = length_of(query);
  std::vector<Neighbour> all(size());
  constexpr size_t kGrain = 256;
  parallel_for(size(), kGrain, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const std::span<const float> row = unit(i);
      float product = 0;
      bool zero = true;
      for (size_t k = 0; k < row.size(); ++k) {
        product += row[k] * query[k];
        zero &= row[k] == 0;
      }
      all[i] = {i, zero || !(length > 0) ? -2.0 : double{product} / length};
    }
  });
  std::erase_if(all, [&](const Neighbour& n) {
    return n.similarity < -1.5 || std::ranges::find(left_out, n.number) != left_out.end();
  });
  const auto nearer = [](const Neighbour& a, const Neighbour& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.number < b.number;
  };
  const size_t found = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(found), all.end(),
                    nearer);
  all.resize(found);
  return all;
}

WordNeighbours::WordNeighbours(TextModel model, std::string column)
    : model_(std::move(model)),
      column_(column.empty() ? embedded_column(model_) : std::move(column)),
      vectors_(token_vectors(model_, column_)) {}

WordNeighbours::Meant WordNeighbours::meant_by(std::string_view word) const {
  const Tokenizer& tokenizer = model_.tokenizer(column_);
  const std::vector<int32_t> ids = tokenizer.encode(word);
  Meant meant{std::vector<float>(vectors_.width()), {}};
  const bool known = !ids.empty() && std::ranges::none_of(ids, [&](int32_t id) {
    return id == tokenizer.special().unknown;
  });
  if (!known) {
    const Tensor vector = model_.model->unseen_word(word);
    if (!vector.defined()) {
      throw DataError("neighbours: '{}' is not in the vocabulary of the model{}", word,
                      ids.size() > 1 ? ", or a part of it" : "");
    }
    meant.vector = vector.to_vector();
    normalize(meant.vector);
    return meant;
  }
  for (const int32_t id : ids) {
    const auto token = static_cast<size_t>(id);
    meant.tokens.push_back(token);
    for (size_t k = 0; k < meant.vector.size(); ++k) meant.vector[k] += vectors_.unit(token)[k];
  }
  normalize(meant.vector);
  return meant;
}

std::vector<WordNeighbours::Word> WordNeighbours::operator()(std::string_view query,
                                                             size_t count) const {
  std::vector<float> sum(vectors_.width());
  std::vector<size_t> left_out;
  float sign = 1;
  bool any = false;
  constexpr std::string_view kSpaces = " \t\r\n";
  for (size_t begin = query.find_first_not_of(kSpaces); begin != query.npos;) {
    const size_t end = std::min(query.find_first_of(kSpaces, begin), query.size());
    const std::string_view word = query.substr(begin, end - begin);
    begin = query.find_first_not_of(kSpaces, end);
    const bool last = begin == query.npos;
    if (!last && (word == "+" || word == "-")) {
      sign = word == "+" ? 1.0f : -1.0f;
      continue;
    }
    const Meant meant = meant_by(word);
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += sign * meant.vector[k];
    left_out.insert(left_out.end(), meant.tokens.begin(), meant.tokens.end());
    sign = 1;
    any = true;
  }
  if (!any) throw DataError("neighbours: a blank query; give a word");
  const Tokenizer& tokenizer = model_.tokenizer(column_);
  for (int32_t id = 0; id < tokenizer.first_piece(); ++id) {
    left_out.push_back(static_cast<size_t>(id));
  }
  std::vector<Word> found;
  for (const Neighbour& near : vectors_(sum, count, left_out)) {
    found.push_back({tokenizer.piece(static_cast<int32_t>(near.number)), near.similarity});
  }
  return found;
}

}  // namespace attend
