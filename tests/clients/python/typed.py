"""Objects of many kinds through the typed Python client: read from JSON into its classes, created, replaced and read again.

    typed.py --kubeconfig FILE --objects FILE

Prints one line of JSON: for each kind what was made and what was read, as the client writes it.
"""

import argparse
import json
import re

from kubernetes import client, config


class Body:
    """What the client's deserializer reads from."""

    def __init__(self, value):
        self.data = json.dumps(value)


def snake(kind):
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", kind)).lower()


def round_trip(api_client, given):
    group, _, version = given["apiVersion"].rpartition("/")
    prefix = version[0].upper() + version[1:]
    words = [word for word in group.replace(".k8s.io", "").split(".") if word]
    api = getattr(client, "".join(word.capitalize() for word in words or ["core"]) + prefix + "Api")(api_client)
    model = "CoreV1Event" if given["kind"] == "Event" else prefix + given["kind"]
    typed = api_client.deserialize(Body(given), model)
    namespace = given["metadata"].get("namespace")
    name = ("namespaced_" if namespace else "") + snake(given["kind"])
    place = [namespace] if namespace else []
    made = getattr(api, "create_" + name)(*place, typed)
    made.metadata.labels = {**(made.metadata.labels or {}), "changed": "yes"}
    replaced = getattr(api, "replace_" + name)(made.metadata.name, *place, made)
    read = getattr(api, "read_" + name)(made.metadata.name, *place)
    write = api_client.sanitize_for_serialization
    return {"made": write(made), "same": write(read) == write(replaced), "read": write(read)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--objects", required=True)
    given = parser.parse_args()
    api_client = config.new_client_from_config(given.kubeconfig)
    with open(given.objects, encoding="utf-8") as file:
        objects = json.load(file)
    print(json.dumps({each["kind"]: round_trip(api_client, each) for each in objects}))


main()
