#include "attend/io/safetensors.h"

#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "attend/base/error.h"
#include "attend/io/safetensors_header.h"
#include "tests/damage.h"
#include "tests/errors.h"
#include "tests/files.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

std::string with_length(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

Tensor counting(const Shape& shape, float first = 0) {
  Tensor tensor = Tensor::empty(shape);
  std::iota(tensor.span().begin(), tensor.span().end(), first);
  return tensor;
}

class Safetensors : public DirectoryTest {
 protected:
  void SetUp() override {
    DirectoryTest::SetUp();
    path_ = directory_ / "model.safetensors";
  }
  // What is said of a file with these bytes.
  std::string refusal(const std::string& bytes) {
    write(path_, bytes);
    std::string text = message_of<FormatError>([&] { SafetensorsFile file(path_); });
    const size_t end = path_.string().size() + 2;
    return text.starts_with(path_.string()) ? text.substr(end) : text;
  }

  fs::path path_;
};

TEST_F(Safetensors, ReadsBackWhatItWrote) {
  const Tensor wide = counting({4, 6});
  const NamedTensor tensors[] = {{"b.weight", counting({2, 3}, 0.5f)},
                                 {"a", Tensor::full({}, -0.0f)},
                                 {"empty", Tensor::empty({3, 0})},
                                 {"c \"ü\"", wide.slice_columns(1, 3)},
                                 {"ids", Tensor::ids({1, -2, 3})}};
  write_safetensors(path_, tensors, {{"step", "12"}, {"note", "a\nb"}});
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.metadata(), (Metadata{{"step", "12"}, {"note", "a\nb"}}));
  ASSERT_EQ(file.entries().size(), 5u);
  for (const auto& [name, tensor] : tensors) {
    ASSERT_NE(file.find(name), nullptr) << name;
    const Tensor back = file.read(name);
    EXPECT_EQ(back.shape(), tensor.shape());
    if (tensor.dtype() == DType::kInt32) {
      EXPECT_TRUE(std::ranges::equal(back.index_span(), tensor.index_span()));
    } else {
      EXPECT_EQ(back.to_vector(), tensor.to_vector()) << name;
    }
  }
  EXPECT_TRUE(std::signbit(file.read("a").item()));
  EXPECT_EQ(file.find("b"), nullptr);
  EXPECT_THROW(file.read("b"), FormatError);
}

// The layout, byte by byte, so that other programs can read it.
TEST_F(Safetensors, WritesTheSharedFormat) {
  const NamedTensor tensors[] = {{"y", Tensor::of({1, 2}, {2})}, {"x", Tensor::of({3}, {1, 1})}};
  write_safetensors(path_, tensors, {{"k", "v"}});
  std::string header =
      R"({"__metadata__":{"k":"v"},"x":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},)"
      R"("y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const float values[] = {3, 1, 2};
  const std::string data(reinterpret_cast<const char*>(values), sizeof values);
  EXPECT_EQ(read(path_), with_length(header, data));
}

TEST_F(Safetensors, TheOrderGivenDoesNotMatter) {
  const NamedTensor there[] = {{"x", counting({2})}, {"y", counting({3})}};
  const NamedTensor back[] = {there[1], there[0]};
  write_safetensors(path_, there);
  write_safetensors(directory_ / "other", back);
  EXPECT_EQ(read(path_), read(directory_ / "other"));
}

TEST_F(Safetensors, RefusesToWriteOneNameTwice) {
  const NamedTensor twice[] = {{"x", counting({2})}, {"x", counting({2})}};
  EXPECT_THROW(write_safetensors(path_, twice), FormatError);
  const NamedTensor reserved[] = {{"__metadata__", counting({2})}};
  EXPECT_THROW(write_safetensors(path_, reserved), FormatError);
  EXPECT_FALSE(fs::exists(path_));
}

