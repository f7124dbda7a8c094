#!/bin/bash
# What SLURM starts for a run of JPO: batch.sh FOLDER, or of an array: batch.sh FOLDER FOLDER...
# No value of a job stands in this text: command and environment are files in FOLDER/slurm, each word ended by NUL.
# Of all jobs that ever get this folder only the first runs the command; how that ended is in FOLDER/slurm/end.
set -um
SECONDS=0 # one in the environment would count
job=$SLURM_JOB_ID
if [[ -n ${SLURM_ARRAY_TASK_ID:-} ]]; then
  shift "$SLURM_ARRAY_TASK_ID"
  job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
  exec >>"$1/output.log" 2>&1
fi
jpo_files=$1/slurm
node=${SLURMD_NODENAME:-$HOSTNAME}

# put NAME VALUE...: a file with one "VALUE VALUE" per line, whole or not at all.
put() {
  local file=$jpo_files/$1
  shift
  (umask 077 && printf '%s %s\n' "$@" >"$file.$job" && mv -f "$file.$job" "$file") || rm -f "$file.$job"
}

if ! said=$(mkdir -m 700 "$jpo_files/began" 2>&1); then
  if [[ ! -d $jpo_files/began ]]; then
    echo "jpo: node $node cannot write the run's folder (shared with the nodes? room?): $said" >&2
    exit 73
  fi
  echo "jpo: this run has begun before; it is not started twice (job $job)" >&2
  exit 75
fi
began=$(date +%s.%N)
touch "$jpo_files/began/alive"
put began/job job "$job" node "$node" began "$began"

read -r longest grace most_bytes <"$jpo_files/limits"
export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}
nodes=${SLURM_JOB_NUM_NODES:-1}
gpus=${SLURM_GPUS_ON_NODE:-0}
if ((nodes > 1 || gpus > 1)); then # what torchrun takes from the environment where its arguments do not say
  head=localhost
  ((nodes < 2)) || head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
  port=$((20000 + SLURM_JOB_ID % 20000))
  export MASTER_ADDR=$head MASTER_PORT=$port PET_NNODES=$nodes
  export PET_RDZV_ID=$job PET_RDZV_BACKEND=c10d PET_RDZV_ENDPOINT=$head:$port
  ((gpus == 0)) || export PET_NPROC_PER_NODE=$gpus
fi

# In the environment of the command and of all that it starts here; of two clusters on one machine no other run has it.
mark=slurm-$job-$(stat -c %d-%i "$jpo_files/began")

# Starts the command in a process group of its own; says that group on the pipe, and at the end the exit code. It is a shell of
# its own without traps: bash loses how a command ended when a trap interrupts its wait.
run() {
  set -m
  trap '' TERM USR1 USR2
  (
    trap - TERM USR1 USR2
    jpo_command=()
    ((nodes < 2)) || jpo_command=(srun --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 --kill-on-bad-exit=1)
    while IFS= read -r -d '' jpo_word; do jpo_command+=("$jpo_word"); done <"$jpo_files/command"
    while IFS= read -r -d '' jpo_word; do export "${jpo_word?}"; done <"$jpo_files/environment"
    export JPO_LAUNCH=$mark
    exec "${jpo_command[@]}"
  ) >&8 2>&8 8>&- &
  exec 8>&-
  echo "$!"
  wait "$!"
  echo "$?"
}

# Hands on what the command prints, never more than most_bytes in output.log: then what is in it becomes the older one
# (output.log.1), and what was in that is gone. Where the disk is full the command goes on, and what it prints is lost.
keep() {
  trap '' TERM USR1 USR2
  exec 8>&- 6>&1
  local file=$1/output.log size copied
  while size=$(stat -c %s "$file"); do
    if ((size >= most_bytes)); then # copied: SLURM holds it open
      (umask 077 && cp -f "$file" "$file.1")
      : >"$file"
      size=0
    fi
    if ! copied=$(dd bs=64K count=$((most_bytes - size)) iflag=count_bytes status=noxfer 2>&1 >&6); then
      dd bs=64K count=1M iflag=count_bytes of=/dev/null # full
    elif [[ $copied == 0+0\ * ]]; then
      return # the end
    fi
  done
  exec cat >/dev/null
}

ended_by=
group=
trap 'ended_by=${ended_by:-slurm}' TERM # SLURM has told every process of the job
trap 'ended_by=limit_of_slurm; [[ -z $group ]] || kill -TERM -- "-$group"' USR1  # --signal: the time limit is near
trap 'ended_by=longest_seconds; [[ ! -e $jpo_files/cancel ]] || ended_by=jpo; kill -TERM -- "-$group"' USR2 # from watch, below
exec 2>/dev/null # bash would tell of a command that a signal ended, with the text of this script
exec 8> >(keep "$1")
keeper=$!
exec 9< <(run)
runner=$!
read -r -u 9 group

# Ends the command after `longest` seconds (0: never) or where JPO cannot reach it through SLURM (the file `cancel`), shows that
# it goes on, and keeps the highest resident memory (KiB) that it sees of this job here.
watch() {
  exec 8>&- 9<&-
  trap - TERM USR1 USR2
  local peak=0 now pause=1
  while kill -0 "$group"; do
    touch "$jpo_files/began/alive"
    if ((nodes == 1)); then
      now=$(scontrol listpids "$SLURM_JOB_ID" | awk '$1 + 0 {printf sep $1; sep = ","}')
      now=$(ps -o pgid=,rss= -p "$now" | awk -v us=$$ -v me="$BASHPID" '$1 != us && $1 != me {sum += $2} END {print sum + 0}')
      if ((now > peak)); then
        peak=$now
        put memory_kib memory_kib "$peak"
      fi
    fi
    if [[ -e $jpo_files/cancel ]] || ((longest > 0 && SECONDS >= longest)); then
      kill -USR2 $$
      sleep "$grace"
      kill -KILL -- "-$group"
      return
    fi
    sleep $((longest > 0 && longest - SECONDS < pause ? longest - SECONDS : pause))
    ((pause < 10)) && pause=$((pause + 1))
  done
}
watch &
watcher=$!

code='' part=''
until read -r -u 9 -t 1 part; do
  read_status=$?
  code+=$part # what came just before the second was over; the rest comes with the next look
  ((read_status > 128)) || break # beyond: interrupted by a trap, or nothing to read
done
code+=$part
ended=$(date +%s.%N)
code=${code:-137} # who should have said it was killed
kill -KILL -- "-$group" "-$watcher" # what the command left behind, and who watched it
grep -lzxF "JPO_LAUNCH=$mark" /proc/[0-9]*/environ | while read -r left; do # what left its group
  kill -KILL "${left//[!0-9]/}"
done
exec 8>&-
for ((looks = 0; looks < 20; looks++)); do # what changed its environment, too, may hold the pipe: nobody waits for that
  kill -0 "$keeper" || break
  sleep 0.1
done
kill -KILL "$keeper"
wait "$watcher" "$runner" "$keeper"
cpu=- memory=-
if ((nodes == 1)); then # of all that was waited for, in ticks: cutime and cstime of proc(5)
  cpu=$(awk -v ticks="$(getconf CLK_TCK)" '{sub(/.*\) /, ""); print ($14 + $15) / ticks}' "/proc/$$/stat")
  read -r _ memory <"$jpo_files/memory_kib"
fi
put end job "$job" node "$node" began "$began" ended "$ended" exit_code "$code" ended_by "${ended_by:--}" \
  memory_kib "${memory:--}" cpu_seconds "${cpu:--}"
exit "$code"
