"""The form of the packages that deploy/packages makes: what is in them, what they ask for, and that they can be made
again byte for byte. tests/packages/run.sh installs and runs them. Standard library only."""

import base64
import email
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
ROLES = ["store", "coordinator", "fetcher", "extractor", "compiler", "runner", "validator", "deduplicator"]
OF_THE_MACHINE = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libresolv.so.2", "libpthread.so.0",
                  "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}


def output(*argv, **kwargs):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, **kwargs)
    if done.returncode != 0:
        raise AssertionError(f"{argv} exited {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def build(script, out):
    """Runs a build script; returns {file name: SHA-256}."""
    output(ROOT / "deploy/packages" / script, out, env=dict(os.environ, KERNELMILL_BIN=str(BIN)))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in pathlib.Path(out).iterdir()}


class Package(unittest.TestCase):
    script = None

    @classmethod
    def setUpClass(cls):
        if cls is Package:
            raise unittest.SkipTest("what both kinds share")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)
        cls.digests = build(cls.script, cls.work / "first")

    def test_made_again_it_has_the_same_bytes(self):
        self.assertEqual(build(self.script, self.work / "second"), self.digests)


class Deb(Package):
    script = "build_deb.sh"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files, cls.control, cls.roots = {}, {}, {}
        for file in (cls.work / "first").iterdir():
            control = email.message_from_string(output("dpkg-deb", "--field", file))
            name = control["Package"]
            cls.control[name] = control
            cls.files[name] = file
            cls.roots[name] = cls.work / name
            output("dpkg-deb", "--raw-extract", file, cls.roots[name])

    def paths(self, package):
        root = self.roots[package]
        return {f"/{p.relative_to(root)}" for p in root.rglob("*") if p.is_file() and "DEBIAN" not in p.parts}

    def units(self):
        return sorted((self.roots["kernelmill-server"] / "usr/lib/systemd/system").iterdir())

    def test_each_program_is_in_one_package(self):
        self.assertEqual({p for p in self.paths("kernelmill") if "/bin/" in p}, {"/usr/bin/kernelmill"})
        self.assertEqual({p for p in self.paths("kernelmill-server") if "/bin/" in p},
                         {f"/usr/bin/kernelmill-{role}" for role in ROLES})

    def test_programs_are_stripped(self):
        for package, root in self.roots.items():
            for program in (root / "usr/bin").iterdir():
                self.assertNotIn(".debug_info", output("readelf", "--section-headers", "--wide", program), package)

    def test_files_are_roots(self):
        for file in self.files.values():
            for line in output("dpkg-deb", "--contents", file).splitlines():
                self.assertRegex(line, r"^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x) root/root ")

    def test_dependencies_are_those_of_the_libraries_and_of_what_is_run(self):
        for control in self.control.values():
            names = {re.split(r"[ (]", d.strip())[0] for d in control["Depends"].split(",")}
            self.assertLessEqual({"git", "ca-certificates", "libc6", "libgrpc++1.51", "libprotobuf32"}, names)

    def test_every_setting_is_a_conffile(self):
        listed = (self.roots["kernelmill-server"] / "DEBIAN/conffiles").read_text().split()
        self.assertEqual(set(listed), {p for p in self.paths("kernelmill-server") if p.startswith("/etc/")})
        self.assertEqual(set(listed), {f"/etc/kernelmill/{name}.env" for name in ["kernelmill", *ROLES]})

    def test_every_setting_is_known_to_the_servers_that_read_it(self):
        known = {role: set(re.findall(r"KERNELMILL_\w+", output(BIN / f"kernelmill-{role}", "--help"))) for role in ROLES}
        everyone = set().union(*known.values()) | {"KERNELMILL_BIND"}  # the units': no server's
        for name, names in {**known, "kernelmill": everyone}.items():
            text = (self.roots["kernelmill-server"] / f"etc/kernelmill/{name}.env").read_text()
            self.assertLessEqual(set(re.findall(r"^#?(KERNELMILL_\w+)=", text, re.M)), names, name)

    def test_every_flag_of_a_unit_is_known_to_its_server(self):
        for unit in self.units():
            for program, flags in re.findall(r"^ExecStart=/usr/bin/(\S+) (.*)$", unit.read_text(), re.M):
                help_text = output(BIN / program, "--help")
                for flag in re.findall(r"--[a-z-]+", flags):
                    self.assertIn(flag, help_text, unit.name)

    def test_no_two_services_share_a_port(self):
        ports = []
        for unit in self.units():
            ports += re.findall(r"\$\{KERNELMILL_BIND\}:(\S+)", unit.read_text().replace("%i", "1"))
        self.assertEqual(len(ports), len(set(ports)))
        self.assertEqual(len(ports), 2 * (2 * len(ROLES) - 2))  # each worker has a unit of instances, too

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_units_are_what_systemd_understands(self):
        folder = self.work / "units"
        folder.mkdir()
        for unit in self.units():
            (folder / unit.name).write_text(unit.read_text().replace("/usr/bin/", f"{BIN}/"))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *folder.iterdir()],
                              capture_output=True, text=True)
        complaints = [line for line in done.stderr.splitlines() if "kernelmill" in line]
        self.assertEqual(complaints, [])

    def test_maintainer_scripts_are_shell(self):
        for script in ["postinst", "prerm", "postrm"]:
            path = self.roots["kernelmill-server"] / "DEBIAN" / script
            output("sh", "-n", path)
            self.assertNotIn("@", path.read_text().replace("@.service", "").replace("*@*", ""))

    @unittest.skipUnless(shutil.which("lintian"), "no lintian")
    def test_lintian_finds_no_error(self):
        output("lintian", "--fail-on=error", "--suppress-tags=no-manual-page", *self.files.values())


