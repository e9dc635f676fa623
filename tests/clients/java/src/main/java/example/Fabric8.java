package example;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaPropsBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** The client of fabric8: typed and generic objects, every sort of patch, watches, informers, leader election. */
final class Fabric8 {
  private static final String namespace = "fabric8";

  static void run(String kubeconfig) throws Exception {
    Steps steps = new Steps("fabric8");
    Config config = Config.fromKubeconfig(Files.readString(Path.of(kubeconfig)));
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      steps.step("version", () -> client.getKubernetesVersion().getMinor());
      steps.step(
          "namespace",
          () -> client.namespaces().resource(new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build()).create());
      objects(steps, client);
      watches(steps, client);
      custom(steps, client);
      steps.step("leader", () -> leads(client));
      steps.step(
          "gone",
          () -> {
            client.namespaces().withName(namespace).delete();
            return client.namespaces().withName(namespace).waitUntilCondition(found -> found == null, 20, TimeUnit.SECONDS) == null;
          });
    }
  }

  private static ConfigMap map(String name, Map<String, String> data) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(namespace).addToLabels("suite", "java").endMetadata().withData(data).build();
  }

  private static void objects(Steps steps, KubernetesClient client) {
    var maps = client.configMaps().inNamespace(namespace);
    steps.step("create", () -> client.resource(map("a", Map.of("k", "1"))).create());
    steps.step("edit", () -> maps.withName("a").edit(found -> new ConfigMapBuilder(found).addToData("k", "2").build()).getData().get("k"));
    steps.step("patch", () -> maps.withName("a").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"m\":\"3\"}}").getData().get("m"));
    steps.step(
        "json patch",
        () -> maps.withName("a").patch(PatchContext.of(PatchType.JSON), "[{\"op\":\"remove\",\"path\":\"/data/m\"}]").getData().size());
    steps.step(
        "apply",
        () -> {
          ConfigMap applied = client.resource(map("b", Map.of("k", "1"))).fieldManager("java").forceConflicts().serverSideApply();
          return applied.getMetadata().getManagedFields().get(0).getManager();
        });
    steps.step("create or replace", () -> client.resource(map("a", Map.of("k", "9"))).createOr(op -> op.update()).getData().get("k"));
    steps.step(
        "conflict",
        () -> {
          ConfigMap old = maps.withName("a").get();
          maps.withName("a").edit(found -> new ConfigMapBuilder(found).addToData("k", "10").build());
          try {
            client.resource(old).update();
            return 200;
          } catch (KubernetesClientException refused) {
            return refused.getCode();
          }
        });
    steps.step("list", () -> maps.withLabel("suite", "java").list().getItems().size());
    steps.step("pages", () -> maps.withLabel("suite", "java").list(new io.fabric8.kubernetes.api.model.ListOptionsBuilder().withLimit(1L).build()).getMetadata().getContinue().isEmpty());
    Deployment web =
        new DeploymentBuilder()
            .withNewMetadata().withName("web").withNamespace(namespace).endMetadata()
            .withNewSpec().withReplicas(1)
            .withNewSelector().addToMatchLabels("app", "web").endSelector()
            .withNewTemplate().withNewMetadata().addToLabels("app", "web").endMetadata()
            .withNewSpec().addNewContainer().withName("web").withImage("web:1").endContainer().endSpec()
            .endTemplate().endSpec().build();
    steps.step("deployment", () -> client.resource(web).create().getSpec().getStrategy().getType());
    steps.step(
        "strategic patch",
        () -> client.apps().deployments().inNamespace(namespace).withName("web")
            .patch(PatchContext.of(PatchType.STRATEGIC_MERGE), "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"side:1\"}]}}}}")
            .getSpec().getTemplate().getSpec().getContainers().size());
    steps.step("scale", () -> client.apps().deployments().inNamespace(namespace).withName("web").scale(3).getSpec().getReplicas());
    steps.step(
        "status",
        // The deployment controller writes the status as well.
        () -> retryOnConflict(() -> client.apps().deployments().inNamespace(namespace).withName("web")
            .editStatus(found -> new DeploymentBuilder(found).withNewStatus().withReplicas(2).endStatus().build())
            .getStatus().getReplicas()));
    steps.step(
        "refused",
        () -> {
          Pod bad = new PodBuilder().withNewMetadata().withName("x").withNamespace(namespace).endMetadata().withNewSpec().endSpec().build();
          try {
            client.resource(bad).create();
            return "accepted";
          } catch (KubernetesClientException refused) {
            return refused.getStatus().getDetails().getCauses().get(0).getField();
          }
        });
  }

  private static <T> T retryOnConflict(Supplier<T> write) {
    for (int attempt = 1; ; attempt++) {
      try {
        return write.get();
      } catch (KubernetesClientException refused) {
        if (refused.getCode() != 409 || attempt == 10) throw refused;
      }
    }
  }

  private static void watches(Steps steps, KubernetesClient client) {
    var maps = client.configMaps().inNamespace(namespace);
    steps.step(
        "watch",
        () -> {
          ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
          Watcher<ConfigMap> watcher =
              new Watcher<>() {
                @Override
                public void eventReceived(Action action, ConfigMap object) {
                  if (action != Action.BOOKMARK) seen.add(action + " " + object.getMetadata().getName());
                }

                @Override
                public void onClose(WatcherException cause) {}
              };
          try (var open = maps.withName("w").watch(watcher)) {
            client.resource(map("w", Map.of())).create();
            maps.withName("w").edit(found -> new ConfigMapBuilder(found).addToData("k", "1").build());
            maps.withName("w").delete();
            Steps.eventually("three events", () -> seen.size() >= 3);
            return String.join(", ", seen);
          }
        });
    steps.step(
        "informer",
        () -> {
          try (SharedIndexInformer<ConfigMap> informer = maps.inform()) {
            for (int i = 0; i < 50; i++) client.resource(map("i" + i, Map.of("n", "" + i))).create();
            for (int i = 0; i < 50; i += 2) maps.withName("i" + i).delete();
            Steps.eventually(
                "the informer being up to date",
                () -> informer.getStore().list().stream().filter(each -> each.getMetadata().getName().matches("i\\d+")).count() == 25);
            return 25;
          }
        });
  }

  private static void custom(Steps steps, KubernetesClient client) {
    JSONSchemaProps spec = new JSONSchemaPropsBuilder().withType("object")
        .addToProperties("size", new JSONSchemaPropsBuilder().withType("integer").withMinimum(1.0).build()).build();
    CustomResourceDefinition definition =
        new CustomResourceDefinitionBuilder()
            .withNewMetadata().withName("toys.java.example.com").endMetadata()
            .withNewSpec().withGroup("java.example.com").withScope("Namespaced")
            .withNewNames().withPlural("toys").withSingular("toy").withKind("Toy").endNames()
            .addNewVersion().withName("v1").withServed(true).withStorage(true)
            .withNewSchema().withOpenAPIV3Schema(new JSONSchemaPropsBuilder().withType("object").addToProperties("spec", spec).build()).endSchema()
            .endVersion().endSpec().build();
    ResourceDefinitionContext toys = new ResourceDefinitionContext.Builder().withGroup("java.example.com").withVersion("v1").withKind("Toy").withPlural("toys").withNamespaced(true).build();
    steps.step(
        "definition",
        () -> {
          client.resource(definition).create();
          client.apiextensions().v1().customResourceDefinitions().withName("toys.java.example.com").waitUntilCondition(
              found -> found != null && found.getStatus() != null && found.getStatus().getConditions().stream().anyMatch(each -> each.getType().equals("Established") && each.getStatus().equals("True")),
              20, TimeUnit.SECONDS);
          return true;
        });
    steps.step(
        "custom object",
        () -> {
          GenericKubernetesResource toy = new GenericKubernetesResource();
          toy.setApiVersion("java.example.com/v1");
          toy.setKind("Toy");
          toy.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName("first").build());
          toy.setAdditionalProperty("spec", Map.of("size", 2));
          Steps.eventually("the resource being served", () -> {
            try {
              client.genericKubernetesResources(toys).inNamespace(namespace).list();
              return true;
            } catch (KubernetesClientException early) {
              return false;
            }
          });
          client.genericKubernetesResources(toys).inNamespace(namespace).resource(toy).create();
          List<GenericKubernetesResource> found = client.genericKubernetesResources(toys).inNamespace(namespace).list().getItems();
          return found.get(0).get("spec", "size").toString();
        });
  }

  private static boolean leads(KubernetesClient client) throws Exception {
    CompletableFuture<Boolean> leading = new CompletableFuture<>();
    AtomicReference<String> holder = new AtomicReference<>("");
    var elector =
        client.leaderElector()
            .withConfig(
                new LeaderElectionConfigBuilder()
                    .withName("suite").withLock(new LeaseLock(namespace, "suite", "me"))
                    .withLeaseDuration(Duration.ofSeconds(15)).withRenewDeadline(Duration.ofSeconds(10)).withRetryPeriod(Duration.ofSeconds(1))
                    .withReleaseOnCancel(true)
                    .withLeaderCallbacks(new LeaderCallbacks(() -> leading.complete(true), () -> {}, holder::set))
                    .build())
            .build();
    CompletableFuture<?> running = elector.start();
    boolean led = leading.get(20, TimeUnit.SECONDS);
    Steps.eventually("the name of the leader", () -> holder.get().equals("me"));
    running.cancel(true);
    return led;
  }
}
