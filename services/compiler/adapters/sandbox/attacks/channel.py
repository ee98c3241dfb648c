"""Speaks in the harness's place, to have a record say what it likes, or to break what comes after it."""
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
    """The machine would be taken for one that cannot confine."""
    for number in range(64):
        try:
            os.write(number, struct.pack("=16scQ", b"\0" * 16, b"X", 2) + b"no")
        except OSError:
            pass


def channels():
    """The harness's own, with the token that answers begin with: code that searches its process finds it."""
    import gc
    return [value for value in gc.get_objects() if type(value).__name__ == "Channel"]


def refused_forged_refusal_with_the_token():
    for channel in channels():
        channel._write(b"X", b"no")


def contained_forged_answers_with_the_token():
    """It can say of itself what it likes."""
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
    """There are none but its own five."""
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
    """Everything that it says goes into a pipe that nobody reads."""
    read, write = os.pipe()
    for number in range(5):
        os.dup2(write, number)
    raise PermissionError("nobody hears this")


def refused_reading_the_others_questions():
    import select
    if select.select([4], [], [], 0.2)[0] and os.read(4, 1 << 20):
        raise AssertionError("escaped")
    raise PermissionError("there was nothing to read")


def refused_death_of_its_own_making():
    """What the harness says of a child that answers no more, which its reader would take apart."""
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
