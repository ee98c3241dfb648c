#!/usr/bin/env python3
"""usage: make_wheel.py PROGRAM VERSION OUT_DIR

Makes a wheel of the client: the program, the servers beside it, which `kernelmill dev` starts, the shared libraries that
they need as Debian ships them, the manual page, completions of shells, and python/kernelmill, which starts the program,
reads datasets and calls coordinators. Prints the wheel's path.

The programs get an RPATH to the libraries beside them, which their own needs are found by as well, so that the
libraries' bytes stay Debian's. glibc, libstdc++ and libgcc are the machine's; the wheel's tag (manylinux_2_N) says
which glibc is needed, by the symbol versions that the program and the libraries ask for.

The types of rows (records.py) are made here, from docs/schema. The module's messages are protobuf's descriptors of our proto files, no generated code, so that it runs with whichever
protobuf is there.

The bytes are a function of the program, the libraries and SOURCE_DATE_EPOCH. Standard library only; runs ldd,
objdump, strip, patchelf and protoc."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "deploy"), str(ROOT / "python")]
import generate  # noqa: E402
import sbom  # noqa: E402

# Libraries that every Linux of the wheel's tag has; their symbol versions say which release is needed.
OF_THE_MACHINE = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|stdc\+\+|gcc_s))\.so")
# The oldest glibc whose distributions ship a libstdc++ with these symbols (the policies of auditwheel).
GLIBC_OF_GLIBCXX = {28: 31, 29: 34, 30: 35}
# The installer of compilers, where the program looks for it.
INSTALLER = "kernelmill/share/kernelmill/install_toolchains.sh"
# Debian packages of headers that are compiled in.
HEADERS = ["libcli11-dev", "nlohmann-json3-dev"]
# The packages that each part of the module needs beyond the standard library, by their extra.
EXTRAS = {"client": ["grpcio>=1.60", "protobuf>=4.25"], "figures": ["matplotlib>=3.8"], "tokens": ["tokenizers>=0.20"],
          "pandas": ["pandas>=2.1", "pyarrow>=15"], "polars": ["polars>=1"], "hub": ["huggingface_hub>=0.30", "pyarrow>=15"],
          "run": ["numpy>=1.26,<2.4"], "s3": ["obstore>=0.6", "pyarrow>=15"], "gs": ["google-cloud-storage>=2.14", "pyarrow>=15"]}
SERVERS = ["store", "coordinator", "fetcher", "extractor", "compiler", "runner", "validator", "deduplicator"]
# The texts that the program writes about its command line, by the place where pip installs them below the environment.
WRITTEN = {"share/man/man1/kernelmill.1": ["help", "--man"],
           "share/bash-completion/completions/kernelmill": ["completion", "bash"],
           "share/zsh/site-functions/_kernelmill": ["completion", "zsh"],
           "share/fish/vendor_completions.d/kernelmill.fish": ["completion", "fish"]}
LIBRARY_LIST = """The shared libraries in kernelmill/lib are those of Debian 12, unchanged. The copyright and the licences of each are in
the file of its package beside this one; its source is that of the Debian package and version named here.

