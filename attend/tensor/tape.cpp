#include "attend/tensor/tape.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <unordered_set>
#include <vector>

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/tensor/training.h"

namespace attend {

// One recorded tensor: the function that carries its gradient to the inputs, and that gradient
// while the pass is under way (for ever in a leaf, which has no function).
struct Node {
  struct Past {
    Backward backward;
    std::vector<std::shared_ptr<Node>> inputs;
  };

  Node(size_t start, const Shape& extents, Past from);
  ~Node();

  uint64_t order;  // of recording
  size_t offset;   // where the recorded tensor starts in its storage; views start elsewhere
  Shape shape;
  Past past;
  bool leaf;
  Tensor grad;
  RowGradient rows;  // of a leaf: its gradient as long as there is no other
};

namespace {

thread_local bool enabled = true;
std::atomic<uint64_t> next_order{0};

}  // namespace

Node::Node(size_t start, const Shape& extents, Past from)
    : order(next_order++),
      offset(start),
      shape(extents),
      past(std::move(from)),
      leaf(past.backward == nullptr) {}

// A long chain of nodes would destroy itself recursively, one stack frame a node: unroll it.
Node::~Node() {
  thread_local std::vector<Past>* pending = nullptr;
  if (past.backward == nullptr) return;
  if (pending != nullptr) {
    pending->push_back(std::move(past));
    return;
  }
  std::vector<Past> chain;
  pending = &chain;
  chain.push_back(std::move(past));
  while (!chain.empty()) {
    const Past last = std::move(chain.back());
    chain.pop_back();
  }
  pending = nullptr;
}

namespace {

std::vector<std::shared_ptr<Node>> reachable(const std::shared_ptr<Node>& from) {
  std::vector<std::shared_ptr<Node>> found{from};
  std::unordered_set<const Node*> seen{from.get()};
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t j = 0; j < found[i]->past.inputs.size(); ++j) {
      const std::shared_ptr<Node>& input = found[i]->past.inputs[j];
      if (seen.insert(input.get()).second) found.push_back(input);
    }
  }
  return found;
}

void copy_rows(const Tensor& from, const Tensor& to, bool add) {
  kernels::copy_rows({from.data(), from.rows(), from.width(), from.stride()},
                     {to.data(), to.rows(), to.width(), to.stride()}, add);
}

}  // namespace

// Knows the inside of tensors, so that no one else has to.
class Tape {
 public:
  static const std::shared_ptr<Node>& node(const Tensor& x) { return x.node_; }

  static void attach(Tensor& y, Node::Past past) {
    y.node_ = std::make_shared<Node>(y.offset_, y.shape_, std::move(past));
  }

  static bool covers(const Tensor& x) {
    return x.contiguous() && x.size() == x.node_->shape.size();
  }

  // The part of a node's gradient that belongs to x, which may be a view of the node's tensor.
  static Tensor view_of_gradient(const Tensor& x) {
    Tensor view = x.detach();
    view.storage_ = x.node_->grad.storage_;
    view.offset_ = x.offset_ - x.node_->offset;
    return view;
  }

  static RowGradient& rows(const Tensor& leaf) { return leaf.node_->rows; }

  // What was added as rows becomes the gradient of the whole table.
  static void fill_in_rows(Node& node) {
    if (!node.rows.defined()) return;
    if (!node.grad.defined()) node.grad = Tensor::zeros(node.shape);
    add_rows(std::exchange(node.rows, {}), node.grad);
  }

  static void add(const Tensor& x, const RowGradient& dx) {
    Node& node = *x.node_;
    if (node.leaf && !node.grad.defined() && covers(x)) {
      node.rows = joined(node.rows, dx);
      return;
    }
    const Gradient to = gradient(x);
    if (!to.add) kernels::fill(0.0f, to.data(), to.tensor.size());
    add_rows(dx, to.tensor);
  }

  static Gradient gradient(const Tensor& x) {
    Node& node = *x.node_;
    fill_in_rows(node);
    const bool fresh = !node.grad.defined();
    if (fresh) {
      node.grad = covers(x) ? Tensor::empty(node.shape) : Tensor::zeros(node.shape);
    } else if (!node.leaf && node.grad.storage_.use_count() > 1) {
      // Shared by pass() with somebody who still reads it.
      Tensor own = Tensor::empty(node.shape);
      copy_rows(node.grad, own, false);
      node.grad = own;
    }
    return {view_of_gradient(x), !(fresh && covers(x))};
  }

  static void pass(const Tensor& x, const Tensor& dx) {
    Node& node = *x.node_;
    if (!node.leaf && !node.grad.defined() && covers(x) && dx.contiguous() && dx.offset_ == 0) {
      node.grad = dx.detach().reshape(node.shape);
      return;
    }
    const Gradient to = gradient(x);
    // dx may be shaped otherwise: a part of a concatenation is a block of columns.
    const Tensor place = to.tensor.contiguous() ? to.tensor.reshape(dx.shape()) : to.tensor;
    copy_rows(dx, place, to.add);
  }
};

Tensor& Tensor::require_grad() {
  if (dtype_ != DType::kFloat32) throw ShapeError("require_grad: a tensor of ids has no gradient");
  if (!contiguous())
    throw ShapeError("require_grad: a view of columns {} cannot be a leaf", shape_);
  node_ = nullptr;
  Tape::attach(*this, {});
  return *this;
}

