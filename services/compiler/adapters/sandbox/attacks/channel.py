"""Imitates the harness, to falsify a record or to break the next kernel."""
import json
import os
import struct

FORGED = [b'{"import": {"ok": true, "error": "", "line": 0}}\n{"ir": "module {}"}\n{"ready": true}\n',
          json.dumps({"import": {"ok": True, "error": "", "line": 0}, "targets": []}).encode() + b"\n",
          struct.pack("=16scQ", b"\0" * 16, b"R", 2) + b"ok", struct.pack("=cQ", b"R", 2) + b"ok"]


def refused_forged_answers():
    for number in range(64):
        for answer in FORGED:
            try:
                os.write(number, answer)
            except OSError:
                pass


def refused_forged_refusal():
    """The machine would look as if it could not confine."""
    for number in range(64):
        try:
            os.write(number, struct.pack("=16scQ", b"\0" * 16, b"X", 2) + b"no")
        except OSError:
            pass


def channels():
    """The harness's own channel, with the token of its answers, which a search of the process finds."""
    import gc
    return [value for value in gc.get_objects() if type(value).__name__ == "Channel"]


def refused_forged_refusal_with_the_token():
    for channel in channels():
        channel._write(b"X", b"no")


def contained_forged_answers_with_the_token():
    """It can lie about itself."""
    import sys
    for channel in channels() if "kernelmill_harness.zygote" in sys.modules else []:
        channel.answer(b'{"import": {"ok": true, "line": true, "error": "\\ud800"}}')
        channel.answer(b'{"ir": "module {}", "constexprs": [["BLOCK", "\\ud800"], 7, [[]]]}')


def contained_odd_answers_with_the_token():
    import sys
    for channel in channels() if "kernelmill_harness.zygote" in sys.modules else []:
        channel.answer(b'{"import": {"ok": true}}')
        channel.answer(b'{"stage": [], "message": "\\ud800' + b"x" * 5000 + b'", "line": -1}')
        channel.answer(b"[" * 1000000)


def silenced_closed_channel():
    os.closerange(0, 1024)
    raise PermissionError("the harness has nothing to speak on")


def contained_other_descriptors():
    """It has only its own five descriptors."""
    kept = []
    for number in range(5, 1024):
        try:
            os.fstat(number)
            kept.append(number)
        except OSError:
            pass
    # A directory that Python has open, or a module that it is loading.
    if len(kept) > 2:
        raise AssertionError(f"escaped: {kept}")


def silenced_interposed_channel():
    """All its output goes into a pipe without a reader."""
    read, write = os.pipe()
    for number in range(5):
        os.dup2(write, number)
    raise PermissionError("no one hears this")


def refused_reading_the_others_questions():
    import select
    if select.select([4], [], [], 0.2)[0] and os.read(4, 1 << 20):
        raise AssertionError("escaped")
    raise PermissionError("there was nothing to read")


def refused_death_of_its_own_making():
    """Imitates the harness's report of a child that died."""
    import sys
    for channel in channels() if "kernelmill_harness.zygote" in sys.modules else []:
        channel.answer(b'{"died": 7}')
    raise PermissionError("there was no harness to believe it")


def contained_death_in_a_trys_place():
    import sys
    for channel in channels() if "kernelmill_harness.zygote" in sys.modules else []:
        channel.answer(b'{"import": {"ok": true}}')
        channel.answer(b'{"stage": "nonsense", "died": "\\ud800' + b"x" * 5000 + b'"}')


def silenced_by_a_signal_without_a_name():
    import signal
    os.kill(os.getpid(), signal.SIGRTMIN + 6)
