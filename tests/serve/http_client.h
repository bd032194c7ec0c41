// A client of a socket that sends what it is told to, right or wrong.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend {

// An answer as it came; status 0 where the connection was closed without one.
struct ClientAnswer {
  int status = 0;
  std::string head;  // with the status line
  std::string body;  // chunks put together
  bool is_whole = false;

  explicit ClientAnswer(const std::string& text) {
    const size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) return;
    head = text.substr(0, end + 2);
    status = std::stoi(head.substr(head.find(' ') + 1, 3));
    body = text.substr(end + 4);
    if (field("Transfer-Encoding") == "chunked") {
      is_whole = join_chunks();
    } else {
      is_whole = field("Content-Length") == std::to_string(body.size());
    }
  }

  std::string field(const std::string& name) const {
    const size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }

 private:
  bool join_chunks() {
    const std::string raw = std::exchange(body, "");
    for (size_t at = 0; at < raw.size();) {
      const size_t line = raw.find("\r\n", at);
      if (line == std::string::npos) return false;
      const size_t size = std::stoul(raw.substr(at, line - at), nullptr, 16);
      if (size == 0) return true;
      body += raw.substr(line + 2, size);
      at = line + size + 4;
    }
    return false;
  }
};

class HttpClient {
 public:
  explicit HttpClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~HttpClient() { close(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // False once the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Some bytes, or none once the server has closed.
  std::string receive() {
    std::string bytes(1 << 16, '\0');
    const ssize_t size = ::recv(socket_, bytes.data(), bytes.size(), 0);
    bytes.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return bytes;
  }

  bool has_answer() const {
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }

  std::string receive_until(std::string_view mark) {
    std::string all;
    while (all.find(mark) == std::string::npos) {
      const std::string bytes = receive();
      if (bytes.empty()) break;
      all += bytes;
    }
    return all;
  }

  ClientAnswer answer() {
    std::string all;
    for (std::string bytes = receive(); !bytes.empty(); bytes = receive()) all += bytes;
    return ClientAnswer(all);
  }

  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

 private:
  int socket_;
};

// The answer to these bytes, sent at once.
inline ClientAnswer answer_to(uint16_t port, std::string_view bytes) {
  HttpClient client(port);
  client.send(bytes);
  return client.answer();
}

}  // namespace attend
