// The tasks of giving each text, or each pair of texts, a number.
#include <bit>
#include <cmath>

#include "attend/base/error.h"
#include "attend/io/config.h"
#include "attend/train/answer_task.h"

namespace attend {
namespace {

class RegressTask : public AnswerTask {
 public:
  explicit RegressTask(bool pair)
      : AnswerTask(pair, {.column = "number",
                          .flag = "--number FILE",
                          .setting = "number",
                          .valid_setting = "valid_number",
                          .training = &DataConfig::number,
                          .validation = &DataConfig::valid_number}) {
    name = pair ? "regress_pairs" : "regress";
    summary = pair ? "give each pair of texts a number" : "give each text a number";
    columns.push_back({.name = "number", .kind = ColumnKind::kNumber, .written = true});
    objective = "squared_error";
    label_smoothing = 0.0f;
    metrics = {Metric::kLoss};
    fitted_settings = {"mean", "deviation"};
    command = "classify";
    flags = pair ? "--text FILE --pair FILE --number FILE" : "--text FILE --number FILE";
    valid_flags = pair ? "--valid-text FILE, --valid-pair FILE and --valid-number FILE, or "
                         "--data.held-out 0.05"
                       : "--valid-text FILE and --valid-number FILE, or --data.held-out 0.05";
  }

  // Numbers are standardised: what the model learns does not depend on their unit.
  std::vector<std::string> fit(ModelConfig& model, const Corpus& corpus,
                               const Tokenizers& /*tokenizers*/) const override {
    const size_t column = corpus.column("number");
    double mean = 0, squares = 0, count = 0;  // distances from the mean so far (Welford, 1962)
    std::vector<int32_t> bits;
    for (size_t record = 0; record < corpus.size(); ++record) {
      bits.clear();
      corpus.append(record, column, bits);
      const auto number = double{std::bit_cast<float>(bits.front())};
      const double distance = number - mean;
      mean += distance / ++count;
      squares += distance * (number - mean);
    }
    const double variance = squares / count;
    set_flag(model.settings, "mean", fmt::format("{}", mean));
    set_flag(model.settings, "deviation",
             fmt::format("{}", variance > 0 ? std::sqrt(variance) : 1));
    return {};
  }

  std::unique_ptr<Judge> judge(const RunConfig& config, const Corpus& /*corpus*/,
                               const Signature& /*signature*/,
                               const Tokenizers& /*tokenizers*/) const override {
    throw ConfigError("train: no way to measure {} of numbers", name_of(config.validation.metric));
  }

 protected:
  std::optional<TokenizerConfig> answer_tokens(const VocabularyConfig& /*config*/) const override {
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<const Task> regress_task() { return std::make_unique<RegressTask>(false); }
std::unique_ptr<const Task> regress_pairs_task() { return std::make_unique<RegressTask>(true); }

}  // namespace attend
