// Traces of models with every kind of sequences, and the labels of their maps.
#include "attend/inspect/trace.h"

#include <gtest/gtest.h>

#include "tests/errors.h"
#include "tests/inspect/trace_texts.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

TEST(Trace, HasWhatWasReadAndWritten) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "ab", "c");
  const SpecialTokens special = model.tokenizer("target").special();
  ASSERT_EQ(trace.sequences.size(), 2u);
  const TraceSequence &source = trace.sequences[0], &target = trace.sequences[1];
  EXPECT_EQ(source.name, "source");
  EXPECT_EQ(source.role, SequenceRole::kRead);
  EXPECT_EQ(texts(source.items), (Strings{"a", "b", "</s>"}));
  EXPECT_EQ(source.ids.back(), special.end);
  EXPECT_TRUE(source.written.empty());
  EXPECT_TRUE(source.next.empty());
  EXPECT_EQ(target.role, SequenceRole::kWritten);
  EXPECT_EQ(texts(target.items), (Strings{"<s>", "c"}));
  EXPECT_EQ(texts(target.next), (Strings{"c", "</s>"}));
  EXPECT_EQ(target.ids, (std::vector{special.start, target.written[0]}));
  EXPECT_EQ(target.written[1], special.end);
  EXPECT_EQ(trace.written(), &target);
  EXPECT_EQ(trace.output(), model.tokenizer("target").encode("c"));
  EXPECT_EQ(source.text_ids(), model.tokenizer("source").encode("ab"));
  EXPECT_EQ(trace.layers.size(), model.model->signature().layers.size());
}

TEST(Trace, AModelThatReadsWhatItWritesHasOneSequence) {
  const TextModel model = small_language_model();
  const Trace trace = given_trace(model, "ab", "c");
  ASSERT_EQ(trace.sequences.size(), 1u);
  EXPECT_EQ(trace.sequences[0].role, SequenceRole::kWritten);
  EXPECT_EQ(texts(trace.sequences[0].items), (Strings{"<s>", "a", "b", "c"}));
  EXPECT_EQ(texts(trace.sequences[0].next), (Strings{"a", "b", "c", "</s>"}));
  EXPECT_EQ(inputs_of(trace).size(), 1u);
  EXPECT_EQ(inputs_of(trace).rows(), 0u);
}

TEST(Trace, AClassifierWritesALabel) {
  const TextModel model = small_label_model(LabelPooling::kFirst);
  const Trace trace = given_trace(model, "ab", "c");
  ASSERT_EQ(trace.sequences.size(), 2u);
  EXPECT_EQ(texts(trace.sequences[0].items), (Strings{"<s>", "a", "b", "</s>"}));
  const TraceSequence& label = trace.sequences[1];
  EXPECT_EQ(label.role, SequenceRole::kLabel);
  EXPECT_TRUE(label.ids.empty());
  EXPECT_EQ(label.size(), 1u);
  EXPECT_EQ(texts(label.next), Strings{"c"});
  EXPECT_EQ(trace.output(), model.tokenizer("label").encode("c"));
  EXPECT_TRUE(given_trace(model, "ab").output().empty());
  expect_error<DataError>([&] { given_trace(model, "ab", "cd"); }, "'cd' is 2 tokens, but a label");
  expect_error<DataError>([&] { given_trace(model, "ab", "x"); }, "the model has no label 'x'");
}

TEST(Trace, UnknownTokensAreLabelledByTheirText) {
  const TextModel model = small_transformer_model();
  const Trace trace = given_trace(model, "aß b", "xa");
  const MapLabels labels = map_labels(trace, {"target", "source"});
  EXPECT_EQ(labels.columns, (Strings{"a", "<unk:ß>", "▁", "b", "</s>"}));
  EXPECT_EQ(labels.rows, (Strings{"<unk:x>", "a", "</s>"}));
  const Trace same = with_output(model, trace, trace.output());
  EXPECT_EQ(texts(same.written()->next), labels.rows);
  const Trace other = with_output(model, trace, model.tokenizer("target").encode("b"));
  EXPECT_EQ(texts(other.written()->next), (Strings{"b", "</s>"}));
  EXPECT_EQ(map_labels(other, {"target", "source"}).columns, labels.columns);
}

TEST(Trace, WritesWhatTheSearchFinds) {
  const SearchConfig config{.beam = 2, .max_length = 5};
  const TextModel model = small_transformer_model();
  const Trace trace = written_trace(model, "abc", config);
  EXPECT_EQ(
      trace.output(),
      search(model.generator(), inputs_of(trace), config, search_runtime(model))[0].front().tokens);
}

