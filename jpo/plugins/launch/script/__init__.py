"""Training scripts as they are read, never as they are run: what they take, what they use, and where they begin.

analysis.py    a script and the modules beside it -> TrainingScript, by their syntax trees alone
bindings.py    names that a script binds by itself, and settings that it hands on
model_facts.py parameters and layers of its model, where it writes or prints them
call.py        a process that calls one function of a file that does nothing by itself; standard library only
"""
