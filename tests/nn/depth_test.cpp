#include "attend/nn/depth.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

std::vector<size_t> depth_list(const std::vector<std::string>& names) {
  std::vector<NamedTensor> all;
  for (const std::string& name : names) all.push_back({name, Tensor::zeros({1})});
  return depths_of(all).of;
}

TEST(Depths, FollowTheOrderOfTheVisit) {
  EXPECT_EQ(depth_list({"encoder.embedding.weight", "encoder.layers.0.query.weight",
                        "encoder.layers.0.norm.bias", "encoder.layers.1.query.weight",
                        "encoder.norm.weight", "output.weight"}),
            (std::vector<size_t>{0, 1, 1, 2, 3, 3}));
}

TEST(Depths, OfAnEncoderAndADecoderAreOneStack) {
  EXPECT_EQ(depth_list({"source_embedding.weight", "encoder.0.q", "encoder.1.q",
                        "encoder_norm.weight", "decoder.0.q", "decoder.1.q", "output.weight"}),
            (std::vector<size_t>{0, 1, 2, 2, 3, 4, 5}));
}

TEST(Depths, RecurrentLayersAreNumberedAtTheEnd) {
  EXPECT_EQ(depth_list({"embedding.weight", "layers.weight_ih_l0", "layers.bias_hh_l0",
                        "layers.weight_ih_l0_reverse", "layers.weight_ih_l1", "output.weight"}),
            (std::vector<size_t>{0, 1, 1, 1, 2, 3}));
}

TEST(Depths, WithoutLayersAllIsAbove) {
  EXPECT_EQ(depth_list({"a", "b_low"}), (std::vector<size_t>{1, 1}));
}

}  // namespace
}  // namespace attend
