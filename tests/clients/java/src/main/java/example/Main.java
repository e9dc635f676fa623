package example;

/** Usage: Main KUBECONFIG CLIENT */
public final class Main {
  public static void main(String[] args) throws Exception {
    if (args[1].equals("fabric8")) Fabric8.run(args[0]);
    else Official.run(args[0]);
    System.exit(0);
  }
}
