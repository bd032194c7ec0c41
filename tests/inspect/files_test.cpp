// Maps and tensors as files of values: JSON, NPY, and the PNG within pictures.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/inspect/map_json.h"
#include "attend/inspect/npy.h"
#include "attend/inspect/png_image.h"
#include "tests/errors.h"
#include "tests/inspect/maps.h"

namespace attend {
namespace {

TEST(MapJson, RowsStillSumToOne) {
  const HeatMap map = diagonal(many_labels(40), many_labels(70));
  const auto json = nlohmann::json::parse(maps_json({&map, 1}));
  EXPECT_EQ(json["title"], map.title);
  EXPECT_EQ(json["rows"], map.rows);
  EXPECT_EQ(json["columns"], map.columns);
  ASSERT_EQ(json["values"].size(), 40u);
  for (size_t row = 0; row < 40; ++row) {
    double sum = 0;
    for (size_t column = 0; column < 70; ++column) {
      const double value = json["values"][row][column];
      EXPECT_EQ(static_cast<float>(value), map.at(row, column));
      sum += value;
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
}

TEST(MapJson, IsExact) {
  HeatMap map = map_of({"a\"\n", "\xff"}, {"</script>", "é"});
  map.values = Tensor::of({0.1f, 1.0f, std::nanf(""), -2.5e-9f}, {2, 2});
  EXPECT_EQ(maps_json({&map, 1}),
            "{\"title\":\"\",\"rows\":[\"a\\\"\\n\",\"\ufffd\"],\"columns\":[\"</script>\",\"é\"],"
            "\"values\":[[0.1,1],[null,-2.5e-09]]}\n");
}

TEST(MapJson, SeveralMapsAreAnArray) {
  const std::vector<HeatMap> maps = {diagonal({"a"}, {"b"}), diagonal({}, {"b"})};
  const auto json = nlohmann::json::parse(maps_json(maps));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["values"], nlohmann::json::parse("[[1]]"));
  EXPECT_EQ(json[1]["values"], nlohmann::json::array());
  EXPECT_EQ(nlohmann::json::parse(maps_json({})), nlohmann::json::array());
}

TEST(Npy, BytesAreThoseOfTheFormat) {
  // By the description in numpy.lib.format: 10 + 118 bytes ("v"), then the values.
  std::string expected("\x93NUMPY\x01\x00v\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  expected.append(128 - 1 - expected.size(), ' ');
  expected += '\n';
  for (float value = 1; value <= 6; ++value) {
    expected.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  const Tensor values = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(npy_bytes(values), expected);
  const Tensor wide = Tensor::of({1, 2, 3, 0, 4, 5, 6, 0}, {2, 4});
  EXPECT_EQ(npy_bytes(wide.slice_columns(0, 3)), expected);  // rows a stride apart
}

TEST(Npy, TakesAnyRank) {
  const auto shape = [](const Tensor& x) {
    const std::string bytes = npy_bytes(x);
    const size_t begin = bytes.find("'shape': ") + 9;
    EXPECT_EQ((bytes.size() - 4 * x.size()) % 64, 0u);
    EXPECT_EQ(bytes[bytes.size() - 4 * x.size() - 1], '\n');
    return bytes.substr(begin, bytes.find(", }") - begin);
  };
  EXPECT_EQ(shape(Tensor::zeros({})), "()");
  EXPECT_EQ(shape(Tensor::zeros({7})), "(7,)");
  EXPECT_EQ(shape(Tensor::zeros({0, 3})), "(0, 3)");
  EXPECT_EQ(shape(Tensor::zeros({2, 3, 4, 5})), "(2, 3, 4, 5)");
  expect_error<ShapeError>([] { npy_bytes(Tensor::ids({1, 2})); }, "fp32");
}

TEST(Png, HoldsThePixels) {
  const std::vector<uint8_t> pixels = {1, 2, 3, 250, 251, 252};
  const std::string file = grey_png(pixels, 3, 2);
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(file.substr(8, 25),
            std::string("\0\0\0\rIHDR\0\0\0\3\0\0\0\2\x08\0\0\0\0", 21) + file.substr(29, 4));
  const auto number = [&](size_t at) {
    size_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(file[at + i]);
    return value;
  };
  size_t at = 8;
  for (const char* type : {"IHDR", "IDAT", "IEND"}) {
    const size_t size = number(at);
    EXPECT_EQ(file.substr(at + 4, 4), type);
    const auto* checked = reinterpret_cast<const Bytef*>(file.data()) + at + 4;
    EXPECT_EQ(number(at + 8 + size), crc32(0, checked, size + 4));
    if (std::string(type) == "IDAT") {
      std::string lines(8, '\0');
      uLongf count = lines.size();
      EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(lines.data()), &count, checked + 4, size),
                Z_OK);
      EXPECT_EQ(lines, std::string("\0\1\2\3\0\xfa\xfb\xfc", 8));
    }
    at += 12 + size;
  }
  EXPECT_EQ(at, file.size());
}

}  // namespace
}  // namespace attend
