package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
)

const writers = 4

// write makes random changes from several writers, each with names of its own, and returns what must be there.
func write(ctx context.Context, clients []coreclient.CoreV1Interface, count int, seed uint64) (state, error) {
	written, failures := make([]state, writers), make([]error, writers)
	var group sync.WaitGroup
	for number := range writers {
		group.Add(1)
		go func() {
			defer group.Done()
			dice := rand.New(rand.NewPCG(seed, uint64(number)))
			one := writer{client: clients[number%len(clients)], dice: dice, prefix: fmt.Sprintf("w%d", number)}
			written[number], failures[number] = one.run(ctx, count/writers)
		}()
	}
	group.Wait()
	all := state{}
	for number := range writers {
		if failures[number] != nil {
			return nil, failures[number]
		}
		for key, object := range written[number] {
			all[key] = object
		}
	}
	return all, nil
}

type writer struct {
	client coreclient.CoreV1Interface
	dice   *rand.Rand
	prefix string
}

func (w writer) run(ctx context.Context, count int) (state, error) {
	known := map[string]*corev1.ConfigMap{}
	for number := range count {
		namespace := []string{"default", "blue"}[w.dice.IntN(2)]
		name := fmt.Sprintf("%s-%d", w.prefix, w.dice.IntN(40))
		key := namespace + "/" + name
		next, err := w.change(ctx, known[key], namespace, name, strconv.Itoa(number))
		if err != nil {
			return nil, fmt.Errorf("write %d of %s: %w", number, key, err)
		}
		if next == nil {
			delete(known, key)
		} else {
			known[key] = next
		}
	}
	written := state{}
	for key, each := range known {
		written[key] = objectOf(each)
	}
	return written, nil
}

// change makes one write; nil is returned for what is gone.
func (w writer) change(ctx context.Context, current *corev1.ConfigMap, namespace, name, value string) (*corev1.ConfigMap, error) {
	client := w.client.ConfigMaps(namespace)
	side := []string{"left", "right"}[w.dice.IntN(2)]
	if current == nil {
		made := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"side": side}},
			Data:       map[string]string{"created": value},
		}
		return client.Create(ctx, made, metav1.CreateOptions{})
	}
	switch w.dice.IntN(6) {
	case 0:
		preconditions := metav1.NewUIDPreconditions(string(current.UID))
		return nil, client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: preconditions})
	case 1:
		stale := current.DeepCopy()
		stale.ResourceVersion = "1"
		if _, err := client.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return nil, fmt.Errorf("an update of an older version was not refused as a conflict: %v", err)
		}
		changed := current.DeepCopy()
		changed.Labels["side"] = side
		changed.Data["updated"] = value
		return client.Update(ctx, changed, metav1.UpdateOptions{})
	case 2:
		patch := fmt.Sprintf(`{"metadata":{"labels":{"side":%q}},"data":{"merged":%q}}`, side, value)
		return client.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	case 3:
		patch := fmt.Sprintf(`{"data":{"strategic":%q}}`, value)
		return client.Patch(ctx, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	case 4:
		patch := fmt.Sprintf(`[{"op":"add","path":"/data/json","value":%q}]`, value)
		return client.Patch(ctx, name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	default:
		applied := applycorev1.ConfigMap(name, namespace).WithData(map[string]string{"applied": value})
		return client.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: w.prefix, Force: true})
	}
}
