"""Tables of jpo.toml that take a file of their own: [workload], [parameters], [prices], and what is promised: [sla] and [metric].

naming.py, parameters.py, prices.py, promises.py  the tables; usual.py: lines that [parameters] often has
faults.py     what is wrong in them, in one line
effective.py  what `jpo config show` lists; toml_writer.py: values put into the file without a loss
"""
