"""Pipeline of simulator, forecast, agent and prices: from runs to a decision. No store, no file, no clock: the same arguments
give the same answer, in every process.

request.py       what the user wants and allows; candidates.py: the configurations between which is chosen
prior.py         the belief before and after the runs; surrogate.py: what it expects of each candidate
sla.py           SLA targets held against all candidates
search.py        what a search knows of the candidates
installation.py  what earlier jobs here say of a workload
problem.py       the decision problem; advise.py: the decision; suggestion.py: everything about it in one record
explain/         alternatives, what held a value back, what would change the answer

question.py      what `jpo predict` is asked; expectations.py, prediction_rows.py, prediction.py: what is expected, and why
what_if.py       a deadline or a budget
pareto/          what `jpo pareto` shows: measured and predicted points, and the agent's choices
before_and_after.py  which runs are from before the first change, and which came of it, for `jpo report`
"""
