#include "attend/inspect/png_map.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "attend/base/error.h"
#include "attend/inspect/svg_map.h"

namespace attend {
namespace {

constexpr double kLargestSide = 32000;  // of an image of cairo's

struct Rectangle {
  double x, y, width, height;
};
using Write = int(void* to, const uint8_t* bytes, unsigned int count);

// What is used of librsvg and of cairo, which it draws with. Linked, they would add a third to the
// time that every command takes to start; their headers bring in a hundred packages.
struct Library {
  Library() : handle_(dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) return;
    throw IoError(
        "png: librsvg-2.so.2 cannot be loaded; install it (Debian: librsvg2-2), or write SVG: {}",
        dlerror());
  }

  template <typename Function>
  Function* find(const char* name) const {
    void* const found = dlsym(handle_, name);
    if (found == nullptr) throw IoError("png: librsvg-2.so.2 has no {}; write SVG", name);
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* handle_;  // kept for good: it does not like to be loaded twice
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

using Owned = std::unique_ptr<void, void (*)(void*)>;

Owned owned(void* object, const char* release) {
  return {object, library().find<void(void*)>(release)};
}

int append(void* to, const uint8_t* bytes, unsigned int count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return 0;
}

std::string rasterized(const std::string& svg, double scale) {
  const auto& lib = library();
  const Owned picture = owned(lib.find<void*(const char*, size_t, void*)>(
                                  "rsvg_handle_new_from_data")(svg.data(), svg.size(), nullptr),
                              "g_object_unref");
  double width = 0, height = 0;
  if (picture == nullptr ||
      lib.find<int(void*, double*, double*)>("rsvg_handle_get_intrinsic_size_in_pixels")(
          picture.get(), &width, &height) == 0) {
    throw IoError("png: librsvg does not understand the picture; write SVG");
  }
  scale = std::min(scale, kLargestSide / std::max({width, height, 1.0}));
  const Owned image = owned(lib.find<void*(int, int, int)>("cairo_image_surface_create")(
                                0, static_cast<int>(std::lround(width * scale)),
                                static_cast<int>(std::lround(height * scale))),
                            "cairo_surface_destroy");
  const Owned brush = owned(lib.find<void*(void*)>("cairo_create")(image.get()), "cairo_destroy");
  lib.find<void(void*, double, double)>("cairo_scale")(brush.get(), scale, scale);
  const Rectangle all{0, 0, width, height};
  const int drawn = lib.find<int(void*, void*, const Rectangle*, void*)>(
      "rsvg_handle_render_document")(picture.get(), brush.get(), &all, nullptr);
  std::string png;
  const int failed = lib.find<int(void*, Write*, void*)>("cairo_surface_write_to_png_stream")(
      image.get(), append, &png);
  if (drawn == 0 || failed != 0) {
    throw IoError("png: a picture of {:.0f} x {:.0f} could not be drawn; write SVG", width, height);
  }
  return png;
}

}  // namespace

std::string draw_png(std::span<const HeatMap> maps, double scale) {
  return rasterized(draw_svg(maps), scale);
}

}  // namespace attend
