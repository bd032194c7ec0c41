#include "attend/train/report_json.h"

#include <nlohmann/json.hpp>

namespace attend {

std::string report_json(const TrainingReport& r) {
  nlohmann::ordered_json line = {{"step", r.step},
                                 {"epoch", r.epoch},
                                 {"loss", r.loss},
                                 {"rate", r.rate},
                                 {"gradient_norm", r.gradient_norm},
                                 {"tokens_per_second", r.tokens_per_second},
                                 {"bad_updates", r.bad_updates}};
  for (const LossPart& part : r.parts) line["parts"][part.name] = part.sum;
  if (r.early) line[kEarlyReport] = true;
  return line.dump();
}

std::string validation_json(const TrainingReport& r, const ValidationScore& s, bool best,
                            Metric metric) {
  nlohmann::ordered_json line = {
      {"step", r.step}, {"valid_loss", s.loss}, {"valid_perplexity", s.perplexity}, {"best", best}};
  for (const PartPerplexity& part : s.parts) line["perplexities"][part.name] = part.perplexity;
  if (s.value) line["valid_" + std::string(name_of(metric))] = *s.value;
  return line.dump();
}

}  // namespace attend
