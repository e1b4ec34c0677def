"""Calls a coordinator as KEDA does, over TLS with the certificate of a client.

Prints each change of `StreamIsActive`, and answers each line of the input with the metric. The messages are
described here and not read from the repository's proto, so that a wrong name or number is found.
"""

import json
import sys
import threading

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Field = descriptor_pb2.FieldDescriptorProto
#: Fields of the messages of KEDA: number, and type or message.
MESSAGES = {
    "ScaledObjectRef": {"name": (1, "string"), "namespace": (2, "string")},
    "IsActiveResponse": {"result": (1, "bool")},
    "GetMetricSpecResponse": {"metricSpecs": (1, ["MetricSpec"])},
    "MetricSpec": {
        "metricName": (1, "string"),
        "targetSize": (2, "int64"),
        "targetSizeFloat": (3, "double"),
    },
    "GetMetricsRequest": {
        "scaledObjectRef": (1, "ScaledObjectRef"),
        "metricName": (2, "string"),
    },
    "GetMetricsResponse": {"metricValues": (1, ["MetricValue"])},
    "MetricValue": {
        "metricName": (1, "string"),
        "metricValue": (2, "int64"),
        "metricValueFloat": (3, "double"),
    },
}
SCALARS = {"string": 9, "bool": 8, "int64": 3, "double": 1}


def add_field(message, name, number, kind):
    """Adds a field of a scalar, of a message, or of a list of messages."""
    is_list = isinstance(kind, list)
    kind = kind[0] if is_list else kind
    field = message.field.add(name=name, number=number, label=3 if is_list else 1)
    if kind in SCALARS:
        field.type = SCALARS[kind]
    else:
        field.type, field.type_name = Field.TYPE_MESSAGE, f".externalscaler.{kind}"


def messages():
    """The classes of the messages by name."""
    file = descriptor_pb2.FileDescriptorProto(
        name="keda.proto", package="externalscaler", syntax="proto3"
    )
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            add_field(message, field, number, kind)
    reference = file.message_type[0]
    entry = reference.nested_type.add(name="ScalerMetadataEntry")
    entry.options.map_entry = True
    add_field(entry, "key", 1, "string")
    add_field(entry, "value", 2, "string")
    add_field(reference, "scalerMetadata", 3, ["ScaledObjectRef.ScalerMetadataEntry"])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    find = pool.FindMessageTypeByName
    return {
        name: message_factory.GetMessageClass(find(f"externalscaler.{name}"))
        for name in MESSAGES
    }


def main(address, ca, certificate, key, seconds):
    """Follows the coordinator until the input ends."""
    known = messages()
    with open(ca, "rb") as authority, open(certificate, "rb") as own, open(key, "rb") as secret:
        credentials = grpc.ssl_channel_credentials(authority.read(), secret.read(), own.read())
    channel = grpc.secure_channel(address, credentials)

    def method(name, answer, make=channel.unary_unary):
        return make(
            f"/externalscaler.ExternalScaler/{name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=known[answer].FromString,
        )

    reference = known["ScaledObjectRef"](
        name="arena-worker",
        namespace="arena",
        scalerMetadata={
            "scalerAddress": address,
            "enableTLS": "true",
            "secondsPerWorker": seconds,
        },
    )
    stream = method("StreamIsActive", "IsActiveResponse", channel.unary_stream)
    lock = threading.Lock()

    def show(**shown):
        with lock:
            print(json.dumps(shown), flush=True)

    def follow():
        try:
            for change in stream(reference):
                show(change=change.result)
            show(end="OK")
        except grpc.RpcError as error:
            show(end=error.code().name)

    threading.Thread(target=follow, daemon=True).start()
    for _ in sys.stdin:
        (spec,) = method("GetMetricSpec", "GetMetricSpecResponse")(reference).metricSpecs
        assert spec.targetSize == spec.targetSizeFloat
        request = known["GetMetricsRequest"](
            scaledObjectRef=reference, metricName=spec.metricName
        )
        (value,) = method("GetMetrics", "GetMetricsResponse")(request).metricValues
        active = method("IsActive", "IsActiveResponse")(reference).result
        show(
            metric=value.metricName,
            target=spec.targetSizeFloat,
            value=value.metricValueFloat,
            rounded=value.metricValue,
            active=active,
        )


main(*sys.argv[1:])
