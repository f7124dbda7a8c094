#!/usr/bin/env bash
# slurm.conf: TaskProlog=/etc/slurm/jpo-task-prolog.sh. Runs as the user; what it prints as "export" is set for the task.
echo "export JPO_TEXTFILE_DIR=${JPO_SPOOL:-/run/jpo}/$SLURM_JOB_ID"
echo "export JPO_RUN_ID=${JPO_RUN_ID:-slurm-$SLURM_JOB_ID}"
