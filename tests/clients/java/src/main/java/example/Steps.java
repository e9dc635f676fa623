package example;

import java.util.Map;
import java.util.concurrent.Callable;

/** Runs steps one by one and prints how each ended, a line of JSON each. */
final class Steps {
  private final io.fabric8.kubernetes.client.utils.KubernetesSerialization json =
      new io.fabric8.kubernetes.client.utils.KubernetesSerialization();
  private final String client;

  Steps(String client) {
    this.client = client;
  }

  <T> T step(String name, Callable<T> run) {
    T value;
    try {
      value = run.call();
    } catch (Exception failure) {
      tell(name, null, failure.toString());
      throw new IllegalStateException(client + ", " + name + ": " + failure, failure);
    }
    tell(name, value instanceof String || value instanceof Number || value instanceof Boolean ? value : "done", null);
    return value;
  }

  /** Waits until something is so. */
  static void eventually(String what, Callable<Boolean> check) throws Exception {
    long end = System.currentTimeMillis() + 20_000;
    while (!check.call()) {
      if (System.currentTimeMillis() > end) throw new IllegalStateException(what + " did not happen");
      Thread.sleep(20);
    }
  }

  private void tell(String name, Object value, String failure) {
    Map<String, Object> line =
        failure == null
            ? Map.of("client", client, "step", name, "value", value)
            : Map.of("client", client, "step", name, "failure", failure);
    System.out.println(json.asJson(line));
  }
}
