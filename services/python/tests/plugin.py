"""A plugin of protoc that lists what it is asked for: the place of a plugin that buf would fetch."""

import sys

from google.protobuf.compiler import plugin_pb2

request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
packages = {file.name: file.options.go_package for file in request.proto_file}
answer = plugin_pb2.CodeGeneratorResponse(
    supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
)
for name in request.file_to_generate:
    file = answer.file.add(name=f"{name}.{sys.argv[1].replace('/', '.')}")
    file.content = f"{packages[name]} {request.parameter}\n"
sys.stdout.buffer.write(answer.SerializeToString())
