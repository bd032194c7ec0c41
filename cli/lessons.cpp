#include "cli/lessons.h"

#include <algorithm>

#include "attend/base/error.h"
#include "cli/lesson_texts.h"

namespace attend::cli {
namespace {

// Recurrent models that spell letters backwards, through one vector or with attention.
constexpr LessonModel kFixedVector = {"backwards-fixed", "fixed vector", backwards_text,
                                      "model: {preset: vanilla, rnn: {embedding: 48, hidden: 96}}\n"
                                      "optimizer: {rate: 4e-3}\n"
                                      "training: {steps: 400}\n"};
constexpr LessonModel kWithAttention = {
    "backwards-attention", "with attention", backwards_text,
    "model: {preset: bahdanau, rnn: {embedding: 48, hidden: 96}}\n"
    "optimizer: {rate: 4e-3}\n"
    "training: {steps: 400}\n"};

// Three that read dates.
constexpr LessonModel kDatesRnn = {"dates-rnn", "recurrent", dates_text,
                                   "model: {preset: bahdanau, rnn: {embedding: 48, hidden: 96}}\n"
                                   "optimizer: {rate: 4e-3}\n"
                                   "training: {steps: 300}\n"};
constexpr LessonModel kDatesConvolution = {
    "dates-conv", "convolutional", dates_text,
    "model: {preset: conv, conv: {width: 64, hidden: 64, encoder_layers: 3, decoder_layers: 3, "
    "dropout: 0}}\n"
    "training: {steps: 200}\n"};
constexpr LessonModel kDatesTransformer = {
    "dates-transformer", "Transformer", dates_text,
    "model: {kind: transformer, transformer: {width: 64, heads: 4, feed_forward: 128, "
    "encoder_layers: 2, decoder_layers: 2, dropout: 0}}\n"
    "training: {steps: 1000}\n"};

// A dictionary in one layer with one head.
constexpr LessonModel kDictionary = {
    "dictionary", "one head", colours_text,
    "model: {kind: transformer, transformer: {width: 48, heads: 1, feed_forward: 96, "
    "encoder_layers: 1, decoder_layers: 1, dropout: 0}}\n"
    "vocabulary: {kind: word}\n"
    "training: {steps: 400}\n"};

// Heads of 256 columns, whose products are large unless they are scaled.
constexpr LessonModel kScaled = {
    "backwards-scaled", "scaled", short_backwards_text,
    "model: {kind: transformer, transformer: {width: 64, heads: 1, head_width: 256, "
    "feed_forward: 128, encoder_layers: 1, decoder_layers: 1, dropout: 0, score: scaled_dot}}\n"
    "training: {steps: 500}\n"};
constexpr LessonModel kNotScaled = {
    "backwards-unscaled", "not scaled", short_backwards_text,
    "model: {kind: transformer, transformer: {width: 64, heads: 1, head_width: 256, "
    "feed_forward: 128, encoder_layers: 1, decoder_layers: 1, dropout: 0, score: dot}}\n"
    "training: {steps: 500}\n"};

constexpr LessonModel kWithPositions = {
    "backwards-positions", "with positions", short_backwards_text,
    "model: {kind: transformer, transformer: {width: 64, heads: 4, feed_forward: 128, "
    "encoder_layers: 1, decoder_layers: 1, dropout: 0}}\n"
    "training: {steps: 800}\n"};
constexpr LessonModel kWithoutPositions = {
    "backwards-no-positions", "without positions", short_backwards_text,
    "model: {kind: transformer, transformer: {width: 64, heads: 4, feed_forward: 128, "
    "encoder_layers: 1, decoder_layers: 1, dropout: 0, positions: none}}\n"
    "training: {steps: 800}\n"};

constexpr LessonModel kAnimals = {
    "animals", "two ways to say it", animals_text,
    "model: {kind: transformer, transformer: {width: 48, heads: 2, feed_forward: 96, "
    "encoder_layers: 1, decoder_layers: 1, dropout: 0}}\n"
    "vocabulary: {kind: word}\n"
    "training: {steps: 300}\n"};

constexpr LessonModel kSentences = {
    "sentences", "language model", sentences_text,
    "model: {kind: gpt, gpt: {width: 64, layers: 2, heads: 4, feed_forward: 256, max_length: 64, "
    "dropout: 0}}\n"
    "vocabulary: {kind: word}\n"
    "training: {steps: 400}\n"};

// Tells the senses of a word apart, by a query that it learned.
constexpr LessonModel kSenses = {
    "senses", "which bank", senses_text,
    "model: {kind: label, label: {pooling: attention, dropout: 0, encoder: {kind: bert, bert: "
    "{width: 48, layers: 2, heads: 2, max_length: 32, dropout: 0, attention_dropout: 0, init: "
    "0.1}}}}\n"
    "vocabulary: {kind: word}\n"
    "training: {steps: 200}\n"};

using State = std::map<std::string, std::string>;
const State kTwoModels = {{"view", "compare"}, {"compare", "models"}};

}  // namespace

std::span<const Lesson> lessons() {
  static const std::vector<Lesson> all = {
      {1,
       "One fixed vector",
       "Both models spell letters backwards. One has to put the whole input into one vector; the "
       "other can look at every letter again. Start with the short input and go on to the long "
       "ones: which model makes mistakes first, and where in the output are they?",
       {kFixedVector, kWithAttention},
       {"attend", "backwards", "remembering", "questionnaires", "thequickbrownfoxjump"},
       kTwoModels},
      {2,
       "Alignment",
       "The model reads a date letter by letter and writes it as year, month, day. Each row of the "
       "map shows which letters it attended to when it wrote that character. Try other spellings: "
       "the output keeps its order, and the map follows the input. The Training tab shows how the "
       "alignment was learned.",
       {kDatesRnn},
       {"the 3rd of May 2026", "May 3, 2026", "Friday, December 24, 1999", "03.05.2026",
        "JUNE 2031, 12th", "24-Dec-99"},
       {{"view", "matrix"}}},
      {3,
       "Query, key, value",
       "The input is a small dictionary and a key to look up in it. In the row of the last word, "
       "its query matches the key of one entry, and the value of that entry becomes the answer. "
       "The numbers below the map show how that weight is computed: change the last word, and "
       "another entry matches.",
       {kDictionary},
       {"red=4 blue=7 green=2 blue", "red=4 blue=7 green=2 green", "gold=1 pink=8 black=3 gold",
        "white=5 grey=0 red=9 pink=6 grey"},
       {{"view", "matrix"},
        {"pair", "source/source"},
        {"layer", "encoder.0.self"},
        {"head", "0"},
        {"row", "3"},
        {"column", "1"}}},
      {4,
       "Why the scale",
       "Two Transformers whose heads are 256 wide learned the same task in the same number of "
       "steps. One divides its scores by the square root of 256, the other does not: its scores "
       "are large from the beginning, the softmax saturates, and hardly any gradient is left. "
       "Compare the maps, then the loss of each model in the Training tab.",
       {kScaled, kNotScaled},
       {"attend", "letters", "scale", "gradient"},
       kTwoModels},
      {5,
       "Self-attention and positions",
       "Self-attention does not know the order of its inputs: it sees a set. Of these two models, "
       "one adds positions to its tokens and spells the input backwards; the other has none. Try "
       "two inputs with the same letters, such as \"stop\" and \"post\": the model without "
       "positions cannot tell them apart.",
       {kWithPositions, kWithoutPositions},
       {"stop", "post", "listen", "silent", "positions"},
       kTwoModels},
      {6,
       "Masks, heads and cross-attention",
       "All heads of a small Transformer. Choose the attention above the maps: the encoder "
       "(source \u2192 source) sees everything, the decoder (target \u2192 target) only what is "
       "already written, hence the empty triangle, and cross-attention (target \u2192 source) "
       "reads the input. Switch heads off to see which ones the output needs.",
       {kDatesTransformer},
       {"the 3rd of May 2026", "Friday, December 24, 1999", "7/4/1976", "JUNE 2031, 12th"},
       {{"view", "model"}}},
      {7,
       "Recurrence, convolution, self-attention",
       "Three models that read dates: a recurrent one, a convolutional one and a Transformer. All "
       "of them attend from the output to the input; they differ in how a token of the input "
       "learns about the others. Choose two of them and compare what they attend to.",
       {kDatesRnn, kDatesConvolution, kDatesTransformer},
       {"Friday, December 24, 1999", "the 3rd of May 2026", "7/4/1976", "24-Dec-99"},
       kTwoModels},
      {8,
       "Decoding",
       "The training text has two ways to say the same thing. \"the\" is the likelier first word, "
       "but six adjectives can follow it; after \"a\" there is only one way to go on. A beam of 4 "
       "finds the likelier sentence. Set the beam to 1 in the options below the output: greedy "
       "search takes \"the\" and ends with a less likely one.",
       {kAnimals},
       {"dog sleeps", "cat waits", "bird eats", "horse runs"},
       {{"view", "beam"}}},
      {9,
       "Language models",
       "The model continues a sentence word by word. The verb has to agree with the subject, not "
       "with the noun before it. Look at the probabilities of the verb: which earlier words does "
       "the model attend to when it chooses one? Click another word to see how the sentence "
       "goes on from there.",
       {kSentences},
       {"the keys beside the boat", "the key beside the boats", "the old farmer near the dogs",
        "the children"},
       {{"view", "next"}, {"tokens", "6"}}},
      {11,
       "Encoders",
       "The model reads a sentence in both directions and says which bank it is about: one by a "
       "river, or one with money. The row of the map is a query that the model learned; it shows "
       "which words the answer is read from. Exchange the river for a loan, and the label changes, "
       "though the bank is the same word. Then choose the attention of the text to itself: what "
       "does the row of \"bank\" look at, and does it matter whether the clue comes before or "
       "after it?",
       {kSenses},
       {"I arrived at the bank after crossing the river",
        "I arrived at the bank after signing the loan",
        "after seeing the swan we met near the bank", "after seeing the bill we met near the bank"},
       {{"view", "matrix"}, {"pair", "label/text"}}},
  };
  return all;
}

const Lesson& lesson(size_t number) {
  const auto found = std::ranges::find(lessons(), number, &Lesson::number);
  if (found != lessons().end()) return *found;
  throw ConfigError(
      "explore: lesson {} has no model on the page; --list-lessons lists those that "
      "have",
      number);
}

}  // namespace attend::cli
