"""Repositories that no honest git would write: objects, packs and refs made byte by byte."""

import hashlib
import pathlib
import struct
import subprocess
import zlib

FILE, LINK, FOLDER, MODULE = b"100644", b"120000", b"40000", b"160000"
KERNEL = b"import triton\n\n\n@triton.jit\ndef %s(x):\n    return x\n"
SOMEBODY = b"a <a@example.org> 1767225600 +0000"


def kernel(name):
    """A Python file with one kernel."""
    return KERNEL % name.encode()


def varint(number):
    """Seven bits a byte, the lowest first, as deltas have their sizes."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


class RawRepository:
    """A bare repository whose objects are written as they are given, loose."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        for folder in ("objects/pack", "refs/heads"):
            (self.path / folder).mkdir(parents=True)
        (self.path / "HEAD").write_text("ref: refs/heads/main\n")
        (self.path / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
                                          "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")

    def object_file(self, oid):
        return self.path / "objects" / oid[:2] / oid[2:]

    def write(self, kind, content):
        data = kind + b" %d\0" % len(content) + content
        oid = hashlib.sha1(data).hexdigest()
        self.object_file(oid).parent.mkdir(exist_ok=True)
        self.object_file(oid).write_bytes(zlib.compress(data, 1))
        return oid

    def blob(self, content):
        return self.write(b"blob", content)

    def tree(self, items):
        """[(mode, name, id)], written in this order whatever it is."""
        return self.write(b"tree", b"".join(mode + b" " + name + b"\0" + bytes.fromhex(oid)
                                            for mode, name, oid in items))

    def files(self, contents):
        """A tree of {name: bytes}."""
        return self.tree([(FILE, name, self.blob(text)) for name, text in sorted(contents.items())])

    def commit(self, tree):
        """Commits a tree and makes it main's; returns the commit's id."""
        oid = self.write(b"commit", b"tree %s\nauthor %s\ncommitter %s\n\nhostile\n" %
                         (tree.encode(), SOMEBODY, SOMEBODY))
        (self.path / "refs/heads/main").write_text(oid + "\n")
        return oid

    def tree_bomb(self, levels, width):
        """A tree of width ** levels paths, of as many objects as levels and two."""
        mode, oid = FILE, self.blob(kernel("bomb"))
        for _ in range(levels):
            oid = self.tree([(mode, b"d%04d.py" % n, oid) for n in range(width)])
            mode = FOLDER
        return oid

    def deep_tree(self, depth):
        oid = self.files({b"deep.py": kernel("deep")})
        for _ in range(depth):
            oid = self.tree([(FOLDER, b"d", oid)])
        return oid

    def delta_bomb(self, size):
        """A blob of `size` zero bytes that a pack of this repository holds in some hundred bytes; its id."""
        bomb, objects = delta_bomb(size)
        self.write_pack(objects)
        return bomb

    def write_pack(self, objects):
        """Writes a pack of [(id, bytes as packed)] and its index, which believes those ids."""
        pack, at, rows = pack_of(objects), 12, []
        for oid, data in objects:
            rows.append((bytes.fromhex(oid), zlib.crc32(data), at))
            at += len(data)
        rows.sort()
        fan = b"".join(struct.pack(">I", sum(row[0][0] <= first for row in rows)) for first in range(256))
        index = b"\xfftOc" + struct.pack(">I", 2) + fan + b"".join(row[0] for row in rows)
        index += b"".join(struct.pack(">I", row[1]) for row in rows)
        index += b"".join(struct.pack(">I", row[2]) for row in rows) + pack[-20:]
        index += hashlib.sha1(index).digest()
        name = self.path / "objects/pack" / f"pack-{pack[-20:].hex()}"
        name.with_suffix(".pack").write_bytes(pack)
        name.with_suffix(".idx").write_bytes(index)

    def many_refs(self, count, commit):
        """Packed refs of a commit, sorted as git sorts them."""
        with open(self.path / "packed-refs", "w", encoding="ascii") as refs:
            refs.write("# pack-refs with: peeled fully-peeled sorted \n")
            refs.writelines(f"{commit} refs/pull/{n:07}/head\n" for n in range(count))

    def check_it_is_served(self):
        """Fails unless git itself would hand out main's commit."""
        subprocess.run(["git", "-c", "safe.directory=*", "--git-dir", self.path, "cat-file", "-e", "main"], check=True)


def pack_of(objects):
    """A pack of [(id, bytes as packed)]."""
    pack = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(data for _, data in objects)
    return pack + hashlib.sha1(pack).digest()


def delta_bomb(size, honest=True):
    """(id, [(id, bytes as packed)]) of a blob of `size` zero bytes, as a delta of some hundred bytes, and the MiB that
    it is a delta of. Unless it is honest the delta's size alone says so, nothing follows, and the id is no hash."""
    chunk = 1 << 20
    copies = b"\xf0\0\0\x10" * (size // chunk) if honest else b""  # from offset 0, 0x100000 bytes
    delta = varint(chunk) + varint(size) + copies
    digest = hashlib.sha1(b"blob %d\0" % size if honest else b"a lie")
    for _ in range(size // chunk if honest else 0):
        digest.update(bytes(chunk))
    base = hashlib.sha1(b"blob %d\0" % chunk + bytes(chunk)).hexdigest()
    return digest.hexdigest(), [(base, packed(3, chunk, bytes(chunk))),
                                (digest.hexdigest(), packed(7, len(delta), delta, bytes.fromhex(base)))]


def packed(kind, size, content, prefix=b""):
    """An object as a pack has it: type and size, the delta's base if it is one, and the content compressed."""
    first, size = kind << 4 | size & 15, size >> 4
    head = bytearray()
    while size:
        head.append(first | 128)
        first, size = size & 127, size >> 7
    head.append(first)
    return bytes(head) + prefix + zlib.compress(content, 9)
