"""A network and disks of our own to break: the test runs in namespaces that go away with it, every process
in a network namespace behind one bridge, and data folders on file systems that are small enough to fill."""

import os
import pathlib
import shutil
import subprocess
import sys

import harness

SKIPPED = 77  # as CMake's SKIP_RETURN_CODE has it
HUB = "10.77.0.1"
INSIDE = "KERNELMILL_CHAOS_INSIDE"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def enter():
    """Runs this program again in network and mount namespaces of its own; returns there."""
    if os.environ.get(INSIDE) is None:
        for tool in ("unshare", "ip", "iptables", "mount"):
            if shutil.which(tool) is None:
                skip(f"there is no {tool} on this machine")
        if os.geteuid() != 0 or subprocess.run(["unshare", "--net", "--mount", "true"]).returncode != 0:
            skip("no right to make namespaces")
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])
    harness.run("ip", "link", "set", "lo", "up")


class Network:
    """Namespaces behind a bridge; this process is at HUB."""

    def __init__(self):
        pathlib.Path("/run/netns").mkdir(exist_ok=True)
        harness.run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")  # the names are ours alone
        harness.run("ip", "link", "add", "hub", "type", "bridge")
        harness.run("ip", "address", "add", f"{HUB}/24", "dev", "hub")
        harness.run("ip", "link", "set", "hub", "up")
        self.hosts = {}

    def place(self, name):
        """The command line's prefix and the address of the process `name`; clients are at the hub."""
        if name == "client":
            return (), HUB
        if name not in self.hosts:
            number = len(self.hosts) + 2
            self.hosts[name] = f"10.77.0.{number}"
            harness.run("ip", "netns", "add", name)
            harness.run("ip", "link", "add", f"to{number}", "type", "veth", "peer", "name", "eth0",
                        "netns", name)
            harness.run("ip", "link", "set", f"to{number}", "master", "hub", "up")
            self.inside(name, "ip", "address", "add", f"{self.hosts[name]}/24", "dev", "eth0")
            self.inside(name, "ip", "link", "set", "eth0", "up")
            self.inside(name, "ip", "link", "set", "lo", "up")
        return ("ip", "netns", "exec", name), self.hosts[name]

    def inside(self, name, *argv, check=True):
        return harness.run("ip", "netns", "exec", name, *argv, check=check)

    def deafen(self, name, to):
        """`name` hears nothing of `to` any more; what it says still arrives."""
        self.inside(name, "iptables", "-A", "INPUT", "-s", self.hosts[to], "-j", "DROP")

    def cut(self, one, other):
        self.deafen(one, other)
        self.deafen(other, one)

    def lose(self, name, share):
        """A share of the packets that other processes send to `name` is lost."""
        self.inside(name, "iptables", "-A", "INPUT", "!", "-s", HUB, "-m", "statistic", "--mode", "random",
                    "--probability", f"{share:.3f}", "-j", "DROP")

    def dropped(self, name):
        """Packets that the rules have dropped."""
        rows = self.inside(name, "iptables", "-nvxL", "INPUT").stdout.splitlines()[2:]
        return sum(int(row.split()[0]) for row in rows)

    def delay(self, name, *netem):
        """tc netem on what `name` sends; False where this kernel has no netem."""
        done = self.inside(name, "tc", "qdisc", "replace", "dev", "eth0", "root", "netem", *netem, check=False)
        return done.returncode == 0

    def heal(self, *names):
        for name in names or self.hosts:
            self.inside(name, "iptables", "-F")
            self.inside(name, "tc", "qdisc", "del", "dev", "eth0", "root", check=False)


class SmallDisk:
    """A tmpfs that can be filled up and emptied again."""

    def __init__(self, folder, megabytes):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        harness.run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", self.folder)
        self.filler = self.folder / "filler"

    def fill(self):
        """Takes all the space that is left. The processes may use the space that they free later."""
        with open(self.filler, "ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def fill_to(self, megabytes):
        """Takes all the space but this."""
        space = os.statvfs(self.folder)
        with open(self.filler, "wb") as file:
            for _ in range((space.f_bavail * space.f_frsize >> 20) - megabytes):
                file.write(bytes(1 << 20))

    def free(self):
        self.filler.unlink(missing_ok=True)

    def close(self):
        subprocess.run(["umount", "-l", str(self.folder)], check=False)
