#include "attend/decode/text_writing.h"

#include <algorithm>
#include <functional>

#include "attend/base/error.h"

namespace attend {

TextWriting::TextWriting(const TextGenerator& generator, const SearchRuntime& search,
                         std::vector<std::vector<int32_t>> prompts,
                         const GenerationRuntime& runtime)
    : generator_(generator),
      runtime_(runtime),
      config_(generator.config().search_config()),
      streams_(generator.streams()),
      all_(prompts.size()),
      frontier_(generator.model().generator(), search),
      finished_(prompts.size()) {
  for (size_t i = 0; i < prompts.size(); ++i) {
    all_[i].prompt = std::move(prompts[i]);
    const size_t tokens = all_[i].prompt.size();
    all_[i].unread = search.window ? tokens - std::min(tokens, *search.window) : 0;
  }
}

std::vector<Generation> TextWriting::run() {
  while (!stopped()) {
    admit();
    if (frontier_.empty()) return std::move(all_);
    step();
  }
  interrupt();
  return std::move(all_);
}

size_t TextWriting::most_tokens(size_t prompt) const {
  const size_t texts = config_.sample ? config_.n_best : config_.beam;
  return texts * (1 + all_[prompt].prompt.size() + generator_.config().max_tokens);
}

// Prompts join in their order, as many as there is room for: nothing is padded, so that short and
// long ones go together.
void TextWriting::admit() {
  std::vector<SearchRequest> requests;
  for (size_t i = open_.size(); i < all_.size(); ++i) {
    const size_t tokens = most_tokens(i);
    if (!live_.empty() && open_tokens_ + tokens > generator_.config().batch_tokens) break;
    const std::vector<int32_t>& prompt = all_[i].prompt;
    SearchConfig config = config_;
    config.max_length = prompt.size() + generator_.config().max_tokens;
    config.min_length = prompt.size() + generator_.config().min_tokens;
    requests.push_back({.config = config,
                        .prefix = prompt,
                        .line = runtime_.first_line + i,
                        .slot = writers_.size()});
    writers_.push_back(
        {TextStream(generator_.tokenizer(), prompt), StopText(generator_.config().stop)});
    open_.push_back({Clock::now(), tokens});
    open_tokens_ += tokens;
    live_.push_back(i);
  }
  const size_t count = requests.size();
  frontier_.admit(Batch(count), std::move(requests));
}

void TextWriting::step() {
  std::vector<Candidate> chosen = choose_(frontier_);
  for (const size_t prompt : live_) {
    if (!std::exchange(open_[prompt].chosen, true)) {
      all_[prompt].prompt_seconds = seconds_since(open_[prompt].since);
    }
  }
  write(chosen);
  for (Frontier::Finished& done : frontier_.advance(chosen)) finish(done);
  retire_decided(frontier_, finished_);
  if (streams_) {
    for (const Live& live : frontier_.live()) {
      say(live.record, live.sample, writers_[live.slot].fresh, nullptr);
    }
  }
  close_finished();
}

// Adds the chosen tokens to what their hypotheses say.
void TextWriting::write(std::vector<Candidate>& chosen) {
  const int32_t end = frontier_.special().end;
  std::vector<Writer> next;
  next.reserve(chosen.size());
  for (Candidate& c : chosen) {
    Writer& writer = next.emplace_back(writers_[frontier_.live()[c.parent].slot]);
    writer.fresh.clear();
    if (c.token != end) writer.add(writer.stop.add(writer.stream.add(c.token)));
    c.last = writer.stop.found();
    c.slot = next.size() - 1;
  }
  writers_ = std::move(next);
}

void TextWriting::finish(Frontier::Finished& done) {
  // Beside an end a beam of 1 goes on with the second best, which may be finished as well.
  const bool greedy = streams_ && !config_.sample;
  if (greedy && !all_[done.record].texts.empty()) return;
  Writer& writer = writers_[done.by.slot];
  writer.add(writer.stop.add(writer.stream.finish()));
  writer.add(writer.stop.finish());
  GeneratedText text{.finish = writer.stop.found()     ? FinishReason::kStopped
                               : done.hypothesis.ended ? FinishReason::kEnded
                                                       : FinishReason::kLength,
                     .sample = done.by.sample,
                     .rolled = done.rolled};
  add_text(done.record, std::move(text), done.hypothesis, writer);
  finished_[done.record].push_back(std::move(done.hypothesis));
}

void TextWriting::add_text(size_t prompt, GeneratedText text, const Hypothesis& h,
                           const Writer& writer) {
  const auto given = static_cast<ptrdiff_t>(all_[prompt].prompt.size());
  text.text = writer.text;
  text.tokens.assign(h.tokens.begin() + given, h.tokens.end());
  text.log_probabilities.assign(h.log_probabilities.begin() + given, h.log_probabilities.end());
  text.log_probability = h.log_probability;
  text.score = h.score;
  text.seconds = seconds_since(open_[prompt].since);
  std::vector<GeneratedText>& texts = all_[prompt].texts;
  texts.push_back(std::move(text));
  if (streams_) say(prompt, texts.back().sample, writer.fresh, &texts.back());
}

void TextWriting::close_finished() {
  std::erase_if(live_, [this](size_t prompt) {
    const bool going_on = std::ranges::binary_search(frontier_.live(), prompt, {}, &Live::record);
    if (!going_on) close(prompt);
    return !going_on;
  });
}

void TextWriting::close(size_t prompt) {
  std::vector<GeneratedText>& texts = all_[prompt].texts;
  if (texts.empty()) {
    throw DataError("generate: the model gives no numbers; its weights are not finite");
  }
  open_tokens_ -= open_[prompt].tokens;
  std::ranges::sort(texts, {}, &GeneratedText::sample);
  if (!streams_) rank(prompt);
  if (runtime_.on_closed) runtime_.on_closed(prompt, all_[prompt]);
}

void TextWriting::rank(size_t prompt) {
  std::vector<GeneratedText>& texts = all_[prompt].texts;
  std::ranges::stable_sort(texts, std::greater(), &GeneratedText::score);
  texts.resize(std::min(texts.size(), generator_.config().samples));
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!config_.sample) texts[i].sample = i;
    say(prompt, i, texts[i].text, &texts[i]);
  }
}

void TextWriting::interrupt() {
  for (const Live& live : frontier_.live()) {
    Writer& writer = writers_[live.slot];
    writer.fresh.clear();
    writer.add(writer.stop.add(writer.stream.finish()));
    writer.add(writer.stop.finish());
    Hypothesis h = live.so_far;
    const size_t given = all_[live.record].prompt.size();
    h.tokens.resize(std::max(h.tokens.size(), given));
    h.log_probabilities.resize(std::max(h.log_probabilities.size(), given));
    if (h.tokens.size() > given)
      h.score = frontier_.score(live.record, live.total, h.tokens.size());
    add_text(live.record,
             {.finish = FinishReason::kInterrupted, .sample = live.sample, .rolled = live.rolled},
             h, writer);
  }
  for (const size_t prompt : live_) close(prompt);
}

void TextWriting::say(size_t prompt, size_t place, std::string_view text,
                      const GeneratedText* finished) const {
  if (!runtime_.on_text || (text.empty() && finished == nullptr)) return;
  runtime_.on_text({prompt, place, text, finished, all_[prompt]});
}

}  // namespace attend