// What stands after the last item is what the model would write, or the end where it was written.
TEST(Trace, ACutTextIsFollowedByWhatTheModelWouldWrite) {
  const TextModel model = small_language_model();
  const SpecialTokens special = model.tokenizer("text").special();
  const Trace longer = written_trace(model, "abc", {.beam = 1, .min_length = 8, .max_length = 8});
  const Trace cut = written_trace(model, "abc", {.beam = 1, .min_length = 5, .max_length = 5});
  const std::vector<int32_t> whole = longer.output();
  ASSERT_EQ(cut.output(), std::vector<int32_t>(whole.begin(), whole.begin() + 5));
  EXPECT_EQ(likeliest_next(model, cut), cut.written()->written.back());
  EXPECT_EQ(cut.written()->next.back().text,
            model.tokenizer("text").piece(cut.written()->written.back()));
  const Trace given = given_trace(model, "abc");
  EXPECT_EQ(given.written()->written.back(), special.end);
  const Trace ended = with_output(model, cut, cut.output());
  EXPECT_EQ(ended.written()->written.back(), special.end);
  EXPECT_EQ(ended.written()->next.back().text, "</s>");
  const Trace next = with_output(model, ended, ended.output(), whole[5]);
  EXPECT_EQ(next.written()->written.back(), whole[5]);
}

TEST(Trace, ContinuesTheTextOfAModelThatReadsWhatItWrites) {
  const TextModel model = small_language_model();
  const Trace trace = written_trace(model, "abc", {.beam = 2, .max_length = 8});
  const std::vector<int32_t> start = model.tokenizer("text").encode("abc");
  const std::vector<int32_t> output = trace.output();
  ASSERT_GE(output.size(), start.size());
  EXPECT_TRUE(std::equal(start.begin(), start.end(), output.begin()));
}

TEST(Trace, WritesNoFurtherThanLearnedPositions) {
  ModelConfig config = small_transformer_config();
  transformer_of(config).positions = PositionScheme::kLearned;
  transformer_of(config).max_length = 8;
  const TextModel model = small_model(config);
  const Trace trace = written_trace(model, "abcdefg", {.beam = 1, .min_length = 20});
  EXPECT_EQ(trace.written()->size(), 8u);
  EXPECT_EQ(attention_map(model, trace, "decoder.0.cross").rows(), 8u);
}

TEST(Trace, GivesTheLikeliestLabel) {
  const TextModel model = small_label_model(LabelPooling::kAttention);
  const Trace trace = written_trace(model, "abc");
  const std::vector<float> logits = logits_of(model, trace).to_vector();
  const int32_t number = label_number(model, *trace.written(), trace.output().at(0));
  EXPECT_EQ(logits[static_cast<size_t>(number)], std::ranges::max(logits));
}

TEST(Trace, OfRecordsIsThatOfTheirTexts) {
  for (const TextModel& model : {small_transformer_model(), small_language_model(),
                                 small_label_model(LabelPooling::kFirst)}) {
    const Trace given = given_trace(model, "ab", "c");
    Batch records(2);
    for (const TraceSequence& sequence : given.sequences) {
      TokenLines lines;
      for (int i = 0; i < 2; ++i) lines.add(sequence.text_ids());
      records.add(sequence.name, lines.tokens());
    }
    TokenLines none;
    for (int i = 0; i < 2; ++i) none.add({});
    records.add("more", none.tokens());  // a column that the model has not
    for (const Trace& trace : traces_of(model, records)) {
      ASSERT_EQ(trace.sequences.size(), given.sequences.size());
      for (size_t s = 0; s < given.sequences.size(); ++s) {
        const TraceSequence &one = trace.sequences[s], &other = given.sequences[s];
        EXPECT_EQ(one.ids, other.ids);
        EXPECT_EQ(one.written, other.written);
        EXPECT_EQ(texts(one.items), texts(other.items));
        EXPECT_EQ(texts(one.next), texts(other.next));
      }
    }
  }
}

TEST(Trace, SaysWhatIsMissing) {
  const TextModel model = small_transformer_model();
  expect_error<DataError>(
      [&] {
        given_trace(model, TraceTexts{{"target", "a"}});
      },
      "there is no text for 'source'; the model reads: source");
  expect_error<ConfigError>(
      [&] {
        given_trace(model, TraceTexts{{"source", "a"}, {"text", "b"}});
      },
      "the model has no text");
  expect_error<ConfigError>([&] { given_trace(model, "a", "b").sequence("text"); },
                            "there is no sequence 'text'; the model has: source, target");
}

