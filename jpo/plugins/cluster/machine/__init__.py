"""Machines whose nodes and devices differ: where jobs go, how fast they run there, and what it costs.

occupancy.py     what is free on each node and processor; taking and giving back
placement.py     resource selection: which processors a job gets; levels.py: found without a look at all of them
outlook.py       whose phases meet where, for phase_pack
simulation.py    the event loop: arrivals, ends, speeds that change meanwhile
discipline.py    who starts when: without backfilling or with EASY; reservations.py: conservative
elastic.py       jobs that are resized while they run
shadow.py        EASY's reservation for the first of the queue, followed from event to event
backlog.py       waiting jobs by what they need, so that few are looked at
bill.py          energy, cost and deadlines of a schedule, afterwards
"""
