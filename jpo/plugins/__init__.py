"""What JPO does besides its next values: one folder each with all that is its own, found through jpo/plugin.py.

    launch/    run, watch, optimize: runs on an engine
    ci/        init, comment, persist: what stands around a pipeline
    imports/   import: runs that other tools recorded
    page/      report: all of a store on one page
    phases/    phases of what containers use, and requests that follow them
    cluster/   the cluster lab: queues and machines under policies of workload management
    lab/       simulate, replay, logs: JPO and its peers on simulated and recorded jobs

The core never imports a plugin, and plugins never import each other. To remove a feature, delete its folder and its name.
"""
