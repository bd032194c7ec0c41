// Pictures of embeddings for the page.
#include <mutex>
#include <nlohmann/json.hpp>

#include "attend/decode/embed.h"
#include "attend/inspect/word_vectors.h"
#include "attend/io/json_text.h"
#include "attend/serve/explorer.h"
#include "attend/serve/idle_memory.h"
#include "attend/serve/point_request.h"
#include "attend/serve/turn_lock.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTextsOfTurn = 32;       // that are encoded, until others may compute
constexpr size_t kIterationsOfTurn = 10;  // of t-SNE

// Ends work whose listener has gone.
struct NobodyWaits {};

// Texts and labels, and the vector of each.
struct PointVectors {
  LabelledTexts of;
  Tensor vectors;
};

// A turn of computing that is passed on while a client is told how far the work is.
class PointTurn {
 public:
  PointTurn(TurnLock& lock, const Explorer::Emit& emit) : turn_(lock), emit_(emit) {}

  // Throws NobodyWaits.
  void tell(const Json& event) {
    turn_.unlock();
    const bool wanted = emit_(json_text(event));
    turn_.lock();
    if (!wanted) throw NobodyWaits();
  }
  void progress(const char* what, size_t done, size_t of) {
    tell({{"event", "progress"}, {"what", what}, {"done", done}, {"of", of}});
  }

 private:
  std::unique_lock<TurnLock> turn_;
  const Explorer::Emit& emit_;
};

PointVectors encoded(const TextModel& model, LabelledTexts texts, PointTurn& turn) {
  const size_t count = texts.texts.size();
  std::vector<float> values;
  for (size_t begin = 0; begin < count; begin += kTextsOfTurn) {
    turn.progress("texts", begin, count);
    const auto some = std::span(texts.texts).subspan(begin, std::min(kTextsOfTurn, count - begin));
    const std::vector<float> rows = embed_texts(model, some).to_vector();
    values.insert(values.end(), rows.begin(), rows.end());
  }
  const size_t width = count > 0 ? values.size() / count : 0;
  return {std::move(texts), Tensor::of(values, {count, width})};
}

PointVectors vectors_of(const ExploredModel& explored, PointRequest& request, PointTurn& turn) {
  const TextModel& model = explored.model;
  if (request.source == PointSource::kWords) {
    VocabularyWords words = first_words(model, "", request.most);
    return {{std::move(words.words), {}}, std::move(words.vectors)};
  }
  if (request.source == PointSource::kLines) {
    if (request.texts.empty()) throw DataError("points: there are no lines; give some texts");
    return encoded(model, {std::move(request.texts), std::move(request.labels)}, turn);
  }
  LabelledTexts texts = texts_of_corpus(explored.directory, model, request.most);
  if (texts.texts.empty()) {
    throw DataError("points: the model directory has no text of its training; give lines of yours");
  }
  return encoded(model, std::move(texts), turn);
}

}  // namespace

void Explorer::points(std::string_view text, const Emit& emit) const {
  const IdleMemory given_back;
  std::string done;
  try {
    PointRequest request = PointRequest::parse(text);
    const ExploredModel& explored = model(request.model);
    PointTurn turn(*computing_, emit);
    const PointVectors found = vectors_of(explored, request, turn);
    const size_t iterations = request.projection.tsne.iterations;
    const PointMap map = project(found.vectors, found.of.texts, found.of.labels, request.projection,
                                 [&](size_t iteration) {
                                   if (iteration % kIterationsOfTurn == 0) {
                                     turn.progress("t-SNE", iteration, iterations);
                                   }
                                   return true;
                                 });
    done = R"({"event":"done",)" + points_json(map).substr(1);
  } catch (const NobodyWaits&) {
    return;
  } catch (const std::exception& error) {  // also of the system, such as no memory
    done = json_text({{"event", "error"}, {"error", error.what()}});
  }
  emit(done);
}

}  // namespace attend