TEST(Trace, TextsThatAreTooLongAreNamed) {
  ColumnSpec column{.name = "target", .written = true, .positions = 12};
  check_length("inspect", column, 11, 4096);
  expect_error<DataError>([&] { check_length("inspect", column, 12, 4096); },
                          "inspect: 'target' has 12 tokens, but the model has positions for 11");
  expect_error<DataError>([&] { check_length("run", column, 11, 10); },
                          "run: 'target' has 11 tokens; at most 10 can be shown");
}

TEST(SequencePair, OfTwoSequencesComesFirst) {
  const auto names = [](const TextModel& model) {
    Strings all;
    for (const SequencePair& pair : sequence_pairs(model.model->signature().layers)) {
      all.push_back(name_of(pair));
    }
    return all;
  };
  EXPECT_EQ(names(small_transformer_model()),
            (Strings{"target -> source", "source -> source", "target -> target"}));
  EXPECT_EQ(names(small_rnn_model("bahdanau")), Strings{"target -> source"});
  EXPECT_EQ(names(small_language_model()), Strings{"text -> text"});
  EXPECT_EQ(names(small_label_model(LabelPooling::kAttention)),
            (Strings{"label -> text", "text -> text"}));
  EXPECT_EQ(names(small_label_model(LabelPooling::kMean)), Strings{"text -> text"});
  EXPECT_TRUE(names(small_rnn_model("vanilla")).empty());
}

TEST(SequencePair, IsChosenByAsMuchAsIsGiven) {
  const auto layers = small_transformer_model().model->signature().layers;
  EXPECT_EQ(chosen_pair(layers), (SequencePair{"target", "source"}));
  EXPECT_EQ(chosen_pair(layers, "source"), (SequencePair{"source", "source"}));
  EXPECT_EQ(chosen_pair(layers, "", "target"), (SequencePair{"target", "target"}));
  expect_error<ConfigError>([&] { chosen_pair(layers, "source", "target"); },
                            "no attention layer goes from 'source' to 'target'; there are: target "
                            "-> source, source -> source, target -> target");
  expect_error<ConfigError>([&] { chosen_pair(layers, "", "text"); },
                            "from any sequence to 'text'");
  expect_error<ConfigError>([] { chosen_pair({}); },
                            "the model has no attention to look at; use saliency instead");
}

TEST(SequencePair, LabelsSayWhoLooksAtWhom) {
  const Trace trace = given_trace(small_transformer_model(), "ab", "c");
  const MapLabels cross = map_labels(trace, {"target", "source"});
  EXPECT_EQ(cross.rows, (Strings{"c", "</s>"}));
  EXPECT_EQ(cross.columns, (Strings{"a", "b", "</s>"}));
  EXPECT_EQ(cross.row_framing, (Framing{.end = true}));
  EXPECT_EQ(cross.column_framing, (Framing{.end = true}));
  const MapLabels self = map_labels(trace, {"target", "target"});
  EXPECT_EQ(self.rows, (Strings{"<s>", "c"}));
  EXPECT_EQ(self.columns, self.rows);
  EXPECT_EQ(self.row_framing, (Framing{.start = true}));
  EXPECT_EQ(map_labels(trace, {"source", "source"}).rows, cross.columns);
  EXPECT_EQ(written_labels(trace, "target").rows, cross.rows);
  EXPECT_EQ(written_labels(trace, "target").columns, self.columns);
}

TEST(SequencePair, ALanguageModelIsLabelledByItsItems) {
  const Trace trace = given_trace(small_language_model(), "ab");
  const MapLabels labels = map_labels(trace, {"text", "text"});
  EXPECT_EQ(labels.rows, (Strings{"<s>", "a", "b"}));
  EXPECT_EQ(labels.columns, labels.rows);
  EXPECT_EQ(written_labels(trace, "text").rows, (Strings{"a", "b", "</s>"}));
}

TEST(SequencePair, AttentionPoolingIsLabelledByTheLabel) {
  const TextModel model = small_label_model(LabelPooling::kAttention);
  EXPECT_EQ(map_labels(given_trace(model, "ab", "c"), {"label", "text"}).rows, Strings{"c"});
  EXPECT_EQ(map_labels(given_trace(model, "ab"), {"label", "text"}).rows, Strings{"label"});
}

}  // namespace
}  // namespace attend
