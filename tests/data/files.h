// A fresh directory for each test of data, removed after it, and files in it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace attend {

class DataFiles : public testing::Test {
 protected:
  using Path = std::filesystem::path;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "attend-data-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Path write(const std::string& name, std::string_view content) const {
    std::ofstream(directory_ / name, std::ios::binary) << content;
    return directory_ / name;
  }
  static std::string read(const Path& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
  }
  // The content compressed, as one gzip member.
  static std::string gzip(std::string_view content) {
    z_stream stream{};
    constexpr int kGzip = 16;
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, kGzip + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(deflateBound(&stream, content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }
  // The text of the error of type E that `action` throws.
  template <typename E, typename Action>
  static std::string error_of(const Action& action) {
    try {
      action();
    } catch (const E& error) {
      return error.what();
    }
    ADD_FAILURE() << "no error of this type";
    return "";
  }

  Path directory_;
};

}  // namespace attend