// IEEE 754 half precision: every one of its finite values is (-1)^s 2^e m, computed here in double.
TEST_F(Safetensors, WidensEveryHalf) {
  std::vector<uint16_t> bits(65536);
  std::iota(bits.begin(), bits.end(), uint16_t{0});
  const std::string data(reinterpret_cast<const char*>(bits.data()), 2 * bits.size());
  for (const std::string type : {"F16", "BF16"}) {
    std::string header =
        R"({"x":{"dtype":")" + type + R"(","shape":[256,256],"data_offsets":[0,131072]}})";
    write(path_, with_length(header + std::string(1, ' '), data));  // also at odd addresses
    const std::vector<float> values = SafetensorsFile(path_).read("x").to_vector();
    const int fraction_bits = type == "F16" ? 10 : 7, exponent_bits = 15 - fraction_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    for (size_t i = 0; i < bits.size(); ++i) {
      const int exponent = (bits[i] >> fraction_bits) & top;
      const int fraction = bits[i] & ((1 << fraction_bits) - 1);
      ASSERT_EQ(std::signbit(values[i]), bits[i] >= 0x8000) << i;
      if (exponent == top) {
        ASSERT_EQ(std::isnan(values[i]), fraction != 0) << i;
        ASSERT_EQ(std::isinf(values[i]), fraction == 0) << i;
        continue;
      }
      const int hidden = exponent > 0 ? 1 << fraction_bits : 0;
      const double size =
          std::ldexp(hidden + fraction, std::max(exponent, 1) - bias - fraction_bits);
      ASSERT_EQ(std::abs(values[i]), size) << type << " " << i;
    }
  }
}

TEST_F(Safetensors, NamesWhatIsWrongWithTheFile) {
  EXPECT_EQ(refusal(""),
            "0 bytes are too few for a safetensors file; it is cut off, copy it again");
  EXPECT_EQ(refusal(std::string("\x10\0\0\0\0\0\0", 7)),
            "7 bytes are too few for a safetensors file; it is cut off, copy it again");
  EXPECT_NE(refusal(std::string(8, '\xff')).find("announces a header of 18446744073709551615"),
            std::string::npos);
  EXPECT_NE(refusal(with_length("{}").substr(0, 9)).find("a header of 2 bytes but has 9 in all"),
            std::string::npos);
  EXPECT_EQ(refusal(with_length("{\"x\":")), "the header is not JSON at byte 14");
  EXPECT_EQ(refusal(with_length("{}", "data")), "has 4 bytes of data, but its tensors take 0");
  EXPECT_EQ(refusal(with_length("[]")),
            "the header should describe tensors by name, not have a list");
  EXPECT_EQ(refusal(with_length("3")),
            "the header should describe tensors by name, not have a number");
  EXPECT_EQ(refusal(with_length(R"({"__metadata__":{"k":1}})")),
            "in the header, '__metadata__' should not have a number at 'k'");
  EXPECT_EQ(refusal(with_length(R"({"__metadata__":{"k":"1","k":"1"}})")),
            "in the header, '__metadata__' has 'k' twice");
  EXPECT_EQ(refusal(with_length(R"({"__metadata__":{"k":"1"},"__metadata__":{}})")),
            "in the header, '__metadata__' is given twice");
  EXPECT_EQ(refusal(with_length("{}" + std::string(1, '\0'))), "the header is not JSON at byte 11");
  EXPECT_EQ(refusal(with_length("{}{}")), "the header is not JSON at byte 11");
}

