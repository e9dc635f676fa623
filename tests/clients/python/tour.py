"""A round through the typed and the dynamic Python client: every call must be understood by both sides. Prints one line of JSON.

    tour.py --kubeconfig FILE --cache FILE
"""

import argparse
import json
import sys

from kubernetes import client, config, dynamic
from kubernetes.client.exceptions import ApiException

LABELS = {"app": "web"}


def deployment():
    container = client.V1Container(name="c", image="registry.example.com/web:1", ports=[client.V1ContainerPort(container_port=80)])
    template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=LABELS), spec=client.V1PodSpec(containers=[container]))
    spec = client.V1DeploymentSpec(replicas=2, selector=client.V1LabelSelector(match_labels=LABELS), template=template)
    return client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)


def refusal(call):
    try:
        call()
    except ApiException as error:
        return [error.status, json.loads(error.body)["reason"]]
    return None


def typed(api_client):
    apps, core, policy = client.AppsV1Api(api_client), client.CoreV1Api(api_client), client.PolicyV1Api(api_client)
    made = apps.create_namespaced_deployment("default", deployment())
    scaled = apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 5}})
    status = apps.patch_namespaced_deployment_status("web", "default", {"status": {"replicas": 5, "readyReplicas": 4}})
    seen = apps.read_namespaced_deployment("web", "default")
    dry = core.create_namespaced_secret("default", client.V1Secret(metadata=client.V1ObjectMeta(generate_name="s-")), dry_run="All")
    budget = client.V1PodDisruptionBudget(metadata=client.V1ObjectMeta(name="b"), spec=client.V1PodDisruptionBudgetSpec(min_available="50%"))
    policy.create_namespaced_pod_disruption_budget("default", budget)
    # These classes refuse an answer that lacks what the schema requires.
    empty = [
        core.list_node(),
        core.list_pod_for_all_namespaces(),
        core.list_event_for_all_namespaces(),
        client.EventsV1Api(api_client).list_event_for_all_namespaces(),
        client.BatchV1Api(api_client).list_cron_job_for_all_namespaces(),
        client.StorageV1Api(api_client).list_storage_class(),
        client.NetworkingV1Api(api_client).list_ingress_for_all_namespaces(),
        client.AutoscalingV2Api(api_client).list_horizontal_pod_autoscaler_for_all_namespaces(),
        client.ApiextensionsV1Api(api_client).list_custom_resource_definition(),
    ]
    review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=client.V1ResourceAttributes(verb="create", resource="pods")))
    return {
        "kind": [made.spec.replicas, made.spec.strategy.type, made.status.replicas],
        "scale": [scaled.kind if scaled.kind else "Scale", scaled.spec.replicas, scaled.status.selector],
        "status": [status.status.ready_replicas, seen.spec.replicas, seen.metadata.generation],
        "dry": [dry.metadata.name.startswith("s-"), refusal(lambda: core.read_namespaced_secret(dry.metadata.name, "default"))],
        "empty": [len(answer.items) for answer in empty],
        "allowed": client.AuthorizationV1Api(api_client).create_self_subject_access_review(review).status.allowed,
        "again": refusal(lambda: apps.create_namespaced_deployment("default", deployment())),
        "invalid": refusal(lambda: core.create_namespaced_config_map("default", {"metadata": {"name": "A B"}})),
        "version": client.VersionApi(api_client).get_code().git_version,
        "groups": sorted(group.name for group in client.ApisApi(api_client).get_api_versions().groups),
        "log": refusal(lambda: core.read_namespaced_pod_log("none", "default")),
    }


def untyped(api_client, cache):
    resources = dynamic.DynamicClient(api_client, cache_file=cache).resources
    maps = resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}, "data": {"a": "1"}}
    maps.create(namespace="default", body=body)
    applied = maps.server_side_apply(
        namespace="default", name="d", body={**body, "data": {"b": "2"}}, field_manager="tour", force_conflicts=True
    )
    events = maps.watch(namespace="default", field_selector="metadata.name=d", timeout=1)
    seen = [[event["type"], event["object"].metadata.name] for event in events]
    maps.delete(namespace="default", name="d")
    rest = [item.metadata.name for item in maps.get(namespace="default", label_selector="!none").items]
    return {"data": applied.data.to_dict(), "events": seen, "deployments": len(resources.get(kind="Deployment", group="apps").get().items), "gone": "d" not in rest}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--kubeconfig", required=True)
    arguments.add_argument("--cache", required=True)
    given = arguments.parse_args()
    api_client = config.new_client_from_config(given.kubeconfig)
    print(json.dumps({"typed": typed(api_client), "untyped": untyped(api_client, given.cache)}))


if __name__ == "__main__":
    sys.exit(main())
