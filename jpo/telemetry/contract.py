"""Contract with training jobs: names, labels and units of the metrics and log lines that they report.

Each metric carries the labels run_id, dataset, model and framework, and hardware where config.ini names it. Only RUN_INFO carries
the configuration, as labels named like records.PARAMETERS with numbers in canonical form (`repr`: 0.001, not 1e-3). Where it also
carries namespace, pod and container, as every scraped pod's series do, the cluster's metrics of that pod are the run's
(prometheus/cluster.py). A site may use other names (prometheus/names.py). A job that cannot be scraped writes a CSV log with the
same names (csv/log.py).

| metric                      | type    | value                                                                                |
|-----------------------------|---------|--------------------------------------------------------------------------------------|
| jpo_run_info                | info    | 1                                                                                    |
| jpo_samples_total           | counter | training samples processed                                                           |
| jpo_train_loss              | gauge   |                                                                                      |
| jpo_val_loss                | gauge   | absent before the first validation; NaN = diverged; its samples are the learning curve |
| jpo_val_accuracy            | gauge   | optional: a ratio in 0..1; absent before the first validation                        |
| jpo_metric{metric="f1"}     | gauge   | optional: a metric of the user's own, whose name [metric] in jpo.toml says           |
| jpo_epoch                   | gauge   | optional: finished epochs                                                            |
| jpo_run_start_time_seconds  | gauge   | optional: unix seconds                                                               |
| jpo_run_end_time_seconds    | gauge   | optional: unix seconds; set last: all other values are then final                     |
| jpo_run_status{status=...}  | gauge   | optional: 1 for how it ended: succeeded, failed, oom_killed, diverged or stopped     |
| jpo_converged               | gauge   | optional: 1 if the job reached its own target, 0 if not; absent without a target     |
| jpo_cpu_seconds_total       | counter | optional: CPU core-seconds used by the job                                           |
| jpo_memory_bytes            | gauge   | optional: resident memory of the job                                                 |
"""

from collections.abc import Mapping

RUN_INFO = "jpo_run_info"
DATA_FRACTION = "data_fraction"
"""Label of RUN_INFO, and head line of logs, for a trial: the share of the data that it trained on."""
SAMPLES = "jpo_samples_total"
TRAIN_LOSS = "jpo_train_loss"
VAL_LOSS = "jpo_val_loss"
VAL_ACCURACY = "jpo_val_accuracy"
OWN_METRIC = "jpo_metric"
EPOCH = "jpo_epoch"
START = "jpo_run_start_time_seconds"
END = "jpo_run_end_time_seconds"
STATUS = "jpo_run_status"
CONVERGED = "jpo_converged"
CPU_SECONDS = "jpo_cpu_seconds_total"
MEMORY_BYTES = "jpo_memory_bytes"
METRICS = (
    *(RUN_INFO, SAMPLES, TRAIN_LOSS, VAL_LOSS, VAL_ACCURACY, OWN_METRIC, EPOCH),
    *(START, END, STATUS, CONVERGED, CPU_SECONDS, MEMORY_BYTES),
)
STALE_SECONDS = 300.0
"""A job that has not reported for this long, nor its end, is over: Prometheus' own look-back of 5 minutes."""
ALSO_CALLED: Mapping[str, tuple[str, ...]] = {
    "batch_size_per_device": (
        *("per_device_train_batch_size", "per_gpu_train_batch_size", "train_micro_batch_size_per_gpu"),
        *("micro_batch_size_per_gpu", "batch_size_per_gpu"),
    ),
    "gradient_accumulation_steps": ("accumulate_grad_batches", "grad_accum_steps"),
    "gpus_per_node": ("num_gpus_per_node", "nproc_per_node"),
    "nodes": ("num_nodes", "nnodes"),
}
"""What Hugging Face, Lightning, DeepSpeed and torchrun call shares and counts, in labels of runs and in the heads of logs."""
