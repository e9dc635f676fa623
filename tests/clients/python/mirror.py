"""Follows random writes with the Python client, and prints what it saw in the end as one line of JSON.

    mirror.py --direct KUBECONFIG --proxied KUBECONFIG --writes N --seed N

Writes go over the direct connection; list and watch over one that breaks now and then. The line `written` tells that all
writes are made; the mirrors then have some seconds to catch up.
"""

import argparse
import json
import random
import sys
import threading
import time

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException

NAMESPACES = ["default", "blue"]


def plain(item):
    """What is compared: a list of this client and a list of the server's own show it alike."""
    return [item.metadata.resource_version, item.metadata.uid, item.data or {}, item.metadata.labels or {}]


def key_of(item):
    return f"{item.metadata.namespace}/{item.metadata.name}"


class Mirror(threading.Thread):
    """List, then watch from there; again from the last version after a break, with a new list after a 410."""

    def __init__(self, api_client, **selection):
        super().__init__(daemon=True)
        self.api = client.CoreV1Api(api_client)
        self.selection = selection
        self.objects = {}
        self.counts = {"lists": 0, "watches": 0, "expired": 0, "broken": 0, "bookmarks": 0, "events": 0}
        self.complaints = []
        self.stopped = False

    def run(self):
        version = None
        while not self.stopped:
            try:
                if version is None:
                    version = self.list()
                version = self.follow(version)
            except ApiException as error:
                if error.status != 410:
                    self.complaints.append(f"{error.status} {error.reason}")
                    return
                self.counts["expired"] += 1
                version = None
            except Exception:  # noqa: BLE001: whatever the network does, in the words of three libraries
                self.counts["broken"] += 1
                version = self.seen if version is not None else None
                time.sleep(0.02)

    def list(self):
        self.counts["lists"] += 1
        objects, token = {}, None
        while True:
            page = self.api.list_config_map_for_all_namespaces(limit=50, _continue=token, **self.selection)
            objects.update({key_of(item): item for item in page.items})
            token = page.metadata._continue
            if not token:
                break
        self.objects = objects
        self.seen = page.metadata.resource_version
        return self.seen

    def follow(self, version):
        self.counts["watches"] += 1
        self.seen = version
        stream = watch.Watch().stream(
            self.api.list_config_map_for_all_namespaces,
            resource_version=version,
            allow_watch_bookmarks=True,
            timeout_seconds=400,
            _request_timeout=(5, 30),
            **self.selection,
        )
        for event in stream:
            kind, item = event["type"], event["object"]
            if kind == "BOOKMARK":
                self.counts["bookmarks"] += 1
                self.seen = event["raw_object"]["metadata"]["resourceVersion"]
                continue
            self.counts["events"] += 1
            if (kind == "ADDED") == (key_of(item) in self.objects):
                self.complaints.append(f"{kind} {key_of(item)}")
            if kind == "DELETED":
                del self.objects[key_of(item)]
            else:
                self.objects[key_of(item)] = item
            self.seen = item.metadata.resource_version
        return self.seen

    def state(self):
        return {key: plain(item) for key, item in list(self.objects.items())}


def write(api, count, dice):
    """Creates, replaces, patches in two ways and deletes."""
    known = {}
    for number in range(count):
        namespace, name = dice.choice(NAMESPACES), f"object-{dice.randrange(60)}"
        at, value = (namespace, name), str(number)
        labels = {"side": dice.choice(["left", "right"])}
        if at not in known:
            body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data={"a": value})
            known[at] = api.create_namespaced_config_map(namespace, body)
            continue
        way = dice.randrange(4)
        if way == 0:
            answer = api.delete_namespaced_config_map(name, namespace)
            assert answer.status == "Success", answer
            del known[at]
        elif way == 1:
            body = known[at]
            body.data = {"b": value}
            body.metadata.labels = labels
            known[at] = api.replace_namespaced_config_map(name, namespace, body)
        elif way == 2:
            # A dict goes as a strategic merge patch.
            known[at] = api.patch_namespaced_config_map(name, namespace, {"metadata": {"labels": labels}, "data": {"c": value}})
        else:
            # A list goes as a JSON patch.
            known[at] = api.patch_namespaced_config_map(name, namespace, [{"op": "add", "path": "/data/d", "value": value}])
        if way != 0:
            assert value in known[at].data.values(), known[at]
    return {f"{namespace}/{name}": plain(item) for (namespace, name), item in known.items()}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--direct", required=True)
    arguments.add_argument("--proxied", required=True)
    arguments.add_argument("--writes", type=int, required=True)
    arguments.add_argument("--seed", type=int, required=True)
    given = arguments.parse_args()
    direct = client.CoreV1Api(config.new_client_from_config(given.direct))
    direct.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="blue")))
    mirrors = {
        "all": Mirror(config.new_client_from_config(given.proxied)),
        "left": Mirror(config.new_client_from_config(given.proxied), label_selector="side=left"),
    }
    for mirror in mirrors.values():
        mirror.start()
    written = write(direct, given.writes, random.Random(given.seed))
    print("written", flush=True)
    wanted = {"all": written, "left": {key: item for key, item in written.items() if item[3]["side"] == "left"}}
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(mirror.state() != wanted[name] for name, mirror in mirrors.items()):
        time.sleep(0.05)
    for mirror in mirrors.values():
        mirror.stopped = True
    listed = {key_of(item): plain(item) for item in direct.list_config_map_for_all_namespaces().items}
    report = {name: {"state": mirror.state(), "counts": mirror.counts, "complaints": mirror.complaints} for name, mirror in mirrors.items()}
    print(json.dumps({"listed": listed, "written": written, "mirrors": report}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
