from __future__ import annotations

from pathlib import Path

from jpo.plugins.launch.engines.local.supervisor import Order, packed, unpacked


def test_an_order_arrives_as_it_was_meant() -> None:
    odd = "a 'b' \"c\" $(x)\n\udcff\u202e"
    order = Order(("python", odd), Path("/x/y z"), Path("/"), {"A": odd, "B": ""}, (0, 3), (7,), 1.5, None, 2.0)
    assert unpacked(packed(order)) == order
