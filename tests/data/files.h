// Files for the tests of data, plain and compressed.
#pragma once

#include <zlib.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/errors.h"
#include "tests/files.h"

namespace attend {

class DataFiles : public DirectoryTest {
 protected:
  using Path = std::filesystem::path;

  Path write(const std::string& name, std::string_view content) const {
    DirectoryTest::write(directory_ / name, content);
    return directory_ / name;
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
};

}  // namespace attend
