#!/usr/bin/env bash
# cluster_hosts.sh PROGRAM MPIRUN
# Two hosts made of network namespaces, connected by TCP only: `run` with two ranks on each has the hash of one process.
# Needs root and the command ip; part of make test-all.
set -euo pipefail
program=$(readlink -f "$1") mpirun=$2
[ "$(id -u)" -eq 0 ] && command -v ip >/dev/null || { echo "skipped: needs root and ip"; exit 77; }
work=$(mktemp -d)
a=sapwood_a$$ b=sapwood_b$$
cleanup() { ip netns del $a 2>/dev/null || true; ip netns del $b 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT

# Two namespaces with a pair of virtual cables between them.
ip netns add $a && ip netns add $b || { echo "skipped: no network namespaces"; exit 77; }
ip link add veth_a$$ netns $a type veth peer name veth_b$$ netns $b
ip -n $a addr add 10.99.0.1/24 dev veth_a$$ && ip -n $b addr add 10.99.0.2/24 dev veth_b$$
for ns in $a $b; do ip -n $ns link set lo up; done
ip -n $a link set veth_a$$ up && ip -n $b link set veth_b$$ up

# In place of ssh: runs a command on a host by its address. A host has a name of its own.
cat >"$work/agent" <<AGENT
#!/bin/sh
shift
exec ip netns exec $b unshare --uts sh -c 'hostname sapwood-b; exec sh -c "\$0"' "\$*"
AGENT
chmod +x "$work/agent"

hash() { sed -n 's/.*"state_hash": "\([0-9a-f]*\)".*/\1/p'; }
arguments=(run quadruped --worlds 12 --steps 60 --json)
expected=$("$program" "${arguments[@]}" | hash)
bytes() { ip netns exec $a cat /sys/class/net/veth_a$$/statistics/tx_bytes; }
before=$(bytes)
ip netns exec $a unshare --uts sh -c 'hostname sapwood-a; exec "$0" "$@"' \
    env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 \
    timeout 120 "$mpirun" --host 10.99.0.1:2,10.99.0.2:2 -n 4 --map-by node --bind-to none \
    --mca plm_rsh_agent "$work/agent" --mca btl tcp,self --mca pml ob1 --mca btl_tcp_if_include 10.99.0.0/24 \
    --mca oob_tcp_if_include 10.99.0.0/24 -x LD_LIBRARY_PATH "$program" "${arguments[@]}" >"$work/out" 2>"$work/err" ||
    { cat "$work/err" >&2; exit 1; }
after=$(bytes)
found=$(hash <"$work/out")
[ -n "$expected" ] && [ "$found" = "$expected" ] || { echo "hash $found, expected $expected" >&2; exit 1; }
[ $((after - before)) -gt 10000 ] || { echo "only $((after - before)) bytes between the hosts" >&2; exit 1; }
echo "ok: two hosts, hash $found, $((after - before)) bytes from one to the other"
