"""What each changed value is expected to do by itself: a choice changes several at once, and people ask what each is for."""

from __future__ import annotations

from collections.abc import Iterator

from jpo.agent.candidate_rows import rows_of
from jpo.optimizer.explain.alternatives import trade
from jpo.optimizer.explain.scene import DecisionScene, moved


def single_effects(scene: DecisionScene) -> Iterator[tuple[str, str]]:
    """Changed parameter -> what that change alone is expected to do, others as today and followers as they follow.

    Nothing of a value that follows another one, or whose change alone is no candidate: the belief has not looked there.
    """
    candidates = scene.surrogate.candidates
    today, chosen = candidates.parameters(candidates.current), candidates.parameters(scene.choice)
    for name in candidates.names:
        if chosen[name] == today[name]:
            continue
        if name in scene.request.allowed.follow:
            leader, _, rule = scene.request.allowed.follow[name].partition(":")
            yield name, f"follows {leader} ({rule} rule)"
            continue
        rows = rows_of(candidates, moved(scene, {**today, name: chosen[name]}))
        if rows.size:
            words = "expected" if rows[0] == scene.choice else "expected alone"
            yield name, f"{words}: {trade(scene, int(rows[0]), than=candidates.current)}"