TEST_F(Safetensors, NamesWhatIsWrongWithATensor) {
  const auto of = [&](const std::string& inner, size_t bytes) {
    return refusal(with_length("{\"x\":{" + inner + "}}", std::string(bytes, '\0')));
  };
  EXPECT_EQ(of(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 8), "no error");
  EXPECT_EQ(of(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4),
            "in the header, 'x' has 4 bytes, but F32 of shape [2] takes 8");
  EXPECT_EQ(of(R"("dtype":"F33","shape":[2],"data_offsets":[0,8])", 8),
            "in the header, 'x' has the unknown dtype 'F33'");
  EXPECT_EQ(
      of(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 4),
      "in the header, 'x' lies at 0 to 8 of 4 bytes of data; the file is cut off, copy it again");
  EXPECT_EQ(of(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])", 8),
            "in the header, 'x' lies at 8 to 0 of 8 bytes of data");
  EXPECT_EQ(of(R"("dtype":"F32","shape":[2],"data_offsets":[4,12])", 12),
            "bytes 0 to 4 of the data belong to no tensor");
  // 2^62 floats are 2^64 bytes, which is 0 when it wraps around.
  EXPECT_EQ(of(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])", 0),
            "in the header, 'x' is larger than any memory");
  EXPECT_EQ(of(R"("dtype":"F32","shape":[1,1,1,1,1,1],"data_offsets":[0,4])", 4),
            "in the header, 'x' has a longer shape than 5");
  const std::string incomplete = "in the header, 'x' needs a dtype, a shape and two data_offsets";
  EXPECT_EQ(of(R"("shape":[2],"data_offsets":[0,8])", 8), incomplete);
  EXPECT_EQ(of(R"("dtype":"F32","data_offsets":[0,8])", 8), incomplete);
  EXPECT_EQ(of(R"("dtype":"F32","shape":[2])", 8), incomplete);
  EXPECT_EQ(of(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])", 8), incomplete);
  for (const char* shape :
       {"-2", "2.0", "1e1", "null", "true", "[]", "{}", "\"2\"", "18446744073709551616"}) {
    EXPECT_NE(of(fmt::format(R"("dtype":"F32","shape":[{}],"data_offsets":[0,8])", shape), 8)
                  .find("in the header, 'x' should not have"),
              std::string::npos)
        << shape;
  }
  EXPECT_NE(of(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8])", 8)
                .find("should not have a list at 'shape'"),
            std::string::npos);
}

TEST_F(Safetensors, RefusesOverlapsAndRepeats) {
  const std::string x = R"("x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const std::string y = R"("y":{"dtype":"U8","shape":[4],"data_offsets":[2,6]})";
  const std::string z = R"("x":{"dtype":"U8","shape":[4],"data_offsets":[4,8]})";
  EXPECT_EQ(refusal(with_length("{" + x + "," + y + "}", "123456")), "'y' overlaps another tensor");
  EXPECT_EQ(refusal(with_length("{" + x + "," + z + "}", "12345678")), "'x' is there twice");
  EXPECT_EQ(refusal(with_length("{" + x + "}", "1234")), "no error");
  EXPECT_NE(message_of<FormatError>([&] { SafetensorsFile(path_).read("x"); }).find("dtype U8"),
            std::string::npos);
}

TEST_F(Safetensors, LoadsWeightsInPlace) {
  const NamedTensor saved[] = {{"w", counting({2, 3}, 1)}, {"ids", Tensor::ids({7, 8})}};
  write_safetensors(path_, saved);
  const Tensor whole = Tensor::zeros({2, 5});
  const NamedTensor model[] = {{"ids", Tensor::ids({0, 0})}, {"w", whole.slice_columns(1, 3)}};
  load_weights(path_, model);
  EXPECT_EQ(whole.to_vector(), (std::vector<float>{0, 1, 2, 3, 0, 0, 4, 5, 6, 0}));
  EXPECT_EQ(model[0].tensor.index_span()[1], 8);
}

