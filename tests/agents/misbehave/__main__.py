"""An agent that misbehaves on purpose; its arguments are MODE [N] [single] [lines].

Without a fault to show it draws its moves from the decision's seed. N is the
number of the decision (of its seat, from 0) that sets the fault off, 5 unless
reported, so that the same games are hit however they are spread over workers. With
`single` it knows no batches, and with `lines` it speaks lines instead of gRPC. The tests make one file of this folder, with
Python's zipapp, since an agent that is registered is one file.
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import answers
import common
import connection
import grpc
import lines
import process
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from service import Service

MODES = {
    "good": common.Good,
    "crash-at-start": process.CrashAtStart,
    "never-listens": process.NeverListens,
    "never-ready": process.NeverReady,
    "slow-start": process.SlowStart,
    "crash": process.Crash,
    "crash-in-batch": process.CrashInBatch,
    "crash-after": process.CrashAfter,
    "exit": process.Exit,
    "segfault": process.Segfault,
    "stop": process.Stop,
    "disconnect": connection.Disconnect,
    "closes-socket": connection.ClosesSocket,
    "connections": connection.Connections,
    "error": answers.Error,
    "hang": answers.Hang,
    "hang-in-batch": answers.HangInBatch,
    "late": answers.Late,
    "illegal": answers.Illegal,
    "garbled": answers.Garbled,
    "huge": answers.Huge,
    "flood": process.Flood,
    "flood-at-start": process.FloodAtStart,
    "binary": process.Binary,
    "memory": process.Memory,
    "memory-fill": process.MemoryFill,
    "bomb": process.Bomb,
    "poison": process.Poison,
    "ignores-sigterm": process.IgnoresSigterm,
    "children": process.Children,
    "escape": process.Escape,
    "daemon": process.Daemon,
    "twice": answers.Twice,
    "wrong-slot": answers.WrongSlot,
    "wrong-batch": answers.WrongBatch,
    "swapped": answers.Swapped,
    "nan": answers.Nan,
    "drip": connection.Drip,
    "drip-for-ever": connection.DripForEver,
    "half-batch": answers.HalfBatch,
    "split-batch": answers.SplitBatch,
    "ends-stream": answers.EndsStream,
    "only-choose-move": answers.OnlyChooseMove,
    "moody": answers.Moody,
    "openly-moody": answers.OpenlyMoody,
}


def main(arguments):
    if not arguments or arguments[0] not in MODES:
        modes = ", ".join(MODES)
        sys.exit(f"usage: misbehave MODE [N] [single] [lines], with MODE one of {modes}")
    name = arguments[0]
    mode = MODES[name](int(arguments[1]) if len(arguments) > 1 else 5)
    if "single" in arguments[2:]:
        mode.methods = ("ChooseMove",)
    if "lines" in arguments[2:]:
        return lines.serve(name, mode)
    mode.prepare()
    server = grpc.server(ThreadPoolExecutor(32), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((Service(name, mode).handler(),))
    checks = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    if not mode.serving:
        checks.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    server.add_insecure_port(os.environ.get("ARENA_LISTEN", "127.0.0.1:0"))
    server.start()
    mode.listening(server)
    while True:
        server.wait_for_termination()
        time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1:])
