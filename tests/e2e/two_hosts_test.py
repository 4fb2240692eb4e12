#!/usr/bin/env python3
"""Two ranks on two "hosts": network namespaces with a cable between them, that is then cut.

FOXHUNT names the program; run from the project's folder (it reads data/es-sample). Skips by name without root and iproute2.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from ranks_test import FOXHUNT, SMALL, call, curves, environment


def ip(*args):
    return subprocess.run(["ip", *args], capture_output=True, text=True)


class Hosts:
    """Two namespaces; each has an interface `cable` to the other and one, `blind`, that leads nowhere."""

    def __init__(self):
        self.names = [f"fx{os.getpid()}a", f"fx{os.getpid()}b"]
        self.addresses = ["10.213.7.1", "10.213.7.2"]
        steps = [("netns", "add", name) for name in self.names]
        steps.append(("-n", self.names[0], "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns",
                      self.names[1]))
        for i, (name, address) in enumerate(zip(self.names, self.addresses)):
            steps += [("-n", name, "link", "set", "lo", "up"),
                      ("-n", name, "link", "add", "blind", "type", "veth", "peer", "name", "wall"),
                      ("-n", name, "addr", "add", f"10.213.8.{i + 1}/32", "dev", "blind"),
                      ("-n", name, "link", "set", "blind", "up"),
                      ("-n", name, "addr", "add", address + "/24", "dev", "cable"),
                      ("-n", name, "link", "set", "cable", "up")]
        for step in steps:
            done = ip(*step)
            if done.returncode != 0:
                self.close()
                raise unittest.SkipTest(f"ip {' '.join(step)}: {done.stderr.strip()}")

    def close(self):
        for name in self.names:
            ip("netns", "del", name)

    def cut(self):
        ip("-n", self.names[1], "link", "set", "cable", "down")

    def start(self, rank, *args, **more):
        command = ["ip", "netns", "exec", self.names[rank], FOXHUNT, *map(str, args)]
        # `ip netns exec` replaces itself by the program: the process is foxhunt.
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment(RANK=rank, WORLD_SIZE=2, MASTER_ADDR=self.addresses[0],
                                                MASTER_PORT=29517, **more))


@unittest.skipUnless(shutil.which("ip"), "needs ip (iproute2)")
@unittest.skipUnless(os.geteuid() == 0, "needs root: makes network namespaces")
class TwoHosts(unittest.TestCase):
    def setUp(self):
        self.hosts = Hosts()
        self.addCleanup(self.hosts.close)
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.processes = []
        self.addCleanup(lambda: [p.kill() for p in self.processes if p.poll() is None])

    def both(self, *args, **more):
        self.processes = [self.hosts.start(rank, *args, **more) for rank in (0, 1)]
        return self.processes

    def test_two_hosts_give_the_bits_of_one(self):
        alone = call("train", *SMALL, "--out", self.folder / "alone", "--json")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        # Without a word the interface is the one that leads to MASTER_ADDR, and not that of the host's name.
        for name, more in (("found", {}), ("named", {"GLOO_SOCKET_IFNAME": "cable"})):
            first, other = self.both("train", *SMALL, "--out", self.folder / name, "--json", **more)
            out, err = first.communicate(timeout=300)
            _, err1 = other.communicate(timeout=60)
            self.assertEqual((first.returncode, other.returncode), (0, 0), err + err1)
            self.assertEqual(json.loads(out)["weights_sha256"], json.loads(alone.stdout)["weights_sha256"])
            self.assertEqual(curves(self.folder / name), curves(self.folder / "alone"))

    def test_an_interface_that_is_not_there_is_an_error(self):
        first, other = self.both("train", *SMALL, "--out", self.folder / "none", GLOO_SOCKET_IFNAME="nowhere0")
        _, err = other.communicate(timeout=90)
        self.assertEqual(other.returncode, 2, err)
        self.assertIn("nowhere0", err)
        first.communicate(timeout=90)
        self.assertEqual(first.returncode, 2)

    def test_a_cut_cable_ends_both_with_a_message(self):
        long = [*SMALL, "--set", "train.epochs=400", "--set", "train.checkpoint_every=1"]
        processes = self.both("train", *long, "--out", self.folder / "cut")
        give_up = time.time() + 180
        while not (self.folder / "cut" / "last").exists():
            for process in processes:
                self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
            self.assertLess(time.time(), give_up)
            time.sleep(0.05)
        begun = time.time()
        self.hosts.cut()
        errors = [process.communicate(timeout=60)[1] for process in processes]
        self.assertLess(time.time() - begun, 30, errors)
        self.assertEqual([process.returncode for process in processes], [1, 1], errors)
        self.assertIn("rank 1 of 2 was lost: no sign of life", errors[0])
        self.assertIn("rank 0 of 2 was lost: ", errors[1])
        for error in errors:
            self.assertIn(f"foxhunt resume {self.folder / 'cut'}", error)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: exit(1))  # so that no namespace is left behind
    unittest.main(verbosity=2)
