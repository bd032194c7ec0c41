"""Abuses an explorer over real sockets: it refuses or closes, stays as small as it was, and answers its page meanwhile.

usage: abuse_test.py ATTEND MODEL
"""
import contextlib
import statistics
import sys
import threading
import time
import unittest

from abuse import LARGEST, Server, SlowClients, reset, status, vanish, wait_until

MB = 1 << 20
CONNECTIONS = 256  # as the server takes them


class AbuseTest(unittest.TestCase):
    attend = model = ""

    def setUp(self):
        self.server = Server(self.attend, self.model)
        self.addCleanup(self.server.__exit__)
        self.idle = self.server.descriptors()
        self.server.run(texts={"source": "january"}, beam=4)  # run 1

    def tearDown(self):
        self.assertTrue(self.server.is_running(), "the explorer has ended")
        self.assertEqual(self.server.get("/api/models")[0], 200)

    def answers_its_page(self):
        """The page's small requests are answered, most within a second. Run 1 may be forgotten by then."""
        times = []
        for path in ["/", "/api/models", "/api/runs/1", "/api/runs/1/sequences", "/api/training/0"] * 3:
            begin = time.monotonic()
            self.assertIn(self.server.get(path)[0], (200, 404) if "/runs/1" in path else (200,), path)
            times.append(time.monotonic() - begin)
        self.assertLess(statistics.median(times), 1)

    def assert_refused(self, octets):
        answer = self.server.ask(octets)
        self.assertIn(status(answer) // 100, (0, 4, 5), (octets[:200], answer[:200]))
        self.assertLessEqual(answer.count(b"HTTP/1.1 "), 1, octets[:200])
        return status(answer)

    def assert_idle(self):
        self.assertTrue(wait_until(lambda: self.server.descriptors() <= self.idle), self.server.descriptors())

    def test_slow_clients(self):
        with SlowClients(self.server, 64):
            self.answers_its_page()

    def test_connections_past_the_limit(self):
        with contextlib.ExitStack() as stack:
            for _ in range(3 * CONNECTIONS):
                stack.enter_context(self.server.connect())
            self.answers_its_page()
            self.assertTrue(wait_until(lambda: self.server.descriptors() <= self.idle + CONNECTIONS))
        self.assert_idle()

    def test_clients_that_read_nothing(self):
        with contextlib.ExitStack() as stack:
            for path in ["/", "/api/runs/1/map?reduction=mean", "/api/runs/1/saliency", "/api/models"] * 20:
                stack.enter_context(self.server.connect()).sendall(self.server.head("GET", path))
            self.answers_its_page()

    def test_more_runs_than_there_is_room_for(self):
        request = self.server.post({"texts": {"source": "january february " * 30}, "beam": 16, "top": 20})
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.server.ask(request))) for _ in range(64)]
        for thread in threads:
            thread.start()
        self.answers_its_page()
        for thread in threads:
            thread.join()
        for answer in answers:
            self.assertIn(status(answer), (200, 503))
            self.assertIn(b'"error":"the server is busy' if status(answer) == 503 else b'"event":"done"', answer)

    def test_endless_headers(self):
        self.server.endless(b"", b"x" * 65536)
        before = self.server.memory()
        for begin, piece in [(b"GET / HTTP/1.1\r\nX: ", b"x" * 65536), (b"GET / HTTP/1.1\r\n", b"X: y\r\n" * 10000),
                             (b"GET /", b"x" * 65536), (b"", b"x" * 65536), (b"", b"\r\n" * 30000),
                             (self.server.head("GET", "/"), b"x" * 65536)]:
            self.assertLess(self.server.endless(begin, piece), LARGEST, begin)
        self.assertLess(self.server.memory() - before, 4 * MB)

    def test_bodies_over_the_limit(self):
        chunked = self.server.head("POST", "/api/runs", "Content-Type: application/json", "Transfer-Encoding: chunked")
        self.server.endless(chunked, b"1\r\n \r\n" * 10000)
        before = self.server.memory()
        for body in (b" " * (MB + 1), b" " * (8 * MB)):
            self.assertEqual(self.assert_refused(self.server.post(body)), 413)
            self.assertIn(self.assert_refused(chunked + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)), (0, 413))
        for piece in (b"10000\r\n" + b" " * 65536 + b"\r\n", b"1\r\n \r\n" * 10000, b"1;" + b"x" * 4000 + b"\r\n \r\n"):
            self.assertLess(self.server.endless(chunked, piece), LARGEST)
        self.assertLess(self.server.endless(self.server.head("POST", "/api/runs"), b" " * 65536), LARGEST)
        self.assertLess(self.server.memory() - before, 8 * MB)

    def test_ranges(self):
        for ranges in ("bytes=" + "0-," * 2690 + "0-", "bytes=0-0", "bytes=" + ",".join(f"{i}-{i}" for i in range(2000)),
                       "bytes=18446744073709551615-", "lines=-1"):
            answered, body = self.server.get("/", f"Range: {ranges}")
            self.assertIn(answered, (200, 431))
            self.assertLess(len(body), MB)

    def test_smuggling(self):
        hidden = self.server.head("GET", "/api/models")
        length, chunked = f"Content-Length: {len(hidden)}", "Transfer-Encoding: chunked"
        for fields in [(length, chunked), (chunked, length), (length, "Content-Length: 0"), (length, length),
                       ("Content-Length: 0, 5",), (chunked, "Transfer-Encoding: identity"), ("Transfer-Encoding: xchunked",),
                       ("Transfer-Encoding: gzip, chunked",), ("Transfer-Encoding : chunked",), ("X: a\r\n " + length,),
                       ("X: a\n" + length,), ("X: a\r" + length,), ("X: a\0b", length), (f"Host: {self.server.host}", length),
                       ("Content-Length: -1",), ("Content-Length: 0x10",), ("Content-Length: 99999999999999999999",)]:
            self.assert_refused(self.server.head("POST", "/api/runs", "Content-Type: application/json", *fields) + hidden)
        for octets in (hidden.replace(b"\r\n", b"\n"), b"\0" * 1000, bytes(range(256)) * 8, b"GET http://evil.example/" + hidden[4:],
                       hidden.replace(b"HTTP/1.1", b"HTTP/3.0"), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            self.assert_refused(octets)
        self.assertEqual(self.server.ask(hidden + hidden).count(b"HTTP/1.1 "), 1)

    def test_strangers(self):
        for host in ("evil.example", f"evil.example:{self.server.port}", "127.0.0.1", f"127.0.0.1:{self.server.port}.evil.example",
                     f"{self.server.host} ", " "):
            answer = self.server.ask(self.server.head("GET", "/api/models", host=host or "-"))
            self.assertEqual(status(answer), 200 if host.strip() == self.server.host else 403, host)
        for field in ("Origin: http://evil.example", "Origin: null", "Origin:", f"Origin: https://{self.server.host}",
                      "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"):
            self.assertEqual(self.server.get("/api/models", field)[0], 403, field)
        own = self.server.token
        for token in ("", "0" * 48, own[:-1], own + "0", own.upper() if own.upper() != own else ""):
            self.server.token = token
            self.assertEqual(self.server.get("/api/models")[0], 401, token)
            self.assertEqual(self.server.get("/api/models?token=" + token)[0], 401, token)
        self.server.token = own

    def test_deep_json(self):
        for text in ("[" * 500_000, "[" * 250_000 + "]" * 250_000, '{"a":' * 100_000 + "1" + "}" * 100_000,
                     '{"source":' + "[" * 100_000 + "]" * 100_000 + "}", "[" + "[]," * 300_000 + "1]"):
            answer = self.server.ask(self.server.post(text.encode()))
            self.assertIn(b'"event":"error"', answer, text[:20])

    def test_huge_numbers(self):
        numbers = ["-1", "1.5", "1e3", "1e999", str(1 << 31), str(1 << 63), str(1 << 64), "9" * 400]
        for number in numbers:
            for name in ("model", "beam", "top"):
                text = f'{{"texts": {{"source": "may"}}, "{name}": {number}}}'
                self.assertIn(b'"event":"error"', self.server.ask(self.server.post(text.encode())), text[:60])
            text = f'{{"texts": {{"source": "may"}}, "start_ids": [{number}]}}'
            self.assertIn(b'"event":"error"', self.server.ask(self.server.post(text.encode())), text[:60])
            for path in (f"/api/runs/{number}", f"/api/training/{number}", f"/api/snapshots/{number}/map",
                         f"/api/runs/1/map?layer=decoder.0.cross&head={number}", f"/api/runs/1/map?path={number}",
                         f"/api/runs/1/thumbnails?size={number}", f"/api/snapshots/0/map?step={number}&layer=x",
                         f"/api/snapshots/0/map?step=1&sentence={number}&layer=x", f"/api/runs/1/sequences?path={number}"):
                answered, body = self.server.get(path)
                self.assertIn(answered, (400, 404), path[:80])
                self.assertLess(len(body), 500)

    def test_clients_that_vanish(self):
        for number in range(1000):  # what is kept for later is there by then
            vanish(self.server, number)
        self.assert_idle()
        memory = self.server.memory()
        for number in range(1000):
            vanish(self.server, number)
        self.assert_idle()
        self.assertTrue(wait_until(lambda: self.server.memory() <= 1.05 * memory), (memory, self.server.memory()))

    def test_reset_in_the_middle_of_a_stream(self):
        request = self.server.post({"texts": {"source": "january february " * 30}, "beam": 16, "top": 20})
        for _ in range(50):
            client = self.server.connect()
            client.sendall(request)
            client.recv(10)
            reset(client)
        self.answers_its_page()
        self.assertEqual(self.server.run(texts={"source": "may"})[-1]["event"], "done")


if __name__ == "__main__":
    AbuseTest.attend, AbuseTest.model = sys.argv[1:3]
    sys.exit(not unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2, exit=False).result.wasSuccessful())
