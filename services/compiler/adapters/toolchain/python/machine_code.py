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


def text_sections(elf):
    """Returns the contents of the sections of a 64-bit ELF file whose names begin with .text."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    rows = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    strings = rows[names][4]
    sections = []
    for name, _, _, _, offset, length in rows:
        start = strings + name
        if elf[start:elf.index(b"\0", start)].startswith(b".text"):
            sections.append(elf[offset:offset + length])
    return sections
