"""Costs of configurations and runs, and the SLA targets that they meet or break.

    price.py         prices of single resources, spot, energy: an hour, a run; the instance that would be rented
    catalogue.py     whole instances with their prices, as data; data/: those that come with JPO; aws.py: those of today
    price_list.py    the prices in force with their origin, an hour of today's configuration, instances
    comparison.py    two configurations side by side: the price of a saved hour, and what it is worth
    sla.py           SLA targets checked against forecasts and runs; thresholds.py: targets that such runs would meet

Amounts are in USD. What is not stated or measured has no price (None), never 0.
"""

from jpo.cost.catalogue import Instance, read_catalogue
from jpo.cost.comparison import CostComparison, compare
from jpo.cost.price import NO_PRICES, Prices, lacks_energy, log_rate, outcome_of, run_cost_usd, usd_per_hour
from jpo.cost.sla import check_sla
