#include "attend/serve/http_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <list>
#include <optional>
#include <thread>

#include "attend/base/error.h"
#include "attend/serve/http_outbox.h"

namespace attend {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kPiece = 64 << 10;        // sent within send_time
constexpr size_t kMostIgnored = 16 << 20;  // bytes after a request, until its sender is cut off
constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::milliseconds kPause{20};  // where there is no memory or no descriptor

// What of a request the way to send its answer depends on.
struct AnswerForm {
  bool is_http_1_0 = false;  // such a client knows no chunks
  bool is_head = false;      // wants no body
};

}  // namespace

struct HttpServer::Engine {
  class Connection;

  HttpHandler& handler;
  HttpServerOptions options;
  std::atomic<bool> stopping = false;
  std::atomic<size_t> held_bytes = 0;  // of all outboxes
  std::deque<HttpLane> lanes;
  std::list<Connection*> connections;  // the oldest first; in the thread of the network only
  std::string full_text;               // for a connection too many
  asio::io_context network{1};
  tcp::acceptor acceptor{network};
  asio::steady_timer pause{network};
  bool is_accepting = false;

  Engine(HttpHandler& asked, HttpServerOptions given);
  ~Engine();

  void run();
  void stop();
  void accept();
  void welcome(tcp::socket socket);
  void write(HttpOutbox& outbox, HttpAnswer answer, AnswerForm form) const;
  void work(HttpOutbox& outbox, const HttpTask& task, AnswerForm form) const noexcept;
};

// Lives as long as something of it is under way: a read, a write or its timer. All of it happens in
// the thread of the network; who works for it has its outbox alone.
class HttpServer::Engine::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Engine& engine, tcp::socket socket)
      : engine_(engine),
        socket_(std::move(socket)),
        timer_(engine.network),
        parser_(std::in_place, engine.options.limits, engine.handler),
        place_(engine.connections.insert(engine.connections.end(), this)) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() {
    outbox_ = std::make_shared<HttpOutbox>(engine_.held_bytes,
                                           [&network = engine_.network, weak = weak_from_this()] {
                                             asio::post(network, [weak] {
                                               if (const auto self = weak.lock()) self->send();
                                             });
                                           });
    set_deadline(engine_.options.header_time);
    read();
  }

  bool is_working() const { return state_ == State::kWorking; }

  void close() {
    if (state_ == State::kClosed) return;
    state_ = State::kClosed;
    engine_.connections.erase(place_);
    if (outbox_) outbox_->close();
    error_code ignored;
    timer_.cancel(ignored);
    socket_.close(ignored);
  }

 private:
  // The request is read; worked for, until all of the answer is known; the answer is sent; then
  // the client may close.
  enum class State { kReading, kWorking, kSending, kLingering, kClosed };

  void set_deadline(std::chrono::milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (error || self->timer_.expiry() > std::chrono::steady_clock::now()) return;
      self->on_deadline();
    });
  }

  void on_deadline() {
    if (state_ == State::kReading) {
      answer(error_answer(408, "the request took too long to arrive"));
    } else if (state_ == State::kWorking && !is_sending_) {
      send();  // who works may have lacked the memory to wake us
    } else {
      close();
    }
  }

  // One is always under way: it is how we learn that the client has gone.
  void read() {
    socket_.async_read_some(asio::buffer(input_),
                            [self = shared_from_this()](error_code error, size_t size) {
                              if (error) return self->close();
                              self->on_read({self->input_.data(), size});
                            });
  }

  void on_read(std::string_view bytes) {
    if (state_ == State::kReading) {
      on_request_bytes(bytes);
    } else {
      ignored_ += bytes.size();
      if (ignored_ > kMostIgnored) close();
    }
    if (state_ != State::kClosed) read();
  }

  void on_request_bytes(std::string_view bytes) {
    try {
      const bool had_head = parser_->has_head();
      if (parser_->feed(bytes)) return on_request(parser_->take());
      if (had_head || !parser_->has_head()) return;
      set_deadline(engine_.options.body_time);
      if (parser_->wants_continue()) outbox_->write("HTTP/1.1 100 Continue\r\n\r\n");
    } catch (const HttpRefusal& refusal) {
      answer(refusal.answer);
    } catch (const std::exception& error) {
      answer(error_answer(500, error.what()));
    }
  }

  void on_request(HttpRequest request) {
    form_ = {.is_http_1_0 = request.is_http_1_0, .is_head = request.method == "HEAD"};
    HttpTask task = engine_.handler.task(std::move(request));
    HttpLane& lane = engine_.lanes.at(task.lane);
    const bool has_place =
        lane.post({.work = [&engine = engine_, outbox = outbox_, task = std::move(task),
                            form = form_] { engine.work(*outbox, task, form); },
                   .is_wanted = [outbox = outbox_] { return outbox->is_wanted(); }});
    if (!has_place) throw HttpRefusal(503, "the server is busy; try again in a moment");
    parser_.reset();
    state_ = State::kWorking;
    set_deadline(kTick);
  }

  // Of what the network knows by itself.
  void answer(const HttpAnswer& known) {
    state_ = State::kSending;
    set_deadline(engine_.options.send_time);
    engine_.write(*outbox_, known, form_);
  }

  void send() {
    if (state_ == State::kClosed || state_ == State::kLingering || is_sending_) return;
    if (output_.empty()) {
      auto [bytes, end] = outbox_->take();
      output_ = std::move(bytes);
      end_ = end;
    }
    if (end_ != HttpOutbox::End::kNone && state_ == State::kWorking) state_ = State::kSending;
    if (!output_.empty()) return send_piece();
    if (end_ == HttpOutbox::End::kAborted) return close();
    if (end_ == HttpOutbox::End::kFinished) return linger();
    if (state_ == State::kWorking) set_deadline(kTick);
  }

  void send_piece() {
    is_sending_ = true;
    if (state_ != State::kReading) set_deadline(engine_.options.send_time);
    const size_t size = std::min(kPiece, output_.size() - sent_);
    asio::async_write(socket_, asio::buffer(output_.data() + sent_, size),
                      [self = shared_from_this()](error_code error, size_t sent) {
                        if (error) return self->close();
                        self->on_sent(sent);
                      });
  }

  void on_sent(size_t size) {
    is_sending_ = false;
    sent_ += size;
    outbox_->sent(size);
    if (sent_ == output_.size()) {
      output_ = {};
      sent_ = 0;
    }
    send();
  }

  // Closing at once would let the system drop what the client has not read yet, where it has sent
  // more than was taken.
  void linger() {
    state_ = State::kLingering;
    set_deadline(engine_.options.linger_time);
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }

  Engine& engine_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  std::optional<HttpParser> parser_;
  std::list<Connection*>::iterator place_;
  State state_ = State::kReading;
  AnswerForm form_;
  std::array<char, 16 << 10> input_;
  size_t ignored_ = 0;
  std::shared_ptr<HttpOutbox> outbox_;
  std::string output_;  // taken from the outbox; the first `sent_` bytes have left
  size_t sent_ = 0;
  HttpOutbox::End end_ = HttpOutbox::End::kNone;  // after the output
  bool is_sending_ = false;
};

