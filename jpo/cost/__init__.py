"""What a configuration costs per hour and a run in total, and whether that keeps the SLA."""

from jpo.cost.price import Prices, log_rate, run_cost_usd, usd_per_hour
from jpo.cost.sla import check_sla

__all__ = ["Prices", "check_sla", "log_rate", "run_cost_usd", "usd_per_hour"]
