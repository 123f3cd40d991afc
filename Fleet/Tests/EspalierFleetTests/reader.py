"""Reads a tree of shared records from Redis, and prints it as JSON: reader.py PORT IDENTIFIER."""
import ctypes, ctypes.util, json, socket, struct, sys

M = (1 << 64) - 1
P = [0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5]
rotate = lambda x, n: (x << n | x >> (64 - n)) & M
step = lambda a, word: rotate((a + word * P[1]) & M, 31) * P[0] & M
def xxh64(data, seed):
    at = 0
    if len(data) >= 32:
        lanes = [(seed + P[0] + P[1]) & M, (seed + P[1]) & M, seed, (seed - P[0]) & M]
        while at <= len(data) - 32:
            lanes = [step(a, w) for a, w in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotate(a, n) for a, n in zip(lanes, (1, 7, 12, 18))) & M
        for a in lanes:
            h = ((h ^ step(0, a)) * P[0] + P[3]) & M
    else:
        h = (seed + P[4]) & M
    h = (h + len(data)) & M
    while at + 8 <= len(data):
        h = (rotate(h ^ step(0, struct.unpack_from("<Q", data, at)[0]), 27) * P[0] + P[3]) & M
        at += 8
    if at + 4 <= len(data):
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * P[0] & M, 23) * P[1] + P[2]) & M
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * P[4] & M, 11) * P[0] & M
    h = (h ^ h >> 33) * P[1] & M
    return (lambda h: h ^ h >> 32)((h ^ h >> 29) * P[2] & M)

class Reader:
    def __init__(self, data): self.data, self.at = data, 0
    def take(self, n):
        if self.at + n > len(self.data): sys.exit("truncated")
        self.at += n
        return self.data[self.at - n:self.at]
    def number(self, n): return int.from_bytes(self.take(n), "big")
    def varint(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128: return value
    def text(self): return self.take(self.varint()).decode()
    def value(self, child):
        t = self.number(1)
        if t < 0x80: return t
        if t >= 0xE0: return t - 256
        if t in (0xC0, 0xC1): return None
        if t in (0xC2, 0xC3): return t == 0xC3
        if t in (0xCA, 0xCB): return struct.unpack(">f" if t == 0xCA else ">d", self.take(4 if t == 0xCA else 8))[0]
        if 0xCC <= t <= 0xCF: return self.number(1 << t - 0xCC)
        if 0xD0 <= t <= 0xD3: return int.from_bytes(self.take(1 << t - 0xD0), "big", signed=True)
        if 0xA0 <= t < 0xC0: return self.take(t & 31).decode()
        if 0xD9 <= t <= 0xDB: return self.take(self.number(1 << t - 0xD9)).decode()
        if 0xC4 <= t <= 0xC6: return self.take(self.number(1 << t - 0xC4)).hex()
        if 0x90 <= t < 0xA0 or t in (0xDC, 0xDD):
            return [self.value(child) for _ in range(t & 15 if t < 0xA0 else self.number(2 << t - 0xDC))]
        if 0x80 <= t < 0x90 or t in (0xDE, 0xDF):
            pairs = range(t & 15 if t < 0x90 else self.number(2 << t - 0xDE))
            return {str(self.value(child)): self.value(child) for _ in pairs}
        if t in (0xD4, 0xD5, 0xD6):
            kind, ordinal = self.number(1), self.number(1 << t - 0xD4)
            if kind == 1: return child(ordinal)
        sys.exit("unknown value %x" % t)

def command(*words):
    words = [w.encode() for w in words]
    redis.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    redis.flush()
    length = int(redis.readline()[1:])
    return None if length < 0 else redis.read(length + 2)[:-2]

def decompress(frame):
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd"))
    zstd.ZSTD_getFrameContentSize.restype = zstd.ZSTD_decompress.restype = ctypes.c_ulonglong
    out = ctypes.create_string_buffer(zstd.ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame))))
    size = zstd.ZSTD_decompress(out, ctypes.c_size_t(len(out)), frame, ctypes.c_size_t(len(frame)))
    return out.raw if size == len(out) else sys.exit("damaged frame")

def node(identifier):
    data = command("GET", "espalier:n:" + identifier)
    if data is None: return None
    seed = xxh64(identifier.encode(), 1)
    if data[0] != 1 or xxh64(data[:-8], seed) != int.from_bytes(data[-8:], "big"): sys.exit("damaged")
    head = Reader(data[1:-8])
    flags, _, _ = head.number(1), head.number(8), head.number(8)
    if flags & 4: return None  # a tombstone
    if flags & 16: head.varint()  # the maximum age
    rest = head.data[head.at:]
    body = Reader(decompress(rest) if flags & 32 else rest)
    shape = Reader(command("HGET", "espalier:shapes", "%x" % body.number(8)))
    [shape.text() for _ in range(shape.varint())]
    fields = [(shape.text(), shape.varint())[0] for _ in range(shape.varint())]
    children = [body.text() for _ in range(body.varint())]
    return {field: body.value(lambda ordinal: node(children[ordinal])) for field in fields}
redis = socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("rwb")
print(json.dumps(node(sys.argv[2]), sort_keys=True))
