#!/usr/bin/env bash
# The operations of a script that uses kubectl, against the server in the kubeconfig.
#
# Prints one line for each part that succeeds, and exits at the first failure.

set -euo pipefail

# The time limit of background work, in seconds.
timeout=60

fail() {
  echo "$1" >&2
  exit 1
}

# Runs a command that must be refused with the reason in the first argument.
refused() {
  local reason=$1 said
  shift
  if said=$("$@" 2>&1); then
    fail "not refused: $*"
  fi
  case $said in
    *"($reason)"*) ;;
    *) fail "$said" ;;
  esac
}

# Reads the next line of a watch.
expect() {
  local line
  read -r -t "$timeout" line <&"${watch[0]}" || fail "the watch does not tell: $1"
  [ "$line" = "$1" ] || fail "the watch tells \"$line\" instead of \"$1\""
}

config_map() {
  kubectl create configmap "$1" --from-literal=color="$2" --dry-run=client -o yaml |
    kubectl label --local -f - client=kubectl -o yaml
}

create() {
  config_map made red > made.yaml
  kubectl create -f made.yaml > /dev/null
  refused AlreadyExists kubectl create -f made.yaml
  echo create
}

# Every object arrives exactly once: in the list, or in the watch that starts at the list's revision.
list_and_watch() {
  [ "$(kubectl get configmaps -l client=kubectl -o name)" = configmap/made ] || fail "another list"
  coproc watch {
    exec kubectl get configmaps -l client=kubectl --watch --output-watch-events \
      -o jsonpath='{.type} {.object.metadata.name} {.object.data.color}{"\n"}'
  }
  expect 'ADDED made red'
  config_map later red | kubectl create -f - > /dev/null
  expect 'ADDED later red'
  kubectl patch configmap later --type=merge -p '{"data":{"color":"blue"}}' > /dev/null
  expect 'MODIFIED later blue'
  kubectl delete configmap later > /dev/null
  expect 'DELETED later blue'
  kill "$watch_PID"
  echo list+watch
}

update_after_conflict() {
  local green='{"data":{"color":"green"}}'
  kubectl get configmap made -o yaml > stale.yaml
  kubectl patch configmap made --type=merge -p '{"data":{"size":"large"}}' > /dev/null
  kubectl patch --local -f stale.yaml --type=merge -p "$green" -o yaml > changed.yaml
  refused Conflict kubectl replace -f changed.yaml
  kubectl get configmap made -o yaml > fresh.yaml
  kubectl patch --local -f fresh.yaml --type=merge -p "$green" -o yaml | kubectl replace -f - > /dev/null
  [ "$(kubectl get configmap made -o jsonpath='{.data}')" = '{"color":"green","size":"large"}' ] || fail "another update"
  echo 'update conflict'
}

# Server-side apply by two managers.
apply() {
  local object='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":%s}'
  send() {
    # shellcheck disable=SC2059 # the object has a place for its data
    printf "$object" "$2" | kubectl apply --server-side --field-manager="$1" -f - "${@:3}"
  }
  send one '{"a":"1","b":"1"}' > /dev/null
  send two '{"c":"2"}' > /dev/null
  local said
  if said=$(send two '{"a":"2","c":"2"}' 2>&1); then
    fail "a conflict was not seen"
  fi
  case $said in
    *'conflict with "one": .data.a'*) ;;
    *) fail "$said" ;;
  esac
  send two '{"a":"2","c":"2"}' --force-conflicts > /dev/null
  send one '{}' > /dev/null
  [ "$(kubectl get configmap applied -o jsonpath='{.data}')" = '{"a":"2","c":"2"}' ] || fail "another object"
  echo apply
}

# A leader election on a lease: the first writer leads until it releases the lease.
lead() {
  local candidate led=0
  local pids=()
  kubectl create -f - > /dev/null <<'Y'
{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "leader"},
 "spec": {"holderIdentity": "", "leaseDurationSeconds": 15}}
Y
  kubectl get lease leader -o yaml > lease.yaml
  for candidate in one two; do
    local spec="{\"spec\":{\"holderIdentity\":\"$candidate\"}}"
    kubectl patch --local -f lease.yaml --type=merge -p "$spec" -o yaml > "$candidate.yaml"
    kubectl replace -f "$candidate.yaml" > /dev/null 2> "$candidate.said" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    if wait "$pid"; then led=$((led + 1)); fi
  done
  [ "$led" = 1 ] || fail "$led candidates lead: $(cat one.said two.said)"
  grep -q '(Conflict)' one.said two.said || fail "$(cat one.said two.said)"
  echo 'leader election'
}

create
list_and_watch
update_after_conflict
apply
lead
