"""Agents that manage a cluster: what they are, and those that come along.

base.py          the two kinds of agents; a user's own derive from them
loaded.py        an agent of a user's file, loaded only when it is named; guarded.py: in a process of its own
sequences.py     sequences of jobs to learn from and to be judged on
contest.py       an agent beside SAF+EASY and F1+EASY on the same sequences
anchor.py        how far an agent may leave the rule on a workload, by what paid there before
networks.py      one score for each waiting job, the same function for all of them
reinforce.py     REINFORCE; actor_critic.py: the same with a critic
reserving.py     a rule that keeps devices free, learnt by the cross-entropy method; weights/: the model that comes along
training.py      many episodes side by side
model.py         what was learnt, with the optimiser, as safetensors
"""