"""


def output(*argv):
    return subprocess.run([str(a) for a in argv], check=True, capture_output=True, text=True).stdout


def shared_libraries(programs):
    """Returns {soname: file} of the libraries that the programs need, directly or not, except those of every Linux."""
    found = {}
    for line in "".join(output("ldd", program) for program in programs).splitlines():
        match = re.match(r"\s*(\S+) => (\S+|not found)", line)
        if not match or OF_THE_MACHINE.match(match[1]):
            continue
        if match[2] == "not found":
            sys.exit(f"make_wheel.py: {match[1]} is not found")
        found[match[1]] = pathlib.Path(match[2]).resolve()
    return dict(sorted(found.items()))


def platform_tag(files):
    """manylinux_2_N_ARCH with the smallest N that has all symbol versions that the files need."""
    glibc = 17
    for file in files:
        symbols = output("objdump", "-T", file)
        for version in re.findall(r"\bGLIBC_2\.(\d+)", symbols):
            glibc = max(glibc, int(version))
        for version in re.findall(r"\bGLIBCXX_3\.4\.(\d+)", symbols):
            if int(version) > max(GLIBC_OF_GLIBCXX):
                sys.exit(f"make_wheel.py: {file}: GLIBCXX_3.4.{version} is not known")
            glibc = max(glibc, GLIBC_OF_GLIBCXX.get(int(version), 17))
    return f"manylinux_2_{glibc}_{os.uname().machine}"


def debian_package(file):
    """The installed package that ships a library: (name, version, source)."""
    for path in (str(file), str(file).removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
        if done.returncode == 0:
            name = done.stdout.split(": ")[0].split(":")[0]
            return tuple(output("dpkg-query", "-W", "-f=${Package}\t${Version}\t${source:Package}", name).split("\t"))
    sys.exit(f"make_wheel.py: {file} is of no Debian package: its licence is not known")


def copyright_file(package):
    file = pathlib.Path("/usr/share/doc") / package / "copyright"
    if not file.exists():
        sys.exit(f"make_wheel.py: {file} is missing: the licence of what the wheel carries")
    return file.read_bytes()


def licenses(libraries):
    """{name: bytes} of the files that must go along."""
    texts = {"LICENSE": (ROOT / "LICENSE").read_bytes(),
             "copyright": (ROOT / "deploy/packages/debian/copyright").read_bytes()}
    packages, rows = set(HEADERS), []
    for soname, file in libraries.items():
        name, version, source = debian_package(file)
        packages.add(name)
        rows.append(f"{soname:44} {name} {version} (source: {source})\n")
    for package in packages:
        texts[f"debian/{package}.copyright"] = copyright_file(package)
    # Texts that Debian's copyright files only point to.
    common = pathlib.Path("/usr/share/common-licenses")
    named = set()
    for text in texts.values():
        named.update(re.findall(rb"/usr/share/common-licenses/([A-Za-z]+(?:-[0-9.]*[0-9])?)", text))
    for name in sorted(n.decode() for n in named):
        if (common / name).exists():
            texts[f"common-licenses/{name}"] = (common / name).read_bytes()
    texts["LIBRARIES.txt"] = (LIBRARY_LIST + "".join(rows)).encode()
    return dict(sorted(texts.items()))


def descriptors():
    """The messages and services that the module calls a coordinator with."""
    with tempfile.NamedTemporaryFile() as out:
        output("protoc", f"--proto_path={ROOT / 'proto'}", "--include_imports", f"--descriptor_set_out={out.name}",
               "kernelmill/v1/crawl.proto")
        return out.read()


def metadata(version, license_files):
    lines = ["Metadata-Version: 2.4", "Name: kernelmill", f"Version: {version}",
             "Summary: Turns source repositories into a training-ready dataset of GPU kernels",
             "License-Expression: Apache-2.0", *(f"License-File: {name}" for name in license_files),
             "Requires-Python: >=3.10", *(line for extra, needs in EXTRAS.items()
               for line in (f"Provides-Extra: {extra}", *(f"Requires-Dist: {need}; extra == '{extra}'" for need in needs))),
             "Keywords: triton,gluon,pallas,cuda,kernels,dataset",
             "Classifier: Environment :: Console", "Classifier: Typing :: Typed", "Classifier: Operating System :: POSIX :: Linux",
             "Description-Content-Type: text/plain", "",
             "kernelmill finds every Triton, Gluon, Pallas and CUDA kernel in the repositories, packages and folders that a",
             "job file names, and writes a deduplicated, licensed, validated dataset with provenance down to the line.", "",
             "    kernelmill crawl my-kernels.yaml --out my-dataset", "",
             "From Python, kernelmill.load(\"my-dataset\") has its rows, typed. kernelmill.Client calls a cluster; it needs the extra",
             "`client` (grpcio, protobuf).", "",
             "The wheel carries the program with the shared libraries that it needs; their licences are in the wheel's",
             "dist-info/licenses, its list of parts (CycloneDX) in dist-info/sboms. Sources over git need the git program."]
    return "\n".join(lines).encode() + b"\n"


def record_row(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_wheel(path, members, programs):
    """Writes {name: bytes} in the order given, with one date; `programs` may be executed."""
    date = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 315532800)), 315532800))[:6]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: what follows is a mode
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            archive.writestr(entry, content, compresslevel=9)


def execution():
    """Returns {name: bytes} of what records and runs kernels, with the harness of the compiler, which confines them."""
    folders = {"execution": ["python/kernelmill/execution"], "tasks": ["python/kernelmill/tasks"],
               "harness": ["services/compiler/adapters/toolchain/python", "services/compiler/adapters/sandbox"]}
    return {f"kernelmill/{into}/{file.name}": file.read_bytes() for into, paths in folders.items() for path in paths
            for file in sorted((ROOT / path).glob("*.py"))}


def module():
    """Returns {name: bytes} of the Python module; the messages of the client only if protoc is there."""
    files = [f for f in (ROOT / "python/kernelmill").iterdir() if f.suffix == ".py" or f.name == "py.typed"]
    texts = {file.name: file.read_bytes() for file in files}
    texts["records.py"] = generate.records().encode()
    members = {f"kernelmill/{name}": texts[name] for name in sorted(texts)}
    members.update(execution())
    if shutil.which("protoc"):
        members["kernelmill/crawl.binpb"] = descriptors()
    return members


def toolchain_installer():
    """Returns {name: bytes} of what `kernelmill toolchains --install` runs."""
    deploy, share = ROOT / "deploy", INSTALLER.rsplit("/", 1)[0]
    return {f"{share}/{file.relative_to(deploy)}": file.read_bytes()
            for file in [deploy / "install_toolchains.sh", *sorted((deploy / "toolchains").glob("*.txt"))]}


def finish_wheel(out, version, tag, members, programs=frozenset()):
    """Adds the wheel's record to its members, writes it to the folder, and returns its path."""
    info = f"kernelmill-{version}.dist-info"
    pure = str(tag.endswith("-any")).lower()
    members[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    rows = [record_row(name, content) for name, content in members.items()]
    members[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"]).encode()
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"kernelmill-{version}-{tag}.whl"
    write_wheel(path, members, programs)
    return path


def make_module_wheel(out):
    """Makes a wheel of the module alone, for any platform: python/build_backend.py has pip install it from a clone."""
    version = re.search(r"^project\(kernelmill VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    info, members = f"kernelmill-{version}.dist-info", module()
    members[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    members[f"{info}/METADATA"] = metadata(version, ["LICENSE"])
    return finish_wheel(out, version, "py3-none-any", members)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[0])
    program, version, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    programs = [program, *(program.with_name(f"kernelmill-{server}") for server in SERVERS)]
    libraries = shared_libraries(programs)
    for file in libraries.values():
        if re.search(r"\((RPATH|RUNPATH)\)", output("readelf", "-d", file)):
            sys.exit(f"make_wheel.py: {file} has a search path of its own: the program's would not hold for it")
    tag = f"py3-none-{platform_tag([*programs, *libraries.values()])}"

    members = module()
    with tempfile.TemporaryDirectory() as work:
        for each in programs:
            stripped = pathlib.Path(work) / each.name
            shutil.copyfile(each, stripped)
            output("strip", "--strip-unneeded", stripped)
            output("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", stripped)
            members[f"kernelmill/bin/{each.name}"] = stripped.read_bytes()
    for soname, file in libraries.items():
        members[f"kernelmill/lib/{soname}"] = file.read_bytes()

    members.update(toolchain_installer())
    for path, command in WRITTEN.items():
        members[f"kernelmill-{version}.data/data/{path}"] = output(program, *command).encode()
    info = f"kernelmill-{version}.dist-info"
    texts = licenses(libraries)
    members.update({f"{info}/licenses/{name}": content for name, content in texts.items()})
    parts = sbom.of_libraries("kernelmill", libraries.values(), "carried")
    members[f"{info}/sboms/kernelmill.cdx.json"] = sbom.as_text(parts).encode() + b"\n"
    members[f"{info}/METADATA"] = metadata(version, texts)
    scripts = [f"{each.name} = kernelmill.__main__:main\n" for each in programs]
    members[f"{info}/entry_points.txt"] = "".join(["[console_scripts]\n", *scripts]).encode()
    print(finish_wheel(out, version, tag, members,
                       {*(f"kernelmill/bin/{each.name}" for each in programs), INSTALLER}))


if __name__ == "__main__":
    main()
