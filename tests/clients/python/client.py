"""The operations of a controller written with Python's `kubernetes` package, against the server in the kubeconfig.

Prints one line for each part that succeeds, and exits at the first failure.
"""

import os
import threading
import uuid

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

NAMESPACE = "default"
SECONDS = 60


def say(part):
    print(part, flush=True)


def config_map(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"client": "python"}), data=data)


def create(core):
    made = core.create_namespaced_config_map(NAMESPACE, config_map("made", color="red"))
    assert made.metadata.uid and made.data == {"color": "red"}
    try:
        core.create_namespaced_config_map(NAMESPACE, config_map("made"))
        raise AssertionError("the same name twice")
    except ApiException as error:
        assert (error.status, error.reason) == (409, "Conflict"), error
    say("create")


def list_and_watch(core):
    """Every object arrives exactly once: in the list, or in the watch that starts at the list's revision."""
    listed = core.list_namespaced_config_map(NAMESPACE, label_selector="client=python")
    assert [item.metadata.name for item in listed.items] == ["made"]
    core.create_namespaced_config_map(NAMESPACE, config_map("later"))
    core.patch_namespaced_config_map("later", NAMESPACE, {"data": {"color": "blue"}})
    core.delete_namespaced_config_map("later", NAMESPACE)
    seen = []
    events = watch.Watch().stream(
        core.list_namespaced_config_map,
        NAMESPACE,
        label_selector="client=python",
        resource_version=listed.metadata.resource_version,
        timeout_seconds=SECONDS,
    )
    for event in events:
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            break
    assert seen == [("ADDED", "later"), ("MODIFIED", "later"), ("DELETED", "later")], seen
    say("list+watch")


def update_after_conflict(core):
    stale = core.read_namespaced_config_map("made", NAMESPACE)
    core.patch_namespaced_config_map("made", NAMESPACE, {"data": {"size": "large"}})
    stale.data["color"] = "green"
    try:
        core.replace_namespaced_config_map("made", NAMESPACE, stale)
        raise AssertionError("a stale update was taken")
    except ApiException as error:
        assert error.status == 409, error
    fresh = core.read_namespaced_config_map("made", NAMESPACE)
    fresh.data["color"] = "green"
    updated = core.replace_namespaced_config_map("made", NAMESPACE, fresh)
    assert updated.data == {"color": "green", "size": "large"}, updated.data
    say("update conflict")


def apply():
    """Server-side apply by two managers, with the dynamic client."""
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")

    def send(manager, force, **data):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": data}
        return maps.server_side_apply(
            body=body, namespace=NAMESPACE, field_manager=manager, force_conflicts=force
        )

    send("one", False, a="1", b="1")
    send("two", False, c="2")
    try:
        send("two", False, a="2", c="2")
        raise AssertionError("a conflict was not seen")
    except ApiException as error:
        assert error.status == 409, error
    taken = send("two", True, a="2", c="2")
    assert taken.data.to_dict() == {"a": "2", "b": "1", "c": "2"}, taken.data
    left = send("one", False)
    assert left.data.to_dict() == {"a": "2", "c": "2"}, left.data
    say("apply")


def lead():
    """Becomes the leader and renews the lease."""
    started = threading.Event()

    def election(identity):
        lock = ConfigMapLock("leader", NAMESPACE, identity)
        return electionconfig.Config(
            lock,
            lease_duration=5,
            renew_deadline=4,
            retry_period=1,
            onstarted_leading=started.set,
            onstopped_leading=lambda: None,
        )

    candidate = leaderelection.LeaderElection(election(str(uuid.uuid4())))
    threading.Thread(target=candidate.run, daemon=True).start()
    assert started.wait(SECONDS), "nobody leads"
    say("leader election")


def main():
    config.load_kube_config()
    core = client.CoreV1Api()
    create(core)
    list_and_watch(core)
    update_after_conflict(core)
    apply()
    lead()
    # The leader thread still writes periodically, which fails during a regular interpreter shutdown.
    os._exit(0)


main()
