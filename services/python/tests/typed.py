"""Uses of the public names, for a type checker; no test runs it."""

from __future__ import annotations

from typing import Any, Optional

import arena


def synchronous(client: arena.Client) -> Optional[dict[str, Any]]:
    started: arena.Tournament = client.start("cowry.toml", set={"blocks": 3})
    for progress in client.watch(started):
        done: int = progress.games_done
        print(done, progress.standings.games)
    standings: arena.Standings = client.wait(started.id, show=False)
    score: float = standings["random"].score
    report: arena.Report = client.report(started)
    print(score, report.passed, client.games(started).shape)
    try:
        client.standings("other")
    except arena.NotFound as error:
        print(error.reason.lower(), error.details.get("limit"))
    removed: arena.Tournament = client.remove(started)
    print(removed.state)
    return standings.verdict


async def asynchronous(client: arena.AsyncClient) -> int:
    started: arena.Tournament = await client.start({"name": "x", "ruleset": "kalah"})
    async for progress in client.watch(started):
        print(progress.state.upper())
    standings: arena.Standings = await client.wait(started)
    return len(standings)


def local() -> bool:
    result: arena.Result = arena.run("cowry.toml", workers=2)
    return result.passed and result.standings.games > 0
