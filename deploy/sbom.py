#!/usr/bin/env python3
"""Makes the list of parts (SBOM) of an image or a package, in CycloneDX 1.6, JSON.

usage: sbom.py built-in                    what is compiled into the programs; in the tree that they are built in
       sbom.py image BUILT_IN              that, and every Debian package of the machine that it runs on: an image's
       sbom.py programs NAME PROGRAM...    what is compiled in, and the Debian packages whose libraries the programs load

The pinned versions and hashes are those of fetch_grammars.sh. Equal inputs give equal bytes: no date, no random number.
Standard library only; runs dpkg-query and ldd."""

import base64
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]
SPEC = "1.6"
PINNED = re.compile(r'^\s*"([\w./@-]+) ([\w.+-]+) sha512-([A-Za-z0-9+/=]+)"$', re.MULTILINE)
# Debian packages whose headers are compiled in: nothing of them is loaded later.
HEADERS = ["libcli11-dev", "nlohmann-json3-dev"]
# Packages of npm that the build uses and that are not part of programs.
BUILD_TOOL = re.compile(r"@esbuild/")
# Licence ids of npm packages that do not name theirs as an id.
LICENCES = {"tree-sitter": "MIT", "tree-sitter-python": "MIT", "tiktoken": "MIT", "spdx-license-list": "CC0-1.0"}
FIELDS = "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${db:Status-Status}\n"


def output(*argv):
    return subprocess.run([str(a) for a in argv], check=True, capture_output=True, text=True).stdout


def project_version():
    return re.search(r"^project\(kernelmill VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def npm_parts():
    text = (ROOT / "deploy/fetch_grammars.sh").read_text(encoding="utf-8")
    parts = []
    for name, version, integrity in PINNED.findall(text):
        if BUILD_TOOL.match(name):
            continue
        purl = f"pkg:npm/{urllib.parse.quote(name, safe='/')}@{version}"
        parts.append({"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
                      "hashes": [{"alg": "SHA-512", "content": base64.b64decode(integrity).hex()}],
                      "licenses": [{"license": {"id": LICENCES[name]}}],
                      "properties": [{"name": "kernelmill:how", "value": "compiled in"}]})
    if not parts:
        sys.exit("sbom.py: deploy/fetch_grammars.sh names nothing")
    return parts


def debian_part(line, how):
    name, version, architecture, source, _ = line.split("\t")
    purl = f"pkg:deb/debian/{name}@{urllib.parse.quote(version, safe='')}?arch={architecture}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "supplier": {"name": "Debian"},
            "properties": [{"name": "debian:source", "value": source}, {"name": "kernelmill:how", "value": how}]}


def debian_packages(how, *names):
    """Parts of the packages named, or of all that are installed."""
    lines = output("dpkg-query", "--show", f"--showformat={FIELDS}", *names).splitlines()
    return [debian_part(line, how) for line in sorted(set(lines)) if line.endswith("\tinstalled")]


def libraries_of(programs):
    """The files that programs load."""
    return {match for program in programs for match in re.findall(r"=> (/\S+)", output("ldd", program))}


def packages_of(files):
    """The names of the Debian packages that files are of."""
    found, wanted = {}, {str(pathlib.Path(file).resolve()) for file in files}
    # /lib is /usr/lib, and packages name either; of a file that it does not know dpkg-query says nothing here.
    paths = [path for file in wanted for path in (file, file.removeprefix("/usr"))]
    done = subprocess.run(["dpkg-query", "--search", *sorted(set(paths))], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        names, _, path = line.partition(": ")
        found[path if path in wanted else "/usr" + path] = names.split(", ")[0]
    if wanted - set(found):
        sys.exit(f"sbom.py: of no Debian package: {sorted(wanted - set(found))}")
    return sorted(set(found.values()))


def built_in():
    return {"version": project_version(), "components": npm_parts() + debian_packages("compiled in", *HEADERS)}


def document(name, kind, version, components):
    """The whole list, in the order of its parts' names."""
    unique = {part["bom-ref"]: part for part in components}
    parts = [unique[ref] for ref in sorted(unique)]
    subject = f"pkg:generic/{name}@{version}"
    content = json.dumps(parts, sort_keys=True)
    return {"$schema": f"http://cyclonedx.org/schema/bom-{SPEC}.schema.json", "bomFormat": "CycloneDX", "specVersion": SPEC,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, subject + content)}", "version": 1,
            "metadata": {"component": {"type": kind, "bom-ref": subject, "name": name, "version": version, "purl": subject,
                                       "licenses": [{"license": {"id": "Apache-2.0"}}]}},
            "components": parts,
            "dependencies": [{"ref": subject, "dependsOn": [part["bom-ref"] for part in parts]}]}


def as_text(made):
    return json.dumps(made, indent=1, sort_keys=True)


def of_libraries(name, files, how):
    """A list of what is compiled in, and of libraries that are `how`: loaded, or carried along."""
    known = built_in()
    return document(name, "application", known["version"], known["components"] + debian_packages(how, *packages_of(files)))


def of_image(known):
    return document("kernelmill-image", "container", known["version"], known["components"] + debian_packages("installed"))


def main():
    match sys.argv[1:]:
        case ["built-in"]:
            made = built_in()
        case ["image", file]:
            made = of_image(json.loads(pathlib.Path(file).read_text(encoding="utf-8")))
        case ["programs", name, *programs] if programs:
            made = of_libraries(name, libraries_of(programs), "loaded")
        case _:
            sys.exit(__doc__)
    print(as_text(made))


if __name__ == "__main__":
    main()
