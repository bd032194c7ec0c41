// How the explorer reads parameters of a request, and writes maps. Not for use outside serve/.
#pragma once

#include "attend/serve/explorer.h"
#include "attend/tensor/tensor.h"

namespace attend {

// Little-endian uint32 and float32.
void append_number(std::string& bytes, size_t number);
void append_values(std::string& bytes, std::span<const float> values);

// The extents of a map; and with all of its values.
std::string extents_bytes(const Tensor& map);
std::string map_bytes(const Tensor& map);

std::string parameter(const Explorer::Parameters& parameters, const std::string& name,
                      const std::string& otherwise = "");
// Throws ConfigError, naming what it is, where a text is no whole number from 0.
size_t number_of(std::string_view what, std::string_view text);

}  // namespace attend