class Wheel(Package):
    script = "build_wheel.sh"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        [cls.wheel] = (cls.work / "first").iterdir()
        cls.root = cls.work / "unpacked"
        with zipfile.ZipFile(cls.wheel) as archive:
            cls.names = archive.namelist()
            archive.extractall(cls.root)
        [cls.info] = cls.root.glob("kernelmill-*.dist-info")
        cls.programs = sorted((cls.root / "kernelmill/bin").iterdir())
        cls.program = cls.root / "kernelmill/bin/kernelmill"
        for program in cls.programs:
            program.chmod(0o755)
        cls.libraries = {file.name: file for file in (cls.root / "kernelmill/lib").iterdir()}

    def test_metadata_and_tag_agree_with_the_name(self):
        name, version, tag = re.fullmatch(r"(kernelmill)-([0-9.]+)-(py3-none-manylinux_2_\d+_x86_64)\.whl", self.wheel.name).groups()
        metadata = email.message_from_string((self.info / "METADATA").read_text())
        self.assertEqual((metadata["Name"], metadata["Version"]), (name, version))
        self.assertEqual(email.message_from_string((self.info / "WHEEL").read_text())["Tag"], tag)
        self.assertIn(version, output(BIN / "kernelmill", "--version"))
        scripts = (self.info / "entry_points.txt").read_text()
        for program in ("kernelmill", *(f"kernelmill-{role}" for role in ROLES)):
            self.assertIn(f"{program} = kernelmill.__main__:main", scripts)

    def test_the_module_is_typed_and_needs_others_for_its_extras_alone(self):
        module = {name.removeprefix("kernelmill/") for name in self.names if name.count("/") == 1}
        self.assertLessEqual({"__init__.py", "py.typed", "crawl.binpb"}, module)
        committed = {p.name for p in (ROOT / "python/kernelmill").glob("*.py")}
        self.assertEqual(committed | {"records.py"}, {n for n in module if n.endswith(".py")})
        metadata = email.message_from_string((self.info / "METADATA").read_text())
        extras = metadata.get_all("Provides-Extra")
        self.assertEqual(extras, ["client", "figures", "tokens", "pandas", "polars", "hub", "run", "s3", "gs"])
        for need in metadata.get_all("Requires-Dist"):
            self.assertRegex(need, f"; extra == '({'|'.join(extras)})'$")

    def test_record_has_every_file_with_its_digest(self):
        rows = [line.rsplit(",", 2) for line in (self.info / "RECORD").read_text().splitlines()]
        self.assertEqual([row[0] for row in rows], self.names)
        for name, digest, size in rows[:-1]:
            content = (self.root / name).read_bytes()
            want = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, int(size)), (f"sha256={want}", len(content)), name)

    def test_it_has_the_servers_and_all_programs_may_be_executed(self):
        self.assertEqual([p.name for p in self.programs], sorted(["kernelmill", *(f"kernelmill-{role}" for role in ROLES)]))
        with zipfile.ZipFile(self.wheel) as archive:
            for program in self.programs:
                self.assertEqual(archive.getinfo(f"kernelmill/bin/{program.name}").external_attr >> 16, 0o100755)
                self.assertNotIn(".debug_info", output("readelf", "--section-headers", "--wide", program))
        # Package indexes take files of 100 MB at most.
        self.assertLess(self.wheel.stat().st_size, 60 << 20)

    def test_it_has_the_installer_of_toolchains_with_its_pins(self):
        share = self.root / "kernelmill/share/kernelmill"
        self.assertEqual(sorted(p.name for p in (share / "toolchains").iterdir()),
                         sorted(p.name for p in (ROOT / "deploy/toolchains").glob("*.txt")))
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertEqual(archive.getinfo("kernelmill/share/kernelmill/install_toolchains.sh").external_attr >> 16, 0o100755)

    def test_it_has_the_manual_page_and_completions(self):
        [data] = self.root.glob("kernelmill-*.data/data/share")
        self.assertEqual((data / "man/man1/kernelmill.1").read_text(), output(BIN / "kernelmill", "help", "--man"))
        for shell, path in (("bash", "bash-completion/completions/kernelmill"), ("zsh", "zsh/site-functions/_kernelmill"),
                            ("fish", "fish/vendor_completions.d/kernelmill.fish")):
            self.assertEqual((data / path).read_text(), output(BIN / "kernelmill", "completion", shell))

    def test_every_library_is_in_the_wheel_or_any_machine_s(self):
        dynamic = output("readelf", "--dynamic", self.program)
        self.assertRegex(dynamic, r"\(RPATH\).*\[\$ORIGIN/\.\./lib\]")
        for file in [*self.programs, *self.libraries.values()]:
            dynamic = output("readelf", "--dynamic", file)
            for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
                self.assertTrue(needed in self.libraries or needed in OF_THE_MACHINE, f"{file.name} needs {needed}")
            if file not in self.programs:
                self.assertNotRegex(dynamic, r"\((RPATH|RUNPATH)\)")

    def test_the_tag_names_a_glibc_that_has_every_symbol(self):
        promised = int(re.search(r"manylinux_2_(\d+)_", self.wheel.name)[1])
        for file in [*self.programs, *self.libraries.values()]:
            for version in re.findall(r"\bGLIBC_2\.(\d+)", output("objdump", "-T", file)):
                self.assertLessEqual(int(version), promised, file.name)

    def test_every_library_has_its_licence(self):
        rows = (self.info / "licenses/LIBRARIES.txt").read_text().splitlines()
        packages = {row.split()[0]: row.split()[1] for row in rows if "(source: " in row}
        self.assertEqual(set(packages), set(self.libraries))
        listed = email.message_from_string((self.info / "METADATA").read_text()).get_all("License-File")
        for package in packages.values():
            self.assertIn(f"debian/{package}.copyright", listed)
        for name in listed:
            self.assertGreater((self.info / "licenses" / name).stat().st_size, 0, name)

    def test_unpacked_it_runs_with_its_own_libraries(self):
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.root), "LD_LIBRARY_PATH": "/nonexistent"}
        self.assertEqual(output("python3", "-m", "kernelmill", "--version", env=env), output(BIN / "kernelmill", "--version"))
        loaded = output("ldd", self.program)
        for name in self.libraries:
            self.assertIn(str(self.root), next(line for line in loaded.splitlines() if line.split()[0] == name))


