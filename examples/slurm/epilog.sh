#!/usr/bin/env bash
# slurm.conf: Epilog=/etc/slurm/epilog.d/jpo.sh. Runs as root on each node after the job: hands the last metrics of its runs to
# node_exporter (--collector.textfile.directory). A run that was killed has not reported its end: that is done here.
spool=${JPO_SPOOL:-/run/jpo}/$SLURM_JOB_ID
textfiles=${JPO_NODE_TEXTFILES:-/var/lib/prometheus/node-exporter}
[[ -n $SLURM_JOB_ID && -d $spool ]] || exit 0

# The files are the user's: read them as the user, with limits on size and time, and only lines that are JPO's.
as_user=(runuser -u "$SLURM_JOB_USER" --)
[[ $(id -un) != "$SLURM_JOB_USER" ]] || as_user=()
last_metrics() {
  "${as_user[@]}" timeout 10 head -c 65536 -- "$1" | grep -aE '^(# TYPE jpo_[a-z_]+ (counter|gauge)|jpo_[a-z_]+\{.*\} [^ ]+)$'
}

for file in "$spool"/jpo_*.prom; do
  [[ -f $file && ${file##*/} =~ ^jpo_[A-Za-z0-9._-]+$ ]] || continue
  metrics=$(last_metrics "$file")
  labels=$(sed -n 's/^jpo_run_start_time_seconds{\(.*\)} .*/\1/p' <<<"$metrics")
  [[ -n $labels ]] || continue
  if ! grep -q '^jpo_run_end_time_seconds{' <<<"$metrics"; then
    metrics+=$'\n# TYPE jpo_run_end_time_seconds gauge\n'"jpo_run_end_time_seconds{$labels} $(date +%s.%N)"
    metrics+=$'\n# TYPE jpo_run_status gauge\n'"jpo_run_status{$labels,status=\"failed\"} 1"
  fi
  new=$textfiles/.jpo_$SLURM_JOB_ID.tmp
  printf '%s\n' "$metrics" >"$new" && chmod 644 "$new" && mv "$new" "$textfiles/jpo_${SLURM_JOB_ID}_${file##*/jpo_}"
done
rm -rf -- "$spool"
find "$textfiles" -maxdepth 1 -name 'jpo_*.prom' -mtime +0 -delete # after a day, Prometheus has them
exit 0 # an epilog that fails drains the node
