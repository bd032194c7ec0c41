// A config of any type: the settings of whatever a registry holds, such as a kind of model or an
// objective.
#pragma once

#include <memory>
#include <typeinfo>
#include <utility>

#include "attend/base/fields.h"

namespace attend {

// Holds one config by value: copies are deep. Its fields are those of the config that it holds.
class AnyConfig {
 public:
  template <typename Config>
  requires(!std::is_same_v<std::remove_cvref_t<Config>, AnyConfig>) explicit AnyConfig(
      Config config)
      : held_(std::make_unique<Held<Config>>(std::move(config))) {}
  AnyConfig(const AnyConfig& other) : held_(other.held_->copy()) {}
  AnyConfig(AnyConfig&&) = default;
  // Takes a copy of another config, of any type.
  AnyConfig& operator=(AnyConfig other) {
    held_ = std::move(other.held_);
    return *this;
  }
  ~AnyConfig() = default;

  // The config, as the type it has. Throws std::bad_cast if it has another.
  template <typename Config>
  Config& as() {
    return dynamic_cast<Held<Config>&>(*held_).config;
  }
  // The same, to read.
  template <typename Config>
  const Config& as() const {
    return dynamic_cast<const Held<Config>&>(*held_).config;
  }

  // Lists the fields of the config that it holds.
  void fields(detail::FieldCollector& v) { held_->fields(v); }

 private:
  struct Holder {
    virtual ~Holder() = default;
    virtual std::unique_ptr<Holder> copy() const = 0;
    virtual void fields(detail::FieldCollector& v) = 0;
  };
  template <typename Config>
  struct Held : Holder {
    Config config;
    explicit Held(Config given) : config(std::move(given)) {}
    std::unique_ptr<Holder> copy() const override { return std::make_unique<Held>(config); }
    void fields(detail::FieldCollector& v) override { config.fields(v); }
  };

  std::unique_ptr<Holder> held_;
};

}  // namespace attend
