#include "attend/io/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/base/any_config.h"
#include "attend/base/files.h"
#include "attend/base/names.h"
#include "tests/damage.h"
#include "tests/errors.h"

namespace attend {
namespace {

enum class Method { kAdamW, kSgd };
std::string_view name_of(Method method) {
  static constexpr Named<Method> kMethods[] = {{Method::kAdamW, "adamw"}, {Method::kSgd, "sgd"}};
  return name_from_value(kMethods, method);
}

struct Rates {
  double rate = 1e-3;
  std::vector<double> betas = {0.9, 0.999};
  Method method = Method::kAdamW;
  void fields(auto& v) {
    v("rate", rate, "learning rate at its peak");
    v("betas", betas, "decay of the moments");
    v("method", method, "how to step");
  }
};

struct Settings {
  std::string name = "first";
  std::filesystem::path source;
  std::vector<std::filesystem::path> extra;
  size_t steps = 1000;
  size_t keep = 2;
  std::optional<int> patience;
  std::optional<std::string> note;
  MemorySize memory{size_t{4} << 30};
  Rates optimizer;
  bool label_smoothing = true;
  void fields(auto& v) {
    v("name", name, "what to call it");
    v("source", source, "the text");
    v("extra", extra);
    v("steps", steps, "updates");
    v("keep", keep, "checkpoints", Range{1, 9});
    v("patience", patience, "validations without progress");
    v("note", note);
    v("memory", memory, "what batches may take");
    v("optimizer", optimizer, "how weights change");
    v("label_smoothing", label_smoothing);
  }
};

Settings unusual() {
  Settings run;
  run.name = "a \"quoted\" # name: ü\n\t";
  run.source = "/data/a b.txt";
  run.extra = {"one", "two,three", "null"};
  run.patience = -3;
  run.note = "none";
  run.memory.bytes = 1000;
  run.optimizer.rate = std::numeric_limits<double>::infinity();
  run.optimizer.betas = {1.0 / 3};
  run.optimizer.method = Method::kSgd;
  run.label_smoothing = false;
  return run;
}

std::string yaml_error(const std::string& text) {
  Settings run;
  return message_of<ConfigError>([&] { read_yaml(run, text, "run.yaml"); });
}
std::string json_error(const std::string& text) {
  Settings run;
  return message_of<ConfigError>([&] { read_json(run, text, "config.json"); });
}

TEST(Config, JsonReadsBack) {
  for (const Settings& run : {Settings(), unusual()}) {
    Settings back = unusual();
    back.steps = 7;
    read_json(back, to_json(run), "text");
    EXPECT_EQ(differences(run, back), std::vector<Difference>{}) << to_json(run);
  }
}

TEST(Config, YamlReadsBack) {
  for (const Settings& run : {Settings(), unusual()}) {
    for (const bool help : {false, true}) {
      Settings back = unusual();
      back.steps = 7;
      read_yaml(back, to_yaml(run, help), "text");
      EXPECT_EQ(differences(run, back), std::vector<Difference>{}) << to_yaml(run, help);
    }
  }
}

// Text that looks like a number, a null or a switch stays text.
TEST(Config, TextReadsBackWhateverItLooksLike) {
  for (const char* text :
       {"",    "1", "true", "null", "~",  "None", "no", "- a", "a: b", "#",
        " x ", "'", "\\",   "{",    "&a", "*a",   "!t", "%",   "\x7f", "\xe2\x80\xa8"}) {
    Settings run, from_yaml, from_json;
    run.name = text;
    run.note = text;
    run.source = text;
    read_yaml(from_yaml, to_yaml(run), "text");
    read_json(from_json, to_json(run), "text");
    EXPECT_TRUE(same_config(run, from_yaml)) << to_yaml(run);
    EXPECT_TRUE(same_config(run, from_json)) << to_json(run);
  }
}

TEST(Config, JsonIsWrittenInOrder) {
  EXPECT_EQ(to_json(Rates()),
            "{\n  \"rate\": 0.001,\n  \"betas\": [0.9, 0.999],\n  \"method\": \"adamw\"\n}\n");
  const std::string text = to_json(Settings());
  EXPECT_NE(text.find("\"patience\": null,"), std::string::npos) << text;
  EXPECT_NE(text.find("  \"optimizer\": {\n    \"rate\": 0.001,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"adamw\"\n  },\n  \"label_smoothing\": true\n}\n"), std::string::npos);
}

TEST(Config, YamlIsWrittenForPeople) {
  EXPECT_EQ(to_yaml(Settings(), true), R"(name: first  # what to call it
source: ""  # the text
extra: []
steps: 1000  # updates
keep: 2  # checkpoints
patience: null  # validations without progress
note: null
memory: 4GB  # what batches may take
optimizer:  # how weights change
  rate: 0.001  # learning rate at its peak
  betas: [0.9, 0.999]  # decay of the moments
  method: adamw  # how to step
label_smoothing: true
)");
}

TEST(Config, ReadingLeavesTheRestAsItWas) {
  Settings run;
  run.steps = 5;
  read_yaml(run, "optimizer:\n  rate: 1e-4\nextra: a.txt\npatience: none\nname: 007\n", "run.yaml");
  EXPECT_EQ(run.steps, 5u);
  EXPECT_EQ(run.optimizer.rate, 1e-4);
  EXPECT_EQ(run.extra, std::vector<std::filesystem::path>{"a.txt"});  // one stands for a list
  EXPECT_EQ(run.name, "007");
  read_yaml(run, "optimizer.rate: .5", "run.yaml");
  EXPECT_EQ(run.optimizer.rate, 0.5);
  for (const char* nothing : {"", "# a comment\n", "optimizer:\n"}) {
    const Settings before = run;
    read_yaml(run, nothing, "run.yaml");
    EXPECT_TRUE(same_config(before, run));
  }
}

TEST(Config, AFailedReadChangesNothing) {
  Settings run;
  EXPECT_THROW(read_yaml(run, "steps: 5\nbad: 1\n", "run.yaml"), ConfigError);
  EXPECT_TRUE(same_config(run, Settings()));
}

TEST(Config, UnknownKeysNameThePlaceAndTheNearest) {
  EXPECT_EQ(yaml_error("name: x\noptimizer:\n  rte: 1\n"),
            "run.yaml:3: unknown key 'optimizer.rte'; did you mean 'optimizer.rate'?");
  EXPECT_EQ(yaml_error("optimiser:\n  rate: 1\n"),
            "run.yaml:1: unknown key 'optimiser'; did you mean 'optimizer'?");
  EXPECT_EQ(yaml_error("\nrate: 1\n"),
            "run.yaml:2: unknown key 'rate'; did you mean 'optimizer.rate'?");
  EXPECT_EQ(yaml_error("optimizer: {wavelength: 2}\n"),
            "run.yaml:1: unknown key 'optimizer.wavelength'; there are: rate, betas, method");
  EXPECT_EQ(json_error(R"({"stps": 1})"), "config.json: unknown key 'stps'; did you mean 'steps'?");
}

TEST(Config, RepeatedKeysAreRefused) {
  EXPECT_EQ(yaml_error("steps: 1\nname: x\nsteps: 2\n"), "run.yaml:3: 'steps' is set twice");
  EXPECT_EQ(yaml_error("optimizer: {rate: 1}\noptimizer.rate: 2\n"),
            "run.yaml:2: 'optimizer.rate' is set twice");
  EXPECT_EQ(json_error(R"({"steps": 1, "steps": 1})"), "config.json: 'steps' is set twice");
}

TEST(Config, WrongTypesNameTheValueAndWhatIsExpected) {
  EXPECT_EQ(yaml_error("steps: many\n"),
            "run.yaml:1: 'steps' should be a whole number of 0 or more, not 'many'");
  EXPECT_EQ(yaml_error("steps: -1\n"),
            "run.yaml:1: 'steps' should be a whole number of 0 or more, not '-1'");
  EXPECT_EQ(yaml_error("optimizer:\n  method: adam\n"),
            "run.yaml:2: 'optimizer.method' should be one of adamw, sgd, not 'adam'");
  EXPECT_EQ(yaml_error("optimizer: {betas: [1, x]}"),
            "run.yaml:1: 'optimizer.betas' should be a list, each item a number, not ['1', 'x']");
  EXPECT_EQ(yaml_error("name: [a, b]"), "run.yaml:1: 'name' should be text, not ['a', 'b']");
  EXPECT_EQ(yaml_error("steps: {a: b}"),
            "run.yaml:1: 'steps' should be a whole number of 0 or more, not a group of settings");
  EXPECT_EQ(yaml_error("steps:\n"),
            "run.yaml:1: 'steps' should be a whole number of 0 or more, not nothing");
  EXPECT_EQ(yaml_error("optimizer: 3\n"),
            "run.yaml:1: expected settings by name in 'optimizer', not '3'");
  EXPECT_EQ(yaml_error("just text"), "run.yaml:1: expected settings by name, not 'just text'");
  EXPECT_EQ(yaml_error("memory: lots"),
            "run.yaml:1: 'memory' should be a size such as 512MB or 4GB, not 'lots'");
  EXPECT_EQ(json_error(R"({"steps": "5"})"),
            "config.json: 'steps' should be a whole number of 0 or more, not '5'");
  EXPECT_EQ(json_error(R"({"name": 5})"), "config.json: 'name' should be text, not '5'");
  EXPECT_EQ(json_error(R"({"label_smoothing": "true"})"),
            "config.json: 'label_smoothing' should be true or false, not 'true'");
}

TEST(Config, RangesHoldWhereverAValueComesFrom) {
  EXPECT_EQ(yaml_error("name: x\nkeep: 10\n"),
            "run.yaml:2: 'keep' should be a whole number from 1 to 9, not '10'");
  EXPECT_EQ(json_error(R"({"keep": 4611686018427387904})"),
            "config.json: 'keep' should be a whole number from 1 to 9, not '4611686018427387904'");
  Settings run;
  EXPECT_EQ(message_of<ConfigError>([&] { set_flag(run, "keep", "0"); }),
            "--keep should be a whole number from 1 to 9, not '0'");
  EXPECT_EQ(run.keep, 2u);
  EXPECT_EQ(flags_of<Settings>()[4].range, (Range{1, 9}));
}

TEST(Config, TextThatCannotBeParsedSaysWhere) {
  Settings run;
  const auto yaml = [&] { read_yaml(run, "name: x\nsteps: [1\n", "run.yaml"); };
  EXPECT_EQ(message_of<FormatError>(yaml).rfind("run.yaml:3: not YAML", 0), 0u)
      << message_of<FormatError>(yaml);
  for (const char* text : {"", "{", "[1,]", "{\"steps\": 1} x", "\xff", "{\"a\":\xff}"}) {
    const auto json = [&] { read_json(run, text, "config.json"); };
    EXPECT_EQ(message_of<FormatError>(json).rfind("config.json: not JSON", 0), 0u) << text;
  }
  const auto message = [&](const char* text) {
    return message_of<FormatError>([&] { read_json(run, text, "config.json"); });
  };
  EXPECT_EQ(message(""), "config.json: not JSON: it is empty; copy the file again");
  EXPECT_EQ(message("{\"steps\": 1,\n"),
            "config.json: not JSON: it is cut off; copy the file again");
  EXPECT_EQ(message("{\n\"steps\" 1}"),
            "config.json: not JSON at line 2, near '1'; repair it or copy the file again");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THROW(read_json(run, deep, "x"), FormatError);
  EXPECT_THROW(read_yaml(run, deep, "x"), FormatError);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_THROW(read_yaml(run, bomb, "x"), FormatError);
}

std::string yaml_format_error(const std::string& text) {
  Settings run;
  return message_of<FormatError>([&] { read_yaml(run, text, "run.yaml"); });
}

TEST(Config, YamlAliasesStandForWhatTheyName) {
  Settings run;
  read_yaml(run, "name: &n abc\nnote: *n\nextra: &e [a, *n]\noptimizer: {betas: &b [1, 2]}\n",
            "run.yaml");
  EXPECT_EQ(run.note, "abc");
  EXPECT_EQ(run.extra, (std::vector<std::filesystem::path>{"a", "abc"}));
  EXPECT_EQ(run.optimizer.betas, (std::vector{1.0, 2.0}));
  EXPECT_EQ(yaml_format_error("extra: &a [*a]\n"),
            "run.yaml:1: an alias stands for what it is part of");
}

TEST(Config, YamlIsOneDocumentOfUtf8) {
  EXPECT_EQ(yaml_format_error("name: x\n---\nsteps: 5\n"),
            "run.yaml:3: a second document begins; keep all settings in one");
  EXPECT_EQ(yaml_format_error("name: \xff\n"),
            "run.yaml: not UTF-8; convert it with iconv -t UTF-8");
  // yaml-cpp takes a NUL for the sign of an escape, and gives one byte for two of them.
  using namespace std::string_literals;
  EXPECT_EQ(yaml_format_error("a: 1\nname: x\0_y\n"s),
            "run.yaml:2: a NUL byte, which YAML cannot hold; remove it");
  EXPECT_EQ(yaml_format_error("name: \"a\\_b\"\n"),
            "run.yaml:1: the escapes \\_ and \\N are not supported; write the character itself");
  Settings run;
  read_yaml(run, "---\nname: x\n...\n# the end\n", "run.yaml");
  EXPECT_EQ(run.name, "x");
}

// A limit on values alone would let a few long texts stand for gigabytes.
TEST(Config, YamlAliasesExpandWithinLimits) {
  const std::string text(4000, 'x');
  EXPECT_EQ(yaml_format_error(
                "name: &n " + text + "\nextra: [" +
                fmt::format("{}", fmt::join(std::vector<std::string>(20, "*n"), ", ")) + "]\n"),
            "run.yaml: its aliases stand for too much text; at most 65536 bytes");
  std::string deep = "a0: &a0 [x]\n";
  for (int i = 1; i < 70; ++i) deep += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  EXPECT_EQ(yaml_format_error(deep), "run.yaml: YAML nested too deeply; at most 64 levels");
}

TEST(Config, DocumentsHaveLimits) {
  Settings run;
  const auto json = [&](const std::string& text) {
    return message_of<FormatError>([&] { read_json(run, text, "config.json"); });
  };
  EXPECT_EQ(json(std::string((1 << 20) + 1, ' ')),
            "config.json: 1048577 bytes of JSON are too many; at most 1048576");
  std::string list = "[";
  for (int i = 0; i < 9000; ++i) list += "[],";
  EXPECT_EQ(json(list + "[]]"), "config.json: too many values; at most 8192 are read from JSON");
  EXPECT_EQ(json(std::string(65, '[')), "config.json: JSON nested too deeply; at most 64 levels");
  EXPECT_EQ(yaml_format_error(std::string(65537, '#')),
            "run.yaml: 65537 bytes of YAML are too many; at most 65536");
  EXPECT_EQ(yaml_format_error(std::string(60'000, '[')),
            "run.yaml: too many values; at most 8192 are read from YAML");
}

TEST(Config, LongAndStrangeNamesAreCutAndEscaped) {
  const std::string sixty(60, 'k');
  EXPECT_EQ(json_error("{\"" + std::string(900'000, 'k') + "\": 1}")
                .rfind("config.json: unknown key '" + sixty + "...'; there are: ", 0),
            0u);
  EXPECT_EQ(json_error(R"({"\u001b[2J": 1})").rfind(R"(config.json: unknown key '\x1b[2J'; )", 0),
            0u);
  EXPECT_EQ(json_error(R"({"steps": "\u009b\u202e"})"),
            R"(config.json: 'steps' should be a whole number of 0 or more, not '\u009b\u202e')");
}

TEST(Config, FlagsSetOneField) {
  Settings run;
  set_flag(run, "optimizer.rate", "1e-2");
  set_flag(run, "optimizer.betas", "0.5,0.75");
  set_flag(run, "label-smoothing", "off");
  set_flag(run, "patience", "4");
  set_flag(run, "name", "a,b");
  EXPECT_EQ(run.optimizer.rate, 1e-2);
  EXPECT_EQ(run.optimizer.betas, (std::vector{0.5, 0.75}));
  EXPECT_FALSE(run.label_smoothing);
  EXPECT_EQ(run.patience, 4);
  EXPECT_EQ(run.name, "a,b");
  set_flag(run, "patience", "none");
  set_flag(run, "optimizer.betas", "");
  EXPECT_FALSE(run.patience.has_value());
  EXPECT_TRUE(run.optimizer.betas.empty());
  EXPECT_EQ(message_of<ConfigError>([&] { set_flag(run, "optimizer.rat", "1"); }),
            "unknown setting 'optimizer.rat'; did you mean 'optimizer.rate'?");
  EXPECT_EQ(message_of<ConfigError>([&] { set_flag(run, "optimizer.rate", "fast"); }),
            "--optimizer.rate should be a number, not 'fast'");
}

TEST(Config, FlagsListWhatThereIs) {
  const std::vector<Flag> flags = flags_of<Settings>();
  ASSERT_EQ(flags.size(), 12u);
  EXPECT_EQ(flags[2].type, "path...");
  EXPECT_TRUE(flags[2].list);
  EXPECT_EQ(flags[7].type, "size");
  EXPECT_EQ(flags[7].default_text, "4GB");
  EXPECT_EQ(flags[9].path, "optimizer.betas");
  EXPECT_EQ(flags[9].default_text, "0.9,0.999");
  EXPECT_EQ(flags[10].choices, (std::vector<std::string>{"adamw", "sgd"}));
  EXPECT_EQ(flags[10].help, "how to step");
  EXPECT_EQ(flags[5].default_text, "none");
  Settings changed;  // a default is a text that sets the default
  for (const Flag& flag : flags) set_flag(changed, flag.path, flag.default_text);
  EXPECT_TRUE(same_config(changed, Settings()));
}

TEST(Config, DifferencesNamePathAndBothValues) {
  Settings a, b;
  b.optimizer.rate = 0.5;
  b.patience = 3;
  EXPECT_EQ(differences(a, b), (std::vector<Difference>{{"patience", "none", "3"},
                                                        {"optimizer.rate", "0.001", "0.5"}}));
  EXPECT_FALSE(same_config(a, b));
  a.note = "none";  // set to the word is not unset
  EXPECT_FALSE(same_config(a, Settings()));
}

TEST(Config, PeekReadsOneValue) {
  EXPECT_EQ(peek("model: {kind: rnn, other: [1]}\n", "model.kind", "x"), "rnn");
  EXPECT_EQ(peek(" {\"model_type\": \"gpt\"}", "model_type", "x"), "gpt");
  EXPECT_EQ(peek("model: {kind: rnn}\n", "model", "x"), std::nullopt);
  EXPECT_EQ(peek("model: {kind: rnn}\n", "model.size", "x"), std::nullopt);
  EXPECT_EQ(peek("", "model", "x"), std::nullopt);
  EXPECT_EQ(peek("{model: {kind: rnn}}\n", "model.kind", "config.yaml"), "rnn");
  EXPECT_EQ(peek("{\"model\": {\"kind\": \"rnn\"}}", "model.kind", "config.json"), "rnn");
  EXPECT_THROW(peek("{model: {kind: rnn}}\n", "model.kind", "config.json"), FormatError);
}

// Damaged text is still a config, or an error of ours; the config is changed whole or not at all.
TEST(Config, DamageIsRefusedOrReadsWell) {
  const auto check = [](const std::string& whole, const auto& read) {
    const size_t refused = refusals<Error>(whole, 3000, [&](const std::string& text) {
      Settings run;
      try {
        read(run, text);
      } catch (const Error&) {
        EXPECT_TRUE(same_config(run, Settings()));
        throw;
      }
      Settings again;
      read_json(again, to_json(run), "again");
      EXPECT_TRUE(same_config(run, again)) << text;
    });
    EXPECT_GT(refused, 1000u);
    EXPECT_LT(refused, 3000u);
  };
  check(to_yaml(unusual(), true),
        [](Settings& run, const std::string& text) { read_yaml(run, text, "x"); });
  check(to_json(unusual()),
        [](Settings& run, const std::string& text) { read_json(run, text, "x"); });
}

TEST(Config, FilesGoByTheirExtension) {
  const auto directory = std::filesystem::path(testing::TempDir());
  replace_file(directory / "config_test.json", "{\"steps\": 3}");
  replace_file(directory / "config_test.yaml", "steps: x\n");
  Settings run;
  read_config(run, directory / "config_test.json");
  EXPECT_EQ(run.steps, 3u);
  const std::string text =
      message_of<ConfigError>([&] { read_config(run, directory / "config_test.yaml"); });
  EXPECT_NE(text.find("config_test.yaml:1: 'steps'"), std::string::npos) << text;
  EXPECT_THROW(read_config(run, directory / "missing.yaml"), IoError);
}

std::vector<std::string> shape_names();

struct Circle {
  double radius = 1;
  void fields(auto& v) { v("radius", radius, "how far it goes"); }
};
struct Square {
  double side = 2;
  size_t corner_vocabulary = 0;
  void fields(auto& v) {
    v("side", side, "how wide it is");
    v("corner_vocabulary", corner_vocabulary, "", Range{0, 9});
  }
};

AnyConfig shape_of(const std::string& name) {
  return name == "circle" ? AnyConfig(Circle()) : AnyConfig(Square());
}
std::vector<std::string> shape_names() { return {"circle", "square"}; }

// A config whose choice decides what else can be set.
struct Shaped {
  Choice<shape_names> shape{"circle"};
  AnyConfig settings = shape_of("circle");
  std::string settings_of = "circle";

  void fields(auto& v) {
    v("shape", shape, "what it is");
    if (settings_of != shape.name) settings = shape_of(settings_of = shape.name);
    for (const std::string& name : shape_names()) {
      if (name == shape.name) {
        v(name, settings, "settings of it");
      } else {
        v.unused(name, "settings of another", "the shape is a " + shape.name,
                 [name] { return shape_of(name); });
      }
    }
  }
};

TEST(Config, AChoiceDecidesWhichFieldsThereAre) {
  Shaped shaped;
  EXPECT_EQ(to_json(shaped),
            "{\n  \"shape\": \"circle\",\n  \"circle\": {\n    \"radius\": 1\n  }\n}\n");
  // In any order.
  read_yaml(shaped, "square:\n  side: 5\nshape: square\n", "run.yaml");
  EXPECT_EQ(shaped.settings.as<Square>().side, 5);
  const Shaped copy = shaped;
  set_flag(shaped, "square.side", "6");
  EXPECT_EQ(copy.settings.as<Square>().side, 5);
  EXPECT_EQ(shaped.settings.as<Square>().side, 6);
  EXPECT_EQ(differences(copy, shaped), (std::vector<Difference>{{"square.side", "5", "6"}}));
  EXPECT_EQ(differences(Shaped(), copy),
            (std::vector<Difference>{{"shape", "circle", "square"},
                                     {"circle.radius", "1", "-"},
                                     {"square.side", "-", "5"},
                                     {"square.corner_vocabulary", "-", "0"}}));
  EXPECT_EQ(message_of<ConfigError>([&] { read_yaml(shaped, "shape: oval\n", "run.yaml"); }),
            "run.yaml:1: 'shape' should be one of circle, square, not 'oval'");
}

// Settled before the other keys are looked at, it would change from one to the other without end.
TEST(Config, AChoiceMadeTwiceIsRefused) {
  Shaped shaped;
  EXPECT_EQ(message_of<ConfigError>(
                [&] { read_yaml(shaped, "shape: square\nshape: circle\n", "run.yaml"); }),
            "run.yaml:2: 'shape' is set twice");
}

TEST(Config, WhatAnotherChoiceWouldHaveMayOnlySayItsDefaults) {
  Shaped shaped;
  read_yaml(shaped, "circle:\n  radius: 3\nsquare:\n  side: 2\n  corner_vocabulary: 4\n",
            "old.yaml");
  EXPECT_EQ(shaped.settings.as<Circle>().radius, 3);
  EXPECT_EQ(message_of<ConfigError>([&] { read_yaml(shaped, "square:\n  side: 7\n", "run.yaml"); }),
            "run.yaml:1: 'square.side' = 7 would change nothing: the shape is a circle");
  EXPECT_EQ(message_of<ConfigError>([&] { set_flag(shaped, "square.side", "7"); }),
            "--square.side would change nothing: the shape is a circle");
  EXPECT_THROW(read_yaml(shaped, "square:\n  width: 7\n", "run.yaml"), ConfigError);
  std::vector<std::string> paths;
  for (const Flag& flag : flags_of(shaped)) paths.push_back(flag.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"shape", "circle.radius", "square.side",
                                             "square.corner_vocabulary"}));
}

}  // namespace
}  // namespace attend
