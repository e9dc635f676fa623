package main

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type event struct {
	Type   string            `json:"type"`
	Object *corev1.ConfigMap `json:"object"`
}

type state struct {
	HasSynced bool                `json:"hasSynced"`
	Objects   []*corev1.ConfigMap `json:"objects"`
	Events    []event             `json:"events"`
}

type informer struct {
	shared cache.SharedIndexInformer
	stop   context.CancelFunc
	mutex  sync.Mutex
	events []event
}

func configOf(path string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	// The suite writes events in JSON.
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	return config, nil
}

func startInformer(start startParams) (*informer, error) {
	config, err := configOf(start.Server.Kubeconfig)
	if err != nil {
		return nil, err
	}
	core, err := coreclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	maps := core.ConfigMaps(start.Namespace)
	lists := &cache.ListWatch{
		ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = start.LabelSelector
			return maps.List(ctx, options)
		},
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = start.LabelSelector
			if seconds := start.WatchTimeoutMs / 1000; seconds > 0 {
				options.TimeoutSeconds = &seconds
			}
			return maps.Watch(ctx, options)
		},
	}
	started := &informer{shared: cache.NewSharedIndexInformer(lists, &corev1.ConfigMap{}, 0, nil), stop: cancel, events: []event{}}
	_, err = started.shared.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { started.add("added", object) },
		UpdateFunc: func(_, object any) { started.add("updated", object) },
		DeleteFunc: func(object any) { started.add("deleted", object) },
	})
	if err != nil {
		cancel()
		return nil, err
	}
	go started.shared.Run(ctx.Done())
	return started, nil
}

func (i *informer) add(what string, object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.events = append(i.events, event{Type: what, Object: object.(*corev1.ConfigMap)})
}

func (i *informer) state() state {
	seen := state{HasSynced: i.shared.HasSynced(), Objects: []*corev1.ConfigMap{}}
	for _, object := range i.shared.GetStore().List() {
		seen.Objects = append(seen.Objects, object.(*corev1.ConfigMap))
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	seen.Events = append([]event{}, i.events...)
	return seen
}
