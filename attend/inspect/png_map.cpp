#include "attend/inspect/png_map.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

#include "attend/base/error.h"
#include "attend/inspect/colour_scale.h"
#include "attend/inspect/picture.h"
#include "attend/inspect/png_image.h"
#include "attend/inspect/svg_map.h"

namespace attend {
namespace {

constexpr double kLargestSide = 32000;  // of an image of cairo's
constexpr double kSharpSide = 3200;     // beyond it a unit is a pixel at most

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

// The pixels of an image of cairo's: 4 bytes each, blue first, and the last one left alone.
struct Canvas {
  uint8_t* pixels;
  size_t width, height, stride;

  void fill(size_t left, size_t top, size_t right, size_t bottom, Rgb colour) const {
    for (size_t y = top; y < std::min(bottom, height); ++y) {
      for (size_t x = left; x < std::min(right, width); ++x) {
        uint8_t* const pixel = pixels + y * stride + 4 * x;
        pixel[0] = colour.blue, pixel[1] = colour.green, pixel[2] = colour.red;
      }
    }
  }
};

// The cells of all maps, which librsvg would take seconds for.
void paint(const Canvas& canvas, std::span<const HeatMap> maps, double scale) {
  constexpr int kShades = 255;
  std::array<Rgb, 2 * kShades + 1> colours;
  int next = -kShades;
  for (Rgb& colour : colours) {
    colour = colour_of(static_cast<float>(next++) / kShades, Theme::kLight);
  }
  const Picture picture = lay_out(maps);
  for (size_t i = 0; i < maps.size(); ++i) {
    const PlacedMap& place = picture.maps[i];
    const auto edge = [&](double from, size_t cell) {
      return static_cast<size_t>(
          std::lround((from + static_cast<double>(cell) * place.cell) * scale));
    };
    std::vector<size_t> lefts;
    for (size_t c = 0; c <= place.columns; ++c) lefts.push_back(edge(place.x, c));
    for (size_t r = 0; r < place.rows; ++r) {
      const size_t top = edge(place.y, r), bottom = edge(place.y, r + 1);
      for (size_t c = 0; c < place.columns; ++c) {
        const auto shade = std::lround(maps[i].level(r, c) * kShades) + kShades;
        canvas.fill(lefts[c], top, lefts[c + 1], bottom, colours[static_cast<size_t>(shade)]);
      }
    }
  }
}

std::string png_of(const Canvas& canvas) {
  std::vector<uint8_t> pixels;
  pixels.reserve(3 * canvas.width * canvas.height);
  for (size_t y = 0; y < canvas.height; ++y) {
    const uint8_t* const row = canvas.pixels + y * canvas.stride;
    for (size_t x = 0; x < canvas.width; ++x) {
      pixels.insert(pixels.end(), {row[4 * x + 2], row[4 * x + 1], row[4 * x]});
    }
  }
  return colour_png(pixels, canvas.width, canvas.height);
}

// Draws `svg`, and over it the cells of `painted`.
std::string rasterized(const std::string& svg, double scale, std::span<const HeatMap> painted) {
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
  const double side = std::max({width, height, 1.0});
  if (scale * side > kSharpSide) scale = std::min(scale, 1.0);
  scale = std::min(scale, kLargestSide / side);
  const Owned image = owned(lib.find<void*(int, int, int)>("cairo_image_surface_create")(
                                0, static_cast<int>(std::lround(width * scale)),
                                static_cast<int>(std::lround(height * scale))),
                            "cairo_surface_destroy");
  const Owned brush = owned(lib.find<void*(void*)>("cairo_create")(image.get()), "cairo_destroy");
  lib.find<void(void*, double, double)>("cairo_scale")(brush.get(), scale, scale);
  const Rectangle all{0, 0, width, height};
  const int drawn = lib.find<int(void*, void*, const Rectangle*, void*)>(
      "rsvg_handle_render_document")(picture.get(), brush.get(), &all, nullptr);
  if (drawn != 0 && !painted.empty()) {
    const auto number = [&](const char* name) {
      return static_cast<size_t>(lib.find<int(void*)>(name)(image.get()));
    };
    lib.find<void(void*)>("cairo_surface_flush")(image.get());
    const Canvas canvas{lib.find<uint8_t*(void*)>("cairo_image_surface_get_data")(image.get()),
                        number("cairo_image_surface_get_width"),
                        number("cairo_image_surface_get_height"),
                        number("cairo_image_surface_get_stride")};
    if (canvas.pixels != nullptr) {
      paint(canvas, painted, scale);
      return png_of(canvas);
    }
  }
  std::string png;
  const int failed = lib.find<int(void*, Write*, void*)>("cairo_surface_write_to_png_stream")(
      image.get(), append, &png);
  if (drawn == 0 || failed != 0) {
    throw IoError("png: a picture of {:.0f} x {:.0f} could not be drawn; write SVG", width, height);
  }
  return png;
}

}  // namespace

std::string png_of_svg(const std::string& svg, double scale) { return rasterized(svg, scale, {}); }

std::string draw_png(std::span<const HeatMap> maps, double scale) {
  const bool large = drawn_as_images(maps);
  return rasterized(large ? draw_svg_frame(maps) : draw_svg(maps), scale,
                    large ? maps : std::span<const HeatMap>());
}

}  // namespace attend
