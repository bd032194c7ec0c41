// The targets, each in the file of its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attend::fuzz {

void take_checkpoint(std::string_view bytes);
std::vector<std::string> checkpoint_seeds();

void take_config(std::string_view bytes);
std::vector<std::string> config_seeds();

void take_corpus(std::string_view bytes);
std::vector<std::string> corpus_seeds();

void take_http(std::string_view bytes);
std::vector<std::string> http_seeds();

void take_import(std::string_view bytes);
std::vector<std::string> import_seeds();

void take_json(std::string_view bytes);
std::vector<std::string> json_seeds();

void take_lines(std::string_view bytes);
std::vector<std::string> lines_seeds();

void take_links(std::string_view bytes);
std::vector<std::string> links_seeds();

void take_log(std::string_view bytes);
std::vector<std::string> log_seeds();

void take_model(std::string_view bytes);
std::vector<std::string> model_seeds();

void take_page(std::string_view bytes);
std::vector<std::string> page_seeds();

void take_run_yaml(std::string_view bytes);
std::vector<std::string> run_yaml_seeds();

void take_safetensors(std::string_view bytes);
std::vector<std::string> safetensors_seeds();

void take_sentencepiece(std::string_view bytes);
std::vector<std::string> sentencepiece_seeds();

void take_stored_map(std::string_view bytes);
std::vector<std::string> stored_map_seeds();

void take_tags(std::string_view bytes);
std::vector<std::string> tags_seeds();

void take_vocabulary(std::string_view bytes);
std::vector<std::string> vocabulary_seeds();

}  // namespace attend::fuzz
