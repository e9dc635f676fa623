package example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Serves informers and clients of fabric8 to the certification suite, over stdin and stdout: one JSON object a line. */
public final class Certification {
  private static final ObjectMapper json = new ObjectMapper();
  private static final AtomicInteger count = new AtomicInteger();
  private static final Map<Integer, Running> informers = new ConcurrentHashMap<>();
  private static final Map<Integer, Connected> clients = new ConcurrentHashMap<>();

  private record Connected(KubernetesClient client, String namespace) {}

  private record Running(KubernetesClient client, SharedIndexInformer<ConfigMap> informer, List<String> events) {}

  public static void main(String[] args) throws Exception {
    ExecutorService pool = Executors.newCachedThreadPool();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode request = json.readTree(line);
      pool.execute(() -> answer(request));
    }
    System.exit(0);
  }

  private static void answer(JsonNode request) {
    int id = request.path("id").asInt();
    String line;
    try {
      line = "{\"id\":" + id + ",\"result\":" + run(request.path("method").asText(), request.path("params")) + "}";
    } catch (Exception failure) {
      int code = failure instanceof KubernetesClientException refused ? refused.getCode() : 0;
      String message = Serialization.asJson(String.valueOf(failure));
      line = "{\"id\":" + id + ",\"error\":{\"message\":" + message + (code == 0 ? "" : ",\"code\":" + code) + "}}";
    }
    byte[] bytes = (line.replace("\n", " ") + "\n").getBytes(StandardCharsets.UTF_8);
    synchronized (json) {
      System.out.write(bytes, 0, bytes.length);
      System.out.flush();
    }
  }

  /** Returns the result as JSON. */
  private static String run(String method, JsonNode params) throws Exception {
    return switch (method) {
      case "describe" ->
          "{\"informer\":{},\"client\":[\"get\",\"list\",\"create\",\"update\",\"modify\",\"patch\",\"apply\"]}";
      case "start" -> String.valueOf(start(params));
      case "state" -> state(informers.get(params.path("informer").asInt()));
      case "stop" -> {
        Running running = informers.get(params.path("informer").asInt());
        running.informer().stop();
        running.client().close();
        yield "null";
      }
      case "connect" -> {
        int number = count.incrementAndGet();
        clients.put(number, new Connected(clientOf(params), params.path("namespace").asText()));
        yield String.valueOf(number);
      }
      case "call" -> call(clients.get(params.path("client").asInt()), params.path("name").asText(), params.path("arguments"));
      case "close" -> {
        clients.get(params.path("client").asInt()).client().close();
        yield "null";
      }
      default -> throw new IllegalArgumentException("unknown method " + method);
    };
  }

  private static KubernetesClient clientOf(JsonNode params) throws IOException {
    JsonNode server = params.path("server");
    Path tokenFile = Path.of(server.path("tokenFile").asText());
    Config config = Config.fromKubeconfig(Files.readString(Path.of(server.path("kubeconfig").asText())));
    Config reading = new ConfigBuilder(config).withOauthTokenProvider(() -> read(tokenFile)).build();
    return new KubernetesClientBuilder().withConfig(reading).build();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static int start(JsonNode params) throws IOException {
    KubernetesClient client = clientOf(params);
    var maps = client.configMaps().inNamespace(params.path("namespace").asText());
    String selector = params.path("labelSelector").asText("");
    SharedIndexInformer<ConfigMap> informer =
        selector.isEmpty() ? maps.runnableInformer(0) : maps.withLabelSelector(selector).runnableInformer(0);
    List<String> events = Collections.synchronizedList(new ArrayList<>());
    informer.addEventHandler(
        new ResourceEventHandler<>() {
          @Override
          public void onAdd(ConfigMap object) {
            events.add(event("added", object));
          }

          @Override
          public void onUpdate(ConfigMap before, ConfigMap object) {
            events.add(event("updated", object));
          }

          @Override
          public void onDelete(ConfigMap object, boolean isFinalStateUnknown) {
            events.add(event("deleted", object));
          }
        });
    informer.exceptionHandler((isStarted, failure) -> true);
    informer.start();
    int number = count.incrementAndGet();
    informers.put(number, new Running(client, informer, events));
    return number;
  }

  private static String event(String type, ConfigMap object) {
    return "{\"type\":\"" + type + "\",\"object\":" + Serialization.asJson(object) + "}";
  }

  private static String state(Running running) {
    String objects = Serialization.asJson(new ArrayList<>(running.informer().getStore().list()));
    synchronized (running.events()) {
      String events = String.join(",", running.events());
      return "{\"hasSynced\":" + running.informer().hasSynced() + ",\"objects\":" + objects + ",\"events\":[" + events + "]}";
    }
  }

  private static String call(Connected connected, String name, JsonNode arguments) throws Exception {
    KubernetesClient client = connected.client();
    var maps = client.configMaps().inNamespace(connected.namespace());
    String text = arguments.path(0).asText();
    ConfigMap result =
        switch (name) {
          case "get" -> maps.withName(text).require();
          case "create" -> client.resource(mapOf(arguments)).inNamespace(connected.namespace()).create();
          case "update" -> client.resource(mapOf(arguments)).inNamespace(connected.namespace()).update();
          case "modify" -> {
            Map<String, String> data = json.convertValue(arguments.path(1), json.getTypeFactory().constructMapType(Map.class, String.class, String.class));
            yield maps.withName(text).edit(found -> new ConfigMapBuilder(found).addToData(data).build());
          }
          case "patch" -> {
            Map<String, PatchType> kinds = Map.of("merge", PatchType.JSON_MERGE, "strategic", PatchType.STRATEGIC_MERGE, "json", PatchType.JSON);
            JsonNode patch = arguments.path(1);
            yield maps.withName(text).patch(PatchContext.of(kinds.get(patch.path("type").asText())), patch.path("patch").toString());
          }
          case "apply" ->
              client.resource(mapOf(arguments)).inNamespace(connected.namespace()).fieldManager(arguments.path(1).asText()).serverSideApply();
          default -> null;
        };
    return Serialization.asJson(name.equals("list") ? list(connected, arguments.path(0)) : result);
  }

  private static ConfigMap mapOf(JsonNode arguments) {
    return Serialization.unmarshal(arguments.path(0).toString(), ConfigMap.class);
  }

  private static List<ConfigMap> list(Connected connected, JsonNode asked) {
    var maps = connected.client().configMaps().inNamespace(connected.namespace());
    List<ConfigMap> items = new ArrayList<>();
    String next = null;
    do {
      var options =
          new ListOptionsBuilder()
              .withLabelSelector(asked.path("labelSelector").asText(null))
              .withFieldSelector(asked.path("fieldSelector").asText(null))
              .withLimit(asked.hasNonNull("limit") ? asked.path("limit").asLong() : null)
              .withContinue(next)
              .build();
      var page = maps.list(options);
      items.addAll(page.getItems());
      next = page.getMetadata().getContinue();
    } while (next != null && !next.isEmpty());
    return items;
  }
}
