"""What a configuration costs per hour and a run in total, and whether that keeps the SLA."""

from jpo.cost.amount import usd_of_text
from jpo.cost.catalogue import Instance, read_catalogue
from jpo.cost.comparison import Comparison, compare
from jpo.cost.price import Prices, lacks_energy, log_rate, mean_power_watts, run_cost_usd, usd_per_hour
from jpo.cost.sla import check_sla

__all__ = [
    "Comparison",
    "Instance",
    "Prices",
    "check_sla",
    "compare",
    "lacks_energy",
    "log_rate",
    "mean_power_watts",
    "read_catalogue",
    "run_cost_usd",
    "usd_of_text",
    "usd_per_hour",
]
