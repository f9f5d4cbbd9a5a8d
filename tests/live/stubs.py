# SPDX-License-Identifier: Apache-2.0
"""Python stubs of arclane.v1, generated from proto/ into a temporary folder when a program needs them.

Nothing generated is kept in the source tree, so that the stubs always match the .proto files beside them.
"""
import atexit
import importlib
import os
import shutil
import subprocess
import sys
import tempfile

PROJECT_DIR = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROTO_DIR = os.path.join(PROJECT_DIR, "proto")


class StubError(Exception):
    """The stubs cannot be generated; the text says what to install."""


def _proto_files():
    for folder in ("arclane/v1", "google/rpc"):
        for name in sorted(os.listdir(os.path.join(PROTO_DIR, folder))):
            if name.endswith(".proto"):
                yield f"{folder}/{name}"


class Stubs:
    """The generated modules, merged: every message, enum and stub of arclane.v1 is an attribute.

    `status_pb2` and `error_details_pb2` are the google.rpc modules.
    """

    def __init__(self):
        protoc = shutil.which("protoc")
        plugin = shutil.which("grpc_python_plugin")
        if protoc is None or plugin is None:
            raise StubError("protoc and grpc_python_plugin are needed: apt-get install protobuf-compiler "
                            "protobuf-compiler-grpc (or run deploy/install-dependencies.sh test)")
        out = tempfile.mkdtemp(prefix="arclane-stubs-")
        atexit.register(shutil.rmtree, out, ignore_errors=True)
        files = list(_proto_files())
        result = subprocess.run(
            [protoc, "-I", PROTO_DIR, f"--python_out={out}", f"--grpc_out={out}",
             f"--plugin=protoc-gen-grpc={plugin}", *files], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise StubError(f"protoc failed:\n{result.stderr}")
        sys.path.insert(0, out)
        # The google package of the protobuf runtime is already a namespace of its own: let it see our google/rpc too.
        google = importlib.import_module("google")
        google.__path__ = list(google.__path__) + [os.path.join(out, "google")]
        self.status_pb2 = importlib.import_module("google.rpc.status_pb2")
        self.error_details_pb2 = importlib.import_module("google.rpc.error_details_pb2")
        for file in files:
            if not file.startswith("arclane/"):
                continue
            module = file[:-len(".proto")].replace("/", ".")
            self._merge(importlib.import_module(module + "_pb2"))
            self._merge(importlib.import_module(module + "_pb2_grpc"))

    def _merge(self, module):
        for name, value in vars(module).items():
            if not name.startswith("_"):
                self.__dict__.setdefault(name, value)


def channel(target, max_message_bytes=256 << 20):
    """An insecure channel to `target` that accepts answers up to `max_message_bytes`."""
    import grpc  # pylint: disable=import-outside-toplevel
    return grpc.insecure_channel(target, options=[
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.use_local_subchannel_pool", 1)])


def error_details(stubs, rpc_error):
    """(violations, ErrorInfo or None, RetryInfo or None) of a grpc.RpcError; violations as (field, description)."""
    violations, info, retry = [], None, None
    for key, value in rpc_error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        status = stubs.status_pb2.Status.FromString(value)
        for detail in status.details:
            bad_request = stubs.error_details_pb2.BadRequest()
            error_info = stubs.error_details_pb2.ErrorInfo()
            retry_info = stubs.error_details_pb2.RetryInfo()
            if detail.Unpack(bad_request):
                violations += [(v.field, v.description) for v in bad_request.field_violations]
            elif detail.Unpack(error_info):
                info = error_info
            elif detail.Unpack(retry_info):
                retry = retry_info
    return violations, info, retry