Tensor Tensor::grad() const {
  if (node_ != nullptr) Tape::fill_in_rows(*node_);
  return node_ != nullptr && node_->grad.defined() ? Tape::view_of_gradient(*this) : Tensor();
}

void Tensor::clear_grad() const {
  if (node_ == nullptr) return;
  node_->grad = Tensor();
  node_->rows = {};
}

RowGradient row_gradient(const Tensor& leaf) {
  return leaf.needs_grad() ? Tape::rows(leaf) : RowGradient();
}

void add_rows(const RowGradient& rows, const Tensor& gradient) {
  const RowGradient plain = without_factors(rows);
  const size_t width = gradient.width();
  for (size_t i = 0; i < plain.ids.size(); ++i) {
    const auto row = static_cast<size_t>(plain.ids.indices()[i]);
    float* const to = gradient.data() + row * gradient.stride();
    kernels::add(to, plain.values.data() + i * plain.values.stride(), to, width);
  }
}

RowGradient without_factors(const RowGradient& rows) {
  if (!rows.factors.defined()) return rows;
  const size_t count = rows.ids.size(), width = rows.values.width();
  const Tensor values = Tensor::empty({count, width});
  for (size_t i = 0; i < count; ++i) {
    const auto source = static_cast<size_t>(rows.sources.indices()[i]);
    kernels::scale(rows.factors.data()[i], rows.values.data() + source * rows.values.stride(),
                   values.data() + i * width, width);
  }
  return {rows.ids, values, {}, {}};
}

RowGradient joined(const RowGradient& one, const RowGradient& other) {
  if (!one.defined()) return other;
  if (!other.defined()) return one;
  const RowGradient first = without_factors(one), second = without_factors(other);
  const size_t a = first.ids.size(), b = second.ids.size(), width = first.values.width();
  RowGradient both{Tensor::empty({a + b}, DType::kInt32), Tensor::empty({a + b, width}), {}, {}};
  std::ranges::copy(first.ids.index_span(), both.ids.indices());
  std::ranges::copy(second.ids.index_span(), both.ids.indices() + a);
  copy_rows(first.values, both.values.slice_rows(0, a), false);
  copy_rows(second.values, both.values.slice_rows(a, b), false);
  return both;
}

Gradient Grads::of(const Tensor& x) {
  assert(wants(x));
  return Tape::gradient(x);
}

float* Grads::accumulator(const Tensor& x) {
  const Gradient dx = of(x);
  if (!dx.add) kernels::fill(0.0f, dx.data(), dx.tensor.size());
  return dx.data();
}

void Grads::pass(const Tensor& x, const Tensor& dx) {
  if (!wants(x)) return;
  if (x.size() != dx.size()) {
    throw ShapeError("gradient: {} cannot be the gradient of {}", dx.shape(), x.shape());
  }
  Tape::pass(x, dx);
}

void Grads::rows(const Tensor& x, const RowGradient& dx) {
  if (!wants(x)) return;
  const size_t count =
      dx.factors.defined() ? std::min(dx.factors.size(), dx.sources.size()) : dx.values.rows();
  if (x.rank() != 2 || dx.values.rank() != 2 || dx.values.width() != x.width() ||
      count != dx.ids.size()) {
    throw ShapeError("gradient: {} rows of {} cannot be those of {}", dx.ids.size(),
                     dx.values.shape(), x.shape());
  }
  Tape::add(x, dx);
}

Tensor record_always(Tensor y, std::span<const Tensor> inputs, Backward backward) {
  if (!enabled) return y;
  assert(y.contiguous() && !y.needs_grad());
  Node::Past past{std::move(backward), {}};
  for (const Tensor& x : inputs) {
    if (x.needs_grad()) past.inputs.push_back(Tape::node(x));
  }
  Tape::attach(y, std::move(past));
  return y;
}

void backward(const Tensor& y) {
  if (y.size() != 1) {
    throw ShapeError("backward: {} is not one element; reduce it or give the gradient of it",
                     y.shape());
  }
  backward(y, Tensor::full(y.shape(), 1.0f));
}

void backward(const Tensor& y, const Tensor& seed) {
  if (y.shape() != seed.shape()) {
    throw ShapeError("backward: the value is {} but its gradient {}", y.shape(), seed.shape());
  }
  if (!y.needs_grad())
    throw ConfigError("backward: nothing that made this {} needs a gradient", y.shape());
  Grads grads;
  grads.pass(y, seed);
  auto nodes = reachable(Tape::node(y));
  std::ranges::sort(nodes, std::greater{}, [](const auto& node) { return node->order; });
  for (auto& node : nodes) {
    if (node->leaf) continue;
    if (node->past.backward == nullptr) {
      throw ConfigError("backward: the tape behind {} has already been run and freed", node->shape);
    }
    const Node::Past past = std::move(node->past);
    node->past = {};
    const Tensor dy = std::exchange(node->grad, Tensor());
    node.reset();
    if (dy.defined()) past.backward(dy, grads);
  }
}

NoGrad::NoGrad() : before_(std::exchange(enabled, false)) {}
NoGrad::~NoGrad() { enabled = before_; }

bool grad_enabled() { return enabled; }

bool any_needs_grad(std::span<const Tensor> inputs) {
  return enabled && std::ranges::any_of(inputs, &Tensor::needs_grad);
}

}  // namespace attend
