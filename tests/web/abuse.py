"""An explorer to be abused, and clients that do so over real sockets. Standard library only."""
import contextlib
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import threading
import time
import urllib.parse

PATIENCE = 120  # seconds, for what is to come
LARGEST = 64 << 20  # bytes that are sent to a server that should have closed long before


class Server:
    """`attend explore` on a port of its own."""

    def __init__(self, attend, *models):
        self.process = subprocess.Popen([attend, "explore", *models, "--port", "0"], stdout=subprocess.PIPE, text=True)
        address = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        self.port = address.port
        self.token = urllib.parse.parse_qs(address.query).get("token", [""])[0]
        self.host = f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def is_running(self):
        return self.process.poll() is None

    def memory(self):
        """Bytes that the process holds."""
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def processor_time(self):
        """Of all its threads, in ticks."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def rest(self):
        """Waits until it computes nothing: a client's connection ends before the work for it does."""
        before = -1
        while before != (before := self.processor_time()):
            time.sleep(0.3)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def head(self, method, path, *fields, host=None):
        """A header that the explorer takes, unless its fields say otherwise."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or self.host}", f"Authorization: Bearer {self.token}", *fields]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def post(self, body, *fields):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.head("POST", "/api/runs", "Content-Type: application/json", f"Content-Length: {len(body)}",
                         *fields) + body

    def ask(self, octets):
        """All that the server answers to these octets, sent whether it takes them or not."""
        with self.connect() as client:
            with contextlib.suppress(ConnectionError):
                client.sendall(octets)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while piece := client.recv(1 << 16):
                    answer += piece
            return answer

    def get(self, path, *fields):
        """The status and the body of an answer of known length."""
        answer = self.ask(self.head("GET", path, *fields))
        head, _, body = answer.partition(b"\r\n\r\n")
        return status(head), body

    def run(self, **request):
        """The events of a run, or the error in place of them."""
        answer = self.ask(self.post(request)).decode()
        return [json.loads(line) for line in re.findall(r"^\{.*\}$", answer.replace("\r\n", "\n"), re.MULTILINE)]

    def endless(self, begin, piece):
        """Sends `piece` until the server closes; gives how many octets it let us send."""
        with self.connect() as client:
            sent = 0
            try:
                client.sendall(begin)
                while sent < LARGEST:
                    client.sendall(piece)
                    sent += len(piece)
            except ConnectionError:
                pass
            return sent


def status(answer):
    """0 where there is none."""
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(found[1]) if found else 0


def reset(client):
    """Closes as a process that was killed does: without a word."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


class SlowClients:
    """So many clients that send a byte of a request now and then, for as long as the block takes."""

    def __init__(self, server, count, pause=0.1):
        self.server, self.pause = server, pause
        self.clients = [server.connect() for _ in range(count)]
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._send)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        for client in self.clients:
            client.close()

    def _send(self):
        header = self.server.head("GET", "/api/models", "X: " + "x" * 4000)
        for octet in header:
            for i, client in enumerate(self.clients):
                try:
                    client.sendall(bytes([octet]))
                except OSError:  # cut off, as it should be; another one comes
                    client.close()
                    self.clients[i] = self.server.connect()
            if self.ended.wait(self.pause):
                return


def vanish(server, number):
    """A client that goes away in the middle of something, in a way that depends on its number."""
    request = server.post({"texts": {"source": "january " * 20}, "beam": 4})
    begins = [b"", b"GET / HT", server.head("GET", "/")[:-2], request[:-10], request, server.head("GET", "/"),
              server.head("GET", "/api/runs/1/map?reduction=mean"), server.head("GET", "/api/runs/1/saliency")]
    client = server.connect()
    with contextlib.suppress(ConnectionError):
        client.sendall(begins[number % len(begins)])
        if number % 3 == 0 and number % len(begins) >= 4:
            client.recv(100)  # in the middle of the answer
    if number % 2:
        reset(client)
    else:
        client.close()


def wait_until(holds):
    end = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()