HttpServer::Engine::Engine(HttpHandler& asked, HttpServerOptions given)
    : handler(asked), options(std::move(given)) {
  const tcp::endpoint here(asio::ip::address_v4::loopback(), options.port);
  error_code error;
  acceptor.open(here.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(here, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    throw IoError(
        "port {} of 127.0.0.1 is in use or not allowed ({}); choose another, or 0 for any that is "
        "free",
        options.port, error.message());
  }
  const HttpAnswer full = error_answer(503, "there are too many connections; try again later");
  full_text = head_text(full, HttpFraming::kLength, options.fields) + full.body;
  for (const HttpLaneOptions& lane : options.lanes) lanes.emplace_back(lane);
}

// Before the network goes, which who works would wake.
HttpServer::Engine::~Engine() {
  for (HttpLane& lane : lanes) lane.stop();
}

void HttpServer::Engine::run() {
  while (!stopping) {
    try {
      accept();
      network.run();
      if (!stopping) network.restart();
    } catch (...) {  // for want of memory; what it was for is closed, or its deadline comes
      std::this_thread::sleep_for(kPause);
    }
  }
  while (!connections.empty()) connections.front()->close();
  for (HttpLane& lane : lanes) lane.stop();
}

void HttpServer::Engine::stop() {
  stopping = true;
  network.stop();
}

void HttpServer::Engine::accept() {
  if (is_accepting) return;
  acceptor.async_accept([this](error_code error, tcp::socket socket) {
    is_accepting = false;
    if (error) {
      pause.expires_after(kPause);
      return pause.async_wait([this](error_code) { accept(); });
    }
    welcome(std::move(socket));
    accept();
  });
  is_accepting = true;
}

void HttpServer::Engine::welcome(tcp::socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (connections.size() >= options.connections) {
    const auto idle = std::ranges::find_if(
        connections, [](const Connection* connection) { return !connection->is_working(); });
    if (idle == connections.end()) {
      socket.non_blocking(true, ignored);
      socket.write_some(asio::buffer(full_text), ignored);
      return;
    }
    (*idle)->close();
  }
  std::make_shared<Connection>(*this, std::move(socket))->start();
}

void HttpServer::Engine::write(HttpOutbox& outbox, HttpAnswer answer, AnswerForm form) const {
  if (answer.body.size() >
      options.answer_bytes - std::min(options.answer_bytes, held_bytes.load())) {
    answer = error_answer(503, "too many answers are waiting to be read; try again later");
  }
  const HttpFraming framing = !answer.stream     ? HttpFraming::kLength
                              : form.is_http_1_0 ? HttpFraming::kClose
                                                 : HttpFraming::kChunked;
  const auto framed = [&](const std::string& bytes) {
    return framing == HttpFraming::kChunked ? chunk_text(bytes) : bytes;
  };
  std::string text = head_text(answer, framing, options.fields);
  if (!form.is_head && !answer.body.empty()) text += framed(answer.body);
  outbox.write(text);
  if (answer.stream && !form.is_head) {
    answer.stream([&](const std::string& bytes) {
      if (stopping) return false;
      return bytes.empty() ? outbox.is_wanted() : outbox.write(framed(bytes));
    });
    if (framing == HttpFraming::kChunked) outbox.write(framed(""));
  }
  outbox.finish();
}

void HttpServer::Engine::work(HttpOutbox& outbox, const HttpTask& task,
                              AnswerForm form) const noexcept {
  try {
    write(outbox, answer_of(task), form);
  } catch (...) {  // too late for a status: the answer ends before its end
    outbox.abort();
  }
}

HttpServer::HttpServer(HttpHandler& handler, HttpServerOptions options)
    : engine_(std::make_unique<Engine>(handler, std::move(options))) {}

HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return engine_->acceptor.local_endpoint().port(); }

void HttpServer::run() { engine_->run(); }

void HttpServer::stop() { engine_->stop(); }

}  // namespace attend