class Launcher(unittest.TestCase):
    """Checks the environment that python/kernelmill gives the program, depending on the machine."""

    def environment(self, debian_certificates, prefix=None, **variables):
        code = ("import sys, kernelmill.__main__ as m; m.DEBIAN_CERTIFICATES = sys.argv[1];"
                "sys.prefix = sys.argv[2] or sys.prefix; import json; print(json.dumps(m.environment()))")
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "python"), **variables}
        return json.loads(output("python3", "-c", code, debian_certificates, prefix or "", env=env))

    def test_debian_s_certificates_need_no_word(self):
        self.assertNotIn("SSL_CERT_FILE", self.environment(debian_certificates=__file__))

    def test_elsewhere_python_s_certificates_are_named(self):
        with tempfile.NamedTemporaryFile() as trusted:
            env = self.environment(debian_certificates="/nonexistent", SSL_CERT_FILE=trusted.name)
            self.assertEqual(env["SSL_CERT_FILE"], trusted.name)
        named = self.environment(debian_certificates="/nonexistent").get("SSL_CERT_FILE")
        self.assertTrue(named is None or os.path.exists(named))
        env = self.environment(debian_certificates="/nonexistent", CURL_CA_BUNDLE="/mine")
        self.assertNotIn("SSL_CERT_FILE", env)

    def test_a_virtual_environment_s_pip_is_asked_where_it_is_not_activated(self):
        env = self.environment(__file__, prefix="/venv")
        self.assertEqual(env["VIRTUAL_ENV"], "/venv")
        self.assertTrue(env["PATH"].startswith("/venv/bin:"))
        activated = self.environment(__file__, prefix="/venv", VIRTUAL_ENV="/venv", PATH=f"/venv/bin:{os.environ['PATH']}")
        self.assertEqual(activated["PATH"].count("/venv/bin:"), 1)


if __name__ == "__main__":
    unittest.main()
