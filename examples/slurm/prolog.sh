#!/usr/bin/env bash
# slurm.conf: Prolog=/etc/slurm/prolog.d/jpo.sh. Runs as root on each node: a folder in which the job leaves its metrics.
spool=${JPO_SPOOL:-/run/jpo}
install --directory --mode=711 "$spool"
install --directory --mode=700 --owner="$SLURM_JOB_USER" "$spool/$SLURM_JOB_ID"
exit 0 # a prolog that fails drains the node
