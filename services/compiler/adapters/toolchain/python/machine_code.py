"""Counts the registers, spills and instructions of machine code.

NVIDIA: ptxas reports registers and spills. An instruction has 16 bytes in .text (sm_80 and later); the NOPs that pad the end
do not count. AMD: the assembly ends with the metadata. A spilled vector register has 4 bytes per thread. An instruction is a
line that is not a label, a directive or a comment.
"""
import re
import struct

_USED = re.compile(r"Used (\d+) registers")
_SPILLED = re.compile(r"(\d+) bytes spill (?:stores|loads)")
_AMD = re.compile(r"^\s*\.(vgpr_count|vgpr_spill_count):\s*(\d+)", re.MULTILINE)
_AMD_INSTRUCTION = re.compile(r"^\s+[a-z][a-z0-9_]+(?:\s|$)", re.MULTILINE)

# Numbers of ELF, and of NVIDIA's section .nv.info.
_SYMBOL = struct.Struct("<IBBHQQ")
_NO_BITS = 8
_SIZED, _REGISTERS, _STACK = 0x04, 0x2F, 0x11

_INSTRUCTION_BYTES = 16
_NOP = 0x918  # the low 12 bits of an instruction


def measure(forms, log):
    if "cubin" in forms:
        return {
            "registers": max((int(n) for n in _USED.findall(log)), default=0),
            "spill_bytes": sum(int(n) for n in _SPILLED.findall(log)),
            "instructions": sum(_count(section) for section in text_sections(forms["cubin"])),
        }
    said = {name: int(value) for name, value in _AMD.findall(forms["amdgcn"])}
    return {
        "registers": said.get("vgpr_count", 0),
        "spill_bytes": 4 * said.get("vgpr_spill_count", 0),
        "instructions": len(_AMD_INSTRUCTION.findall(forms["amdgcn"])),
    }


def _count(section):
    count = len(section) // _INSTRUCTION_BYTES
    while count and struct.unpack_from("<Q", section, (count - 1) * _INSTRUCTION_BYTES)[0] & 0xFFF == _NOP:
        count -= 1
    return count


def read_cubin(cubin, entry):
    """Returns the numbers of a kernel that its machine code itself tells, as ptxas does not; None if it has no such kernel. A thread's
    stack counts as what it spills."""
    found = {name: data for name, _, data in _sections(cubin)}
    symbols, names = found.get(".symtab", b""), found.get(".strtab", b"")
    wanted = None
    for place in range(len(symbols) // _SYMBOL.size):
        start = _SYMBOL.unpack_from(symbols, place * _SYMBOL.size)[0]
        if names[start:names.find(b"\0", start)] == entry.encode():
            wanted = place
    if wanted is None or ".text." + entry not in found:
        return None
    attributes = {attribute: value for attribute, symbol, value in _attributes(found.get(".nv.info", b"")) if symbol == wanted}
    return {
        "registers": attributes.get(_REGISTERS, 0),
        "spill_bytes": attributes.get(_STACK, 0),
        "shared_bytes": next((size for name, size, _ in _sections(cubin) if name == ".nv.shared." + entry), 0),
        "instructions": _count(found[".text." + entry]),
    }


def _attributes(info):
    """Yields (attribute, symbol, value) of the section .nv.info, whose rows are a format, an attribute and a value."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != _SIZED:
            continue
        if size == 8 and at + 8 <= len(info):
            yield attribute, *struct.unpack_from("<II", info, at)
        at += size


def text_sections(elf):
    """Returns the contents of the sections of a 64-bit ELF file whose names begin with .text."""
    return [data for name, _, data in _sections(elf) if name.startswith(".text")]


def _sections(elf):
    """Yields (name, size, contents) of the sections of a 64-bit ELF file. One of zeros that it does not store has none."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    rows = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    strings = rows[names][4]
    for name, kind, _, _, offset, length in rows:
        start = strings + name
        yield elf[start:elf.index(b"\0", start)].decode(), length, b"" if kind == _NO_BITS else elf[offset:offset + length]
