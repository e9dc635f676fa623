// Mirror follows random writes with informers of client-go, and prints what it saw in the end as one line of JSON.
//
//	mirror -direct KUBECONFIG -proxied KUBECONFIG -writes N -seed N
//
// Writes go to the namespaces default and blue, over the direct connection; informers over one that breaks now and then.
// The line "written" tells that all writes are made; the mirrors then have some time to catch up.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// object is what is compared of a ConfigMap.
type object struct {
	ResourceVersion string            `json:"resourceVersion"`
	UID             string            `json:"uid"`
	Labels          map[string]string `json:"labels"`
	// Absent where only metadata is mirrored.
	Data map[string]string `json:"data,omitempty"`
}

type state map[string]object

type report struct {
	Listed  state                   `json:"listed"`
	Written state                   `json:"written"`
	Mirrors map[string]mirrorReport `json:"mirrors"`
}

type mirrorReport struct {
	State  state          `json:"state"`
	Counts map[string]int `json:"counts"`
}

func main() {
	direct := flag.String("direct", "", "kubeconfig")
	proxied := flag.String("proxied", "", "kubeconfig of the connection that breaks")
	count := flag.Int("writes", 1000, "how many writes")
	seed := flag.Uint64("seed", 1, "seed of the writes")
	flag.Parse()
	if err := run(*direct, *proxied, *count, *seed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(direct, proxied string, count int, seed uint64) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	core, err := coreclient.NewForConfig(configOf(direct, protobuf))
	if err != nil {
		return err
	}
	mirrors, err := startMirrors(ctx, proxied)
	if err != nil {
		return err
	}
	plain, err := coreclient.NewForConfig(configOf(direct, "application/json"))
	if err != nil {
		return err
	}
	written, err := write(ctx, []coreclient.CoreV1Interface{core, plain}, count, seed)
	if err != nil {
		return err
	}
	fmt.Println("written")
	catchUp(mirrors, written)
	list, err := core.ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	result := report{Listed: state{}, Written: written, Mirrors: map[string]mirrorReport{}}
	for i := range list.Items {
		result.Listed[keyOf(&list.Items[i])] = objectOf(&list.Items[i])
	}
	for name, each := range mirrors {
		result.Mirrors[name] = mirrorReport{State: each.state(), Counts: each.told()}
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func configOf(path, contentType string) *rest.Config {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config.ContentType = contentType
	config.AcceptContentTypes = contentType
	config.QPS = -1
	return config
}

// catchUp waits until every mirror shows what was written, but no longer than two minutes: a reflector whose connections broke
// often waits up to one minute before it connects again.
func catchUp(mirrors map[string]*mirror, written state) {
	deadline := time.Now().Add(2 * time.Minute)
	for time.Now().Before(deadline) {
		behind := false
		for _, each := range mirrors {
			behind = behind || !reflect.DeepEqual(each.state(), each.wanted(written))
		}
		if !behind {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func keyOf(from metav1.Object) string { return from.GetNamespace() + "/" + from.GetName() }

func metadataOf(from metav1.Object) object {
	return object{ResourceVersion: from.GetResourceVersion(), UID: string(from.GetUID()), Labels: maps.Clone(from.GetLabels())}
}

func objectOf(from *corev1.ConfigMap) object {
	made := metadataOf(from)
	made.Data = maps.Clone(from.Data)
	return made
}
