package main

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

// mirror is an informer, and how it is to be compared with what was written.
type mirror struct {
	informer cache.SharedIndexInformer
	// left keeps the objects of one side only.
	left     bool
	metadata bool

	mutex  sync.Mutex
	counts map[string]int
}

func startMirrors(ctx context.Context, proxied string) (map[string]*mirror, error) {
	binary, err := coreclient.NewForConfig(configOf(proxied, protobuf))
	if err != nil {
		return nil, err
	}
	text, err := coreclient.NewForConfig(configOf(proxied, "application/json"))
	if err != nil {
		return nil, err
	}
	partial, err := metadata.NewForConfig(configOf(proxied, protobuf))
	if err != nil {
		return nil, err
	}
	maps := corev1.SchemeGroupVersion.WithResource("configmaps")
	of := func(core coreclient.CoreV1Interface, selector string) *cache.ListWatch {
		client := core.ConfigMaps(metav1.NamespaceAll)
		return &cache.ListWatch{
			ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
				options.LabelSelector = selector
				return client.List(ctx, options)
			},
			WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
				options.LabelSelector = selector
				return client.Watch(ctx, options)
			},
		}
	}
	mirrors := map[string]*mirror{
		"protobuf": {informer: cache.NewSharedIndexInformer(of(binary, ""), &corev1.ConfigMap{}, 0, nil)},
		"json":     {informer: cache.NewSharedIndexInformer(of(text, ""), &corev1.ConfigMap{}, 0, nil)},
		"left":     {informer: cache.NewSharedIndexInformer(of(binary, "side=left"), &corev1.ConfigMap{}, 0, nil), left: true},
		"metadata": {metadata: true, informer: cache.NewSharedIndexInformer(&cache.ListWatch{
			ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
				return partial.Resource(maps).List(ctx, options)
			},
			WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
				return partial.Resource(maps).Watch(ctx, options)
			},
		}, &metav1.PartialObjectMetadata{}, 0, nil)},
	}
	for _, each := range mirrors {
		each.counts = map[string]int{}
		if err := each.count(); err != nil {
			return nil, err
		}
		go each.informer.Run(ctx.Done())
	}
	deadline, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for _, each := range mirrors {
		cache.WaitForCacheSync(deadline.Done(), each.informer.HasSynced)
	}
	return mirrors, nil
}

// count records the events that handlers receive.
func (m *mirror) count() error {
	add := func(what string) {
		m.mutex.Lock()
		defer m.mutex.Unlock()
		m.counts[what]++
	}
	if err := m.informer.SetWatchErrorHandler(func(*cache.Reflector, error) { add("failures") }); err != nil {
		return err
	}
	_, err := m.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { add("adds") },
		UpdateFunc: func(any, any) { add("updates") },
		DeleteFunc: func(any) { add("deletes") },
	})
	return err
}

func (m *mirror) told() map[string]int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	counts := map[string]int{}
	for what, count := range m.counts {
		counts[what] = count
	}
	return counts
}

func (m *mirror) state() state {
	seen := state{}
	for _, item := range m.informer.GetStore().List() {
		if full, ok := item.(*corev1.ConfigMap); ok {
			seen[keyOf(full)] = objectOf(full)
		} else {
			partial := item.(metav1.Object)
			seen[keyOf(partial)] = metadataOf(partial)
		}
	}
	return seen
}

// wanted is what this mirror shows when it has caught up.
func (m *mirror) wanted(written state) state {
	wanted := state{}
	for key, object := range written {
		if m.left && object.Labels["side"] != "left" {
			continue
		}
		if m.metadata {
			object.Data = nil
		}
		wanted[key] = object
	}
	return wanted
}
