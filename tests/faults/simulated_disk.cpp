#include "tests/faults/simulated_disk.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "attend/base/files.h"

namespace attend::faults {
namespace {

namespace fs = std::filesystem;

std::string parent_of(const std::string& path) { return fs::path(path).parent_path().string(); }
std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

}  // namespace

Tree tree_of(const fs::path& root) {
  Tree tree;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    auto& text = tree[fs::relative(entry.path(), root).string()];
    if (entry.is_regular_file()) text = file_contents(entry.path());
  }
  return tree;
}

void materialize(const Tree& tree, const fs::path& root) {
  fs::remove_all(root);
  fs::create_directories(root);
  for (const auto& [path, text] : tree) {  // a directory comes before what is in it
    if (text) {
      std::ofstream(root / path, std::ios::binary) << *text;
    } else {
      fs::create_directory(root / path);
    }
  }
}

SimulatedDisk::SimulatedDisk(const fs::path& root)
    : root_path_(root.string()), root_(std::make_shared<Node>()) {
  root_->directory = true;
  for (const auto& [path, text] : tree_of(root)) {
    const auto node = std::make_shared<Node>();
    node->directory = !text;
    node->safe = text.value_or("");
    const Shared directory = directory_of(parent_of(root_path_ + "/" + path));
    directory->names[name_of(path)] = directory->safe_names[name_of(path)] = node;
  }
}

SimulatedDisk::Shared SimulatedDisk::directory_of(const std::string& path) const {
  if (!path.starts_with(root_path_)) return nullptr;
  Shared node = root_;
  for (const fs::path& part : fs::path(path.substr(root_path_.size())).relative_path()) {
    const auto found = node->names.find(part.string());
    if (found == node->names.end()) return nullptr;
    node = found->second;
  }
  return node;
}

void SimulatedDisk::change(const std::string& directory,
                           std::vector<std::pair<std::string, Shared>> names) {
  const Shared node = directory_of(directory);
  if (node == nullptr) throw std::logic_error("a change in " + directory);
  for (const auto& [name, to] : names) {
    if (to == nullptr) {
      node->names.erase(name);
    } else {
      node->names[name] = to;
    }
  }
  changes_.push_back({node, std::move(names)});
}

void SimulatedDisk::apply(const TracedCall& call) {
  if (call.failed) return;
  const auto created = [&](bool directory) {
    const auto node = std::make_shared<Node>();
    node->directory = directory;
    change(parent_of(call.path), {{name_of(call.path), node}});
  };
  switch (call.call) {
    case Call::kOpen:
      if (call.created) created(false);
      open_[call.descriptor] = directory_of(call.path);
      break;
    case Call::kMakeDirectory:
      created(true);
      break;
    case Call::kWrite:
      open_.at(call.descriptor)->writes.push_back({call.place, call.data});
      break;
    case Call::kTruncate:
      open_.at(call.descriptor)->writes.push_back({call.place, "", true});
      break;
    case Call::kSync: {
      const Shared node = open_.at(call.descriptor);
      node->safe = text_of(*node, Data::kAll);
      node->writes.clear();
      node->safe_names = node->names;
      std::erase_if(changes_, [&](const Change& c) { return c.directory == node; });
      break;
    }
    case Call::kClose:
      open_.erase(call.descriptor);
      break;
    case Call::kRename: {
      if (parent_of(call.path) != parent_of(call.other)) throw std::logic_error("two directories");
      const Shared node = directory_of(call.path);
      change(parent_of(call.path), {{name_of(call.path), nullptr}, {name_of(call.other), node}});
      break;
    }
    case Call::kUnlink:
      change(parent_of(call.path), {{name_of(call.path), nullptr}});
      break;
    case Call::kExchange:
      throw std::logic_error("an exchange of names");
    case Call::kRead:
    case Call::kCount:
      break;
  }
}

std::string SimulatedDisk::text_of(const Node& file, Data data) {
  std::string text = file.safe;
  size_t bytes = 0;
  for (const Write& write : file.writes) bytes += write.data.size();
  size_t left = data == Data::kNone ? 0 : data == Data::kHalf ? bytes / 2 : bytes;
  if (data == Data::kNone) return text;
  for (const Write& write : file.writes) {
    if (write.cuts) {
      text.resize(write.place);
      continue;
    }
    const size_t size = std::min(left, write.data.size());
    if (size == 0) break;
    left -= size;
    text.resize(std::max(text.size(), write.place + size));
    const std::string part = write.data.substr(0, size);
    text.replace(write.place, size, data == Data::kZeros ? std::string(size, '\0') : part);
  }
  return text;
}

void SimulatedDisk::collect(const Shared& node, const std::string& path,
                            const std::vector<bool>& happened, Data data, Tree& tree) const {
  std::map<std::string, Shared> names = node->safe_names;
  for (size_t i = 0; i < changes_.size(); ++i) {
    if (!happened[i] || changes_[i].directory != node) continue;
    for (const auto& [name, to] : changes_[i].names) {
      if (to == nullptr) {
        names.erase(name);
      } else {
        names[name] = to;
      }
    }
  }
  for (const auto& [name, child] : names) {
    const std::string inner = path.empty() ? name : path + "/" + name;
    if (child->directory) {
      tree[inner] = std::nullopt;
      collect(child, inner, happened, data, tree);
    } else {
      tree[inner] = text_of(*child, data);
    }
  }
}

std::vector<Tree> SimulatedDisk::after_power_cut() const {
  const size_t count = changes_.size();
  std::vector<std::vector<bool>> choices = {std::vector<bool>(count, false),
                                            std::vector<bool>(count, true)};
  for (size_t i = 0; i < count; ++i) {
    std::vector<bool> all_but(count, true), alone(count, false), until(count, false);
    all_but[i] = false;
    alone[i] = true;
    std::fill_n(until.begin(), i + 1, true);
    choices.insert(choices.end(), {all_but, alone, until});
  }
  std::vector<Tree> trees;
  for (const std::vector<bool>& happened : choices) {
    for (const Data data : {Data::kNone, Data::kAll, Data::kHalf, Data::kZeros}) {
      Tree& tree = trees.emplace_back();
      collect(root_, "", happened, data, tree);
    }
  }
  return trees;
}

}  // namespace attend::faults
