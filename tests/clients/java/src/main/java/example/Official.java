package example;

import io.kubernetes.client.Discovery;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedIndexInformer;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1Namespace;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.KubeConfig;
import io.kubernetes.client.util.PatchUtils;
import io.kubernetes.client.util.generic.GenericKubernetesApi;
import io.kubernetes.client.util.generic.dynamic.DynamicKubernetesApi;
import java.io.FileReader;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The official Java client: generated calls, generic and dynamic ones, patches, discovery, informers. */
final class Official {
  private static final String namespace = "official";

  static void run(String kubeconfig) throws Exception {
    Steps steps = new Steps("official");
    ApiClient client;
    try (FileReader reader = new FileReader(kubeconfig)) {
      client = ClientBuilder.kubeconfig(KubeConfig.loadKubeConfig(reader)).build();
    }
    client.setReadTimeout(0);
    CoreV1Api core = new CoreV1Api(client);
    steps.step("namespace", () -> core.createNamespace(new V1Namespace().metadata(new V1ObjectMeta().name(namespace))).execute());
    steps.step("create", () -> core.createNamespacedConfigMap(namespace, map("a")).fieldManager("java").execute());
    steps.step(
        "apply",
        () -> PatchUtils.patch(
            V1ConfigMap.class,
            () -> core.patchNamespacedConfigMap("a", namespace, new V1Patch("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"k\":\"2\"}}"))
                .fieldManager("other").force(true).buildCall(null),
            V1Patch.PATCH_FORMAT_APPLY_YAML, client).getData().get("k"));
    steps.step(
        "strategic patch",
        () -> PatchUtils.patch(
            V1ConfigMap.class,
            () -> core.patchNamespacedConfigMap("a", namespace, new V1Patch("{\"data\":{\"k\":null,\"z\":\"1\"}}")).buildCall(null),
            V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH, client).getData().toString());
    steps.step(
        "missing",
        () -> {
          try {
            core.readNamespacedConfigMap("none", namespace).execute();
            return "there";
          } catch (ApiException missing) {
            return missing.getCode() + " " + missing.getResponseBody().contains("\"reason\":\"NotFound\"");
          }
        });
    steps.step("discovery", () -> new Discovery(client).findAll().stream().anyMatch(each -> each.getKind().equals("Deployment")));
    steps.step(
        "generic",
        () -> new GenericKubernetesApi<>(V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps", client).list(namespace).throwsApiException().getObject().getItems().size());
    steps.step(
        "dynamic",
        () -> new DynamicKubernetesApi("", "v1", "configmaps", client).get(namespace, "a").throwsApiException().getObject().getRaw().get("data").toString());
    steps.step("informer", () -> follows(client, core));
    steps.step("delete", () -> core.deleteNamespace(namespace).execute().getStatus() == null);
    client.getHttpClient().dispatcher().executorService().shutdown();
    client.getHttpClient().connectionPool().evictAll();
  }

  private static V1ConfigMap map(String name) {
    return new V1ConfigMap().metadata(new V1ObjectMeta().name(name)).data(Map.of("k", "1"));
  }

  private static int follows(ApiClient client, CoreV1Api core) throws Exception {
    SharedInformerFactory factory = new SharedInformerFactory(client);
    SharedIndexInformer<V1ConfigMap> informer =
        factory.sharedIndexInformerFor(
            new GenericKubernetesApi<>(V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps", client), V1ConfigMap.class, 0, namespace);
    Map<String, String> seen = new ConcurrentHashMap<>();
    informer.addEventHandler(
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(V1ConfigMap object) {
            seen.put(object.getMetadata().getName(), object.getMetadata().getResourceVersion());
          }

          @Override
          public void onUpdate(V1ConfigMap before, V1ConfigMap object) {
            seen.put(object.getMetadata().getName(), object.getMetadata().getResourceVersion());
          }

          @Override
          public void onDelete(V1ConfigMap object, boolean unknown) {
            seen.remove(object.getMetadata().getName());
          }
        });
    factory.startAllRegisteredInformers();
    Steps.eventually("the first list", informer::hasSynced);
    for (int i = 0; i < 50; i++) core.createNamespacedConfigMap(namespace, map("i" + i)).execute();
    for (int i = 0; i < 50; i += 2) core.deleteNamespacedConfigMap("i" + i, namespace).execute();
    Steps.eventually("the informer being up to date", () -> seen.keySet().stream().filter(each -> each.startsWith("i")).count() == 25);
    factory.stopAllRegisteredInformers();
    return 25;
  }
}
