"""Queues before a machine whose processors are all alike: which job next, and which may go before its turn (resource
selection: ../machine/placement.py).

    selection.py     which job next: the keys that sort a queue; a further policy stands in STEADY there (in SELECTIONS if it
                     changes with time), in the help of ../cli_workloads.py and in docs/plugins/cluster.md
    processors.py    what is free and who runs; reservations of EASY
    ranked.py        keys that do not change: the queue stays sorted; without backfilling, or EASY
    timed.py         keys that change with time: the queue is sorted at each pass
    tournament.py    the same where the queue is long: who is first is kept up to date
    conservative.py  every job has a reservation
    simulate.py      the one of these that a rule needs

In all of them, whatever happens at one instant happens before the scheduler looks: ends first, then arrivals.
"""
