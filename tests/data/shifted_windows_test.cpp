#include "attend/data/shifted_windows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "attend/base/error.h"
#include "attend/data/plan.h"
#include "attend/data/windows.h"
#include "tests/data/encoders.h"
#include "tests/data/files.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kShiftedStart = 1, kShiftedEnd = 2;

class ShiftedWindowsTest : public DataFiles {
 protected:
  struct Window {
    Ids text;
    int32_t context;
    bool operator==(const Window&) const = default;
    auto operator<=>(const Window&) const = default;
  };

  // Four lines, of 50, 3, 17 and 8 letters; each is a document, or all of them are one.
  Corpus corpus(WindowConfig config, DocumentKind documents = DocumentKind::kLine) const {
    std::string text;
    for (const int length : {50, 3, 17, 8}) {
      for (int i = 0; i < length; ++i) text += static_cast<char>('a' + (i * i + length) % 26);
      text += '\n';
    }
    const DocumentFiles files{{write("book", text)}, documents};
    return open_corpus(WindowRecords("text", files, byte_encoder(), config), directory_ / "corpus");
  }
  static std::vector<Window> windows(const Batch& batch) {
    std::vector<Window> all;
    for (size_t i = 0; i < batch.size(); ++i) {
      const auto text = batch.tokens("text").sequence(i);
      all.push_back(
          {Ids(text.begin(), text.end()), batch.tokens("text.context").sequence(i).front()});
    }
    return all;
  }
  static std::vector<Window> windows(const ShiftedWindows::Epoch& epoch) {
    std::vector<uint32_t> numbers(epoch.lengths().size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    return windows(epoch.batch(numbers));
  }
  static std::vector<Window> stored(const Corpus& corpus) {
    std::vector<uint32_t> numbers(corpus.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    return windows(make_batch(corpus, numbers));
  }
  static Ids predicted(const std::vector<Window>& all) {
    Ids ids;
    for (const Window& window : all) {
      ids.insert(ids.end(), window.text.begin() + window.context, window.text.end());
    }
    return ids;
  }
};

// Parts end where the windows of their documents do.
TEST_F(ShiftedWindowsTest, PartsAreThoseOfTheCorpus) {
  DocumentFiles files{{}, DocumentKind::kLine};
  files.files = {write("one", std::string(50, 'a') + "\n" + std::string(9, 'a') + "\n"),
                 write("empty", "\n"), write("two", std::string(40, 'b') + "\n")};
  const WindowConfig windows_of{.context = 8, .overlap = 2};
  const auto built = [&] {
    return open_corpus(WindowRecords("text", files, byte_encoder(), windows_of),
                       directory_ / "parts");
  };
  const double none_of_two[] = {1, 1, 3};
  expect_error<DataError>([&] { built().weigh(none_of_two); }, "corpus 2 of 3 has 0 records");
  files.files.erase(files.files.begin() + 1);
  Corpus made = built();
  ASSERT_EQ(made.parts().size(), 2u);
  const double weights[] = {1, 3};
  made.weigh(weights);
  const ShiftedWindows shifted(made, "text", kShiftedStart);
  for (uint64_t number = 0; number < 10; ++number) {
    const ShiftedWindows::Epoch epoch = shifted.epoch(1, number);
    const RecordLengths lengths = epoch.lengths();
    const std::vector<Window> all = windows(epoch);
    for (size_t i = 0; i < all.size(); ++i) {
      const Ids& text = all[i].text;
      EXPECT_EQ(lengths.weight(i), std::ranges::find(text, 'b') != text.end() ? 3 : 1) << i;
    }
  }
}

TEST_F(ShiftedWindowsTest, EveryTokenIsPredictedOnceWithItsContext) {
  for (const auto& [context, overlap] :
       {std::pair<size_t, size_t>{8, 0}, {8, 3}, {5, 4}, {64, 0}}) {
    const Corpus made = corpus({context, overlap});
    const ShiftedWindows shifted(made, "text", kShiftedStart);
    const Ids whole = predicted(stored(made));
    for (uint64_t number = 0; number < 20; ++number) {
      const ShiftedWindows::Epoch epoch = shifted.epoch(1, number);
      const std::vector<Window> all = windows(epoch);
      ASSERT_EQ(predicted(all), whole) << context << " " << overlap << " " << number;
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_LE(all[i].text.size(), context + 1);
        EXPECT_EQ(epoch.lengths().rows(i), all[i].text.size() - 1) << "what is read";
        const bool begins = all[i].text.front() == kShiftedStart;
        EXPECT_EQ(begins, i == 0 || all[i - 1].text.back() == kShiftedEnd);
        EXPECT_EQ(all[i].context, begins ? 1 : static_cast<int32_t>(overlap) + 1);
        if (begins) {  // shorter by less than a stride, and whole where that is possible
          const size_t size = all[i].text.size() - 1;
          const bool is_whole = all[i].text.back() == kShiftedEnd;
          EXPECT_TRUE(is_whole || (size > overlap && size <= context));
          continue;
        }
        const Ids& before = all[i - 1].text;
        const auto repeated = static_cast<ptrdiff_t>(all[i].context);
        EXPECT_TRUE(std::equal(before.end() - repeated, before.end(), all[i].text.begin()));
        const bool ends = all[i].text.back() == kShiftedEnd;
        EXPECT_TRUE(ends || all[i].text.size() == context + 1);
      }
    }
  }
}

// So that windows of different documents do not move together.
TEST_F(ShiftedWindowsTest, EachDocumentHasAShiftOfItsOwn) {
  const Corpus made = corpus({8, 0});
  const ShiftedWindows shifted(made, "text", kShiftedStart);
  std::set<std::pair<size_t, size_t>> firsts;  // of the two longest documents
  std::set<size_t> sizes;
  for (uint64_t number = 0; number < 40; ++number) {
    std::vector<size_t> cut;
    for (const Window& window : windows(shifted.epoch(3, number))) {
      const bool is_cut = window.text.front() == kShiftedStart && window.text.back() != kShiftedEnd;
      if (is_cut) cut.push_back(window.text.size() - 1);
    }
    ASSERT_EQ(cut.size(), 3u);  // with </s>, the last one does not fit either
    firsts.emplace(cut[0], cut[1]);
    sizes.insert(cut[0]);
  }
  EXPECT_EQ(sizes, (std::set<size_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_GT(firsts.size(), 20u);  // of 64, in 40 epochs
}

// The line of a window is that of the stored one that predicts its first token.
TEST_F(ShiftedWindowsTest, NameTheLineTheyBeginIn) {
  const Corpus made = corpus({8, 3}, DocumentKind::kFile);
  std::vector<uint64_t> line_of_token;  // that is predicted
  for (size_t record = 0; record < made.size(); ++record) {
    const std::vector<uint32_t> one = {static_cast<uint32_t>(record)};
    const size_t tokens = predicted(windows(make_batch(made, one))).size();
    line_of_token.insert(line_of_token.end(), tokens, made.line(record));
  }
  const ShiftedWindows shifted(made, "text", kShiftedStart);
  for (uint64_t number = 0; number < 10; ++number) {
    const ShiftedWindows::Epoch epoch = shifted.epoch(1, number);
    std::vector<uint32_t> numbers(epoch.lengths().size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    const Batch batch = epoch.batch(numbers);
    ASSERT_EQ(batch.lines.size(), numbers.size());
    size_t token = 0;
    const std::vector<Window> all = windows(batch);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(batch.lines[i], line_of_token[token]) << number << " " << i;
      token += predicted({all[i]}).size();
    }
  }
}

TEST_F(ShiftedWindowsTest, AreOthersInEachEpochAndTheSameInAnyRun) {
  const Corpus made = corpus({8, 0});
  const ShiftedWindows shifted(made, "text", kShiftedStart), again(made, "text", kShiftedStart);
  std::set<std::vector<Window>> seen;
  for (uint64_t number = 0; number < 10; ++number) {
    const std::vector<Window> all = windows(shifted.epoch(7, number));
    EXPECT_EQ(windows(again.epoch(7, number)), all);
    seen.insert(all);
  }
  EXPECT_GT(seen.size(), 5u);
  EXPECT_NE(windows(shifted.epoch(8, 0)), windows(shifted.epoch(7, 0)));
}

// With a stride of 1 the first window can be no shorter, and a document that fits is never cut.
TEST_F(ShiftedWindowsTest, LeaveWhatCannotBeShifted) {
  for (const WindowConfig config : {WindowConfig{6, 5}, WindowConfig{64, 0}}) {
    const Corpus made = corpus(config);
    const ShiftedWindows shifted(made, "text", kShiftedStart);
    EXPECT_EQ(windows(shifted.epoch(1, 3)), stored(made));
  }
}

TEST_F(ShiftedWindowsTest, AStreamResumesAtAnyBatch) {
  const Corpus made = corpus({8, 2});
  const ShiftedWindows shifted(made, "text", kShiftedStart);
  const BatchConfig config{.tokens = 24, .seed = 5};
  BatchStream whole(made, config, {}, 1, &shifted);
  std::map<uint64_t, std::multiset<Window>> epochs;
  for (int i = 0; i < 60; ++i) {
    const DataPosition at = whole.position();
    BatchStream resumed(made, config, at, 1, &shifted);
    const std::vector<Window> found = windows(whole.next());
    EXPECT_EQ(windows(resumed.next()), found) << i;
    EXPECT_EQ(resumed.position(), whole.position());
    epochs[at.epoch].insert(found.begin(), found.end());
  }
  ASSERT_GE(epochs.size(), 3u);
  for (const uint64_t number : {0, 1}) {
    const std::vector<Window> all = windows(shifted.epoch(5, number));
    EXPECT_EQ(epochs[number], std::multiset<Window>(all.begin(), all.end())) << number;
  }
}

TEST_F(ShiftedWindowsTest, ACorpusOfOtherWindowsIsRefused) {
  const Corpus made = corpus({8, 0});
  EXPECT_THROW(ShiftedWindows(made, "text", 'a' + 26), FormatError);
  EXPECT_THROW(ShiftedWindows(made, "text", 'd'), FormatError);
  EXPECT_THROW(ShiftedWindows(made, "source", kShiftedStart), DataError);
}

}  // namespace
}  // namespace attend
