from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.project.load import LoadedSettings, load
from jpo.project.project import own_direction, targets_of


def settings(tmp_path: Path, toml: str) -> LoadedSettings:
    (tmp_path / "jpo.toml").write_text(toml)
    return load(None, tmp_path / "jpo.toml", {}, {})


def test_a_metric_has_a_direction_and_may_have_a_target(tmp_path: Path) -> None:
    of = settings(tmp_path, '[sla]\naccuracy_min = 0.9\n[metric]\nname = "f1"\ndirection = "max"\nlimit = 0.8\n')
    assert targets_of(of) == {"accuracy_min": 0.9, "f1_min": 0.8}
    assert own_direction(of) == {"f1": True}
    of = settings(tmp_path, '[metric]\nname = "wer"\ndirection = "min"\nlimit = 0.2\n[agent]\nquality = "wer"\n')
    assert targets_of(of) == {"wer_max": 0.2}


@pytest.mark.parametrize(
    ("toml", "finding"),
    [
        ("[sla]\naccuracy_min = 93.0\n", "sla.accuracy_min: 93 is not a ratio in 0..1; write 0.93"),
        ('[metric]\nname = "f1"\n', "direction is missing"),
        ('[metric]\ndirection = "max"\n', "name is missing"),
        ('[metric]\nname = "val_loss"\ndirection = "max"\n', "val_loss is a name of JPO's own"),
        ('[metric]\nname = "batch_size"\ndirection = "max"\n', "batch_size is a name of JPO's own"),
        ('[metric]\nname = "wer"\ndirection = "min"\nbest = 0.0\n', "best is for a metric that is better when higher"),
        ('[metric]\nname = "f1"\ndirection = "max"\nbest = 1.0\nlimit = 2.0\n', "limit = 2 is above best = 1"),
        ('[metric]\nname = "f1"\ndirection = "up"\n', "metric.direction"),
        ("[metric]\nlimit = 2.0\n", "best and limit are of a metric"),
        ('[agent]\nquality = "f1"\n', "quality = 'f1' is none of auto, val_loss, val_accuracy"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_line(tmp_path: Path, toml: str, finding: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings(tmp_path, toml)
    assert finding in str(caught.value)
    assert caught.value.code == "JPO-E302"
    assert "jpo.toml:" in caught.value.place


def test_amounts_have_their_unit_and_money_that_of_the_prices(tmp_path: Path) -> None:
    prices = '[prices]\ncurrency = "EUR"\nper_usd = 0.8\n'
    sla = '[sla]\ncost_max = "12 EUR"\ntime_max = "1h 30m"\nmemory_max_gib = "64 GiB"\ngpu_util_min = "50%"\n'
    targets = settings(tmp_path, prices + sla).values.sla.targets
    assert targets == {"cost_max": pytest.approx(15.0), "time_max": 5400.0, "memory_max_gib": 64.0, "gpu_util_min": 0.5}
    emitted = '[prices]\nkg_co2_per_kwh = 0.4\n[sla]\nenergy_max = "2 kg"\n'
    assert settings(tmp_path, emitted).values.sla.targets == {"energy_max": pytest.approx(5 * 3.6e6)}
    with pytest.raises(UsageError, match=r"energy_max: '2 kg': \[prices\] kg_co2_per_kwh does not say what a kWh emits"):
        settings(tmp_path, '[sla]\nenergy_max = "2 kg"\n')
    with pytest.raises(UsageError, match=r"energy_max: 12 is not an energy"):
        settings(tmp_path, "[sla]\nenergy_max = 12\n")
    with pytest.raises(UsageError, match=r"cost_max: '12 GBP': \[prices\] does not say what GBP is worth"):
        settings(tmp_path, prices + '[sla]\ncost_max = "12 GBP"\n')
    with pytest.raises(UsageError, match=r"sla.memory_max_gib: '64 apples' is not a memory size"):
        settings(tmp_path, '[sla]\nmemory_max_gib = "64 apples"\n')