TEST_F(Safetensors, LoadingAllocatesOnceTheFileFits) {
  const NamedTensor saved[] = {{"a", counting({2}, 1)}, {"b", counting({3}, 5)}};
  write_safetensors(path_, saved);
  const Tensor a = Tensor::unallocated({2}), b = Tensor::unallocated({3});
  const Tensor huge = Tensor::unallocated({1'000'000, 1'000'000'000});
  const NamedTensor other[] = {{"a", a}, {"b", huge}}, model[] = {{"a", a}, {"b", b}};
  EXPECT_THROW(load_weights(path_, other), FormatError);
  EXPECT_THROW(check_weights(SafetensorsFile(path_), other), FormatError);
  EXPECT_NO_THROW(check_weights(SafetensorsFile(path_), model));
  EXPECT_FALSE(a.allocated() || b.allocated() || huge.allocated());
  load_weights(path_, model);
  EXPECT_EQ(a.to_vector(), saved[0].tensor.to_vector());
  EXPECT_EQ(b.to_vector(), saved[1].tensor.to_vector());
}

TEST_F(Safetensors, LoadingListsAllThatDoesNotFit) {
  std::vector<NamedTensor> saved = {{"w", counting({2, 3})},
                                    {"old", counting({2})},
                                    {"same", counting({2}, 1)},
                                    {"ids", Tensor::ids({1})}};
  write_safetensors(path_, saved);
  std::vector<NamedTensor> model = {
      {"w", Tensor::zeros({3, 2})}, {"same", Tensor::zeros({2})}, {"ids", Tensor::zeros({1})}};
  for (int i = 0; i < 7; ++i) model.push_back({fmt::format("new{}", i), Tensor::zeros({4})});
  EXPECT_EQ(message_of<FormatError>([&] { load_weights(path_, model); }),
            path_.string() +
                " does not fit the model. missing: new0 [4], new1 [4], new2 [4], new3 [4], new4 "
                "[4] and 2 more; different: w is F32 [2, 3] in the file and F32 [3, 2] in the "
                "model, ids is I32 [1] in the file and F32 [1] in the model; not in the model: "
                "old [2]. Was it saved with other settings?");
  EXPECT_EQ(model[1].tensor.to_vector(), (std::vector<float>{0, 0}));
}

TEST_F(Safetensors, AFullDiskKeepsTheOldFile) {
  const NamedTensor small[] = {{"x", counting({2})}};
  write_safetensors(path_, small);
  const std::string before = read(path_);
  {
    const SmallFiles full(4096);
    const NamedTensor large[] = {{"x", counting({5000})}};
    EXPECT_THROW(write_safetensors(path_, large), IoError);
  }
  EXPECT_EQ(read(path_), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

// Damages a file as any, or forges its header.
std::string forged(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return random() % std::max<size_t>(limit, 1); };
  switch (below(7)) {
    case 5: {  // another length of the header
      const uint64_t lengths[] = {0,
                                  below(bytes.size()),
                                  bytes.size() - 8,
                                  bytes.size() - 7,
                                  uint64_t{1} << 40,
                                  ~uint64_t{0},
                                  ~uint64_t{7}};
      std::memcpy(bytes.data(), &lengths[below(std::size(lengths))], 8);
      return bytes;
    }
    case 6: {  // another number, in a header that is whole again
      uint64_t length = 0;
      std::memcpy(&length, bytes.data(), 8);
      if (length > bytes.size() - 8) return bytes;
      std::string header = bytes.substr(8, length);
      const size_t begin = header.find_first_of("0123456789", below(header.size()));
      if (begin == std::string::npos) return bytes;
      const size_t end = header.find_first_not_of("0123456789", begin);
      const char* const numbers[] = {"0",
                                     "1",
                                     "3",
                                     "-1",
                                     "1099511627776",
                                     "4611686018427387904",
                                     "18446744073709551615",
                                     "99999999999999999999"};
      header.replace(begin, end - begin, numbers[below(std::size(numbers))]);
      return with_length(header, bytes.substr(8 + length));
    }
    default:
      return damaged(std::move(bytes), random);
  }
}

// Cut off behind our back: what is gone cannot be read, and the file is named.
TEST_F(Safetensors, ATruncationWhileInUseIsAnError) {
  const NamedTensor tensors[] = {{"a", counting({3, 2})}, {"b", Tensor::ids({1, 2})}};
  write_safetensors(path_, tensors);
  const size_t size = fs::file_size(path_);
  const SafetensorsFile file(path_);
  fs::resize_file(path_, size - 1);
  EXPECT_EQ(file.read("a").to_vector(), counting({3, 2}).to_vector());
  expect_error<IoError>([&] { file.read("b"); }, path_.string() + ": it was cut off, to ");
  fs::resize_file(path_, 8);
  expect_error<IoError>([&] { file.read("a"); }, path_.string() + ": it was cut off, to 8 bytes");
}

// A damaged file is refused with FormatError or is still a whole file; memory for what it merely
// claims to hold is never taken.
TEST_F(Safetensors, DamageIsRefusedAndTakesNoMemory) {
  const NamedTensor tensors[] = {
      {"a", counting({3, 2})}, {"b", Tensor::ids({1, 2})}, {"c", Tensor::empty({0, 5})}};
  write_safetensors(path_, tensors, {{"k", "v"}});
  const std::string whole = read(path_);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const struct rlimit small { rlim_t{1} << 30, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &small), 0);
#endif
  std::mt19937 random(1);  // NOLINT: the same every time
  size_t refused = 0, read_whole = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string bytes = forged(whole, random);
    if (i % 3 == 0) bytes = forged(bytes.size() > 8 ? bytes : whole, random);
    try {
      parse_safetensors(std::as_bytes(std::span(bytes)), bytes.size(), "memory");
      fs::remove(path_);
      write(path_, bytes);
      const SafetensorsFile file(path_);
      size_t total = 0;
      for (const SafetensorsFile::Entry& entry : file.entries()) {
        total += entry.bytes;
        try {
          file.read(entry);
        } catch (const FormatError&) {  // a dtype that is not read
        }
      }
      ASSERT_LE(total, bytes.size());
      ++read_whole;
    } catch (const FormatError&) {
      ++refused;
    }
  }
  ::setrlimit(RLIMIT_DATA, &before);
  EXPECT_GT(refused, 3000u);
  EXPECT_GT(read_whole, 100u);
}

TEST_F(Safetensors, HeadersHaveLimits) {
  const auto entry = [](const std::string& name) {
    return "\"" + name + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  };
  EXPECT_EQ(refusal(with_length(std::string(kMaxHeaderBytes + 1, ' '))),
            "a header of 4194305 bytes is too long; at most 4194304");
  EXPECT_EQ(refusal(with_length("{" + entry(std::string(513, 'n')) + "}")),
            "in the header, '" + std::string(60, 'n') + "...' is a name of 513 bytes; at most 512");
  EXPECT_EQ(refusal(with_length("{\"" + std::string(kMaxHeaderText + 1, 'n'))),
            "a name, text or list in the header is over 1048576 bytes");
  std::string many = "{";
  for (size_t i = 0; i <= kMaxTensors; ++i) many += entry(std::to_string(i)) + ",";
  EXPECT_EQ(refusal(with_length(many + entry("x") + "}")), "more than 32768 tensors");
  std::string notes;
  for (size_t i = 0; i < kMaxMetadata; ++i) notes += fmt::format("\"{}\":\"\",", i);
  EXPECT_EQ(refusal(with_length("{\"__metadata__\":{" + notes + "\"x\":\"\"}}")),
            "in the header, '__metadata__' has over 1024 entries");
}

TEST_F(Safetensors, ManyTensorsAreRead) {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < 30'000; ++i) {
    tensors.push_back(
        {fmt::format("decoder.layers.{}.feed_forward.weight", i), Tensor::empty({0})});
  }
  write_safetensors(path_, tensors);
  EXPECT_EQ(SafetensorsFile(path_).entries().size(), tensors.size());
}

TEST_F(Safetensors, WhatCouldNotBeReadIsNotWritten) {
  std::vector<NamedTensor> tensors(kMaxTensors + 1, {"x", Tensor::empty({0})});
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].name = std::to_string(i);
  EXPECT_THROW(write_safetensors(path_, tensors), FormatError);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(Safetensors, NamesFromTheFileAreEscaped) {
  const std::string x = R"("\u001b[2J":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  write(path_, with_length("{" + x + "}", "1234"));
  const std::string said = message_of<FormatError>([&] { load_weights(path_, {}); });
  EXPECT_NE(said.find(R"(not in the model: \x1b[2J [1])"), std::string::npos) << said;
}

}  // namespace
}  // namespace attend
