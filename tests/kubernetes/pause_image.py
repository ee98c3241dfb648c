"""usage: pause_image.py INIT OUT.tar
Writes the image that holds a pod's namespaces, km.test/pause:1, as an OCI archive: INIT, a static program that waits
(Debian's catatonit), and nothing else."""

import hashlib
import io
import json
import sys
import tarfile

OCI = "application/vnd.oci.image."


def add(tar, name, data, mode=0o644):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    tar.addfile(info, io.BytesIO(data))


def digest(data):
    return hashlib.sha256(data).hexdigest()


def described(kind, data, **more):
    return {"mediaType": f"{OCI}{kind}", "digest": f"sha256:{digest(data)}", "size": len(data), **more}


def main():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        with open(sys.argv[1], "rb") as file:
            add(tar, "pause", file.read(), 0o755)
    layer = buffer.getvalue()
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Entrypoint": ["/pause", "-P"]},
                         "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(layer)}"]}}).encode()
    manifest = json.dumps({"schemaVersion": 2, "mediaType": f"{OCI}manifest.v1+json",
                           "config": described("config.v1+json", config),
                           "layers": [described("layer.v1.tar", layer)]}).encode()
    index = json.dumps({"schemaVersion": 2, "manifests": [described(
        "manifest.v1+json", manifest, annotations={"io.containerd.image.name": "km.test/pause:1"})]}).encode()
    with tarfile.open(sys.argv[2], "w") as tar:
        add(tar, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        add(tar, "index.json", index)
        for data in (layer, config, manifest):
            add(tar, f"blobs/sha256/{digest(data)}", data)


if __name__ == "__main__":
    main()
