package main

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

type client struct {
	maps coreclient.ConfigMapInterface
}

func connect(start startParams) (*client, error) {
	config, err := configOf(start.Server.Kubeconfig)
	if err != nil {
		return nil, err
	}
	core, err := coreclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &client{maps: core.ConfigMaps(start.Namespace)}, nil
}

// read decodes the arguments of a call one by one.
func read(arguments []json.RawMessage, into ...any) error {
	for number, argument := range arguments {
		if number < len(into) {
			if err := json.Unmarshal(argument, into[number]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *client) call(ctx context.Context, name string, arguments []json.RawMessage) (any, error) {
	var text string
	var object corev1.ConfigMap
	switch name {
	case "get":
		if err := read(arguments, &text); err != nil {
			return nil, err
		}
		return c.maps.Get(ctx, text, metav1.GetOptions{})
	case "list":
		return c.list(ctx, arguments)
	case "create":
		if err := read(arguments, &object); err != nil {
			return nil, err
		}
		return c.maps.Create(ctx, &object, metav1.CreateOptions{})
	case "update":
		if err := read(arguments, &object); err != nil {
			return nil, err
		}
		return c.maps.Update(ctx, &object, metav1.UpdateOptions{})
	case "modify":
		return c.modify(ctx, arguments)
	case "patch":
		return c.patch(ctx, arguments)
	case "apply":
		var applied applycorev1.ConfigMapApplyConfiguration
		if err := read(arguments, &object, &text); err != nil {
			return nil, err
		}
		applied = *applycorev1.ConfigMap(object.Name, object.Namespace).WithData(object.Data)
		return c.maps.Apply(ctx, &applied, metav1.ApplyOptions{FieldManager: text})
	case "delete":
		var preconditions metav1.Preconditions
		if err := read(arguments, &text, &preconditions); err != nil {
			return nil, err
		}
		return nil, c.maps.Delete(ctx, text, metav1.DeleteOptions{Preconditions: &preconditions})
	}
	return nil, fmt.Errorf("unknown method %s", name)
}

func (c *client) list(ctx context.Context, arguments []json.RawMessage) (any, error) {
	var options struct {
		LabelSelector string `json:"labelSelector"`
		FieldSelector string `json:"fieldSelector"`
		Limit         int64  `json:"limit"`
	}
	if err := read(arguments, &options); err != nil {
		return nil, err
	}
	pages := pager.New(pager.SimplePageFunc(func(each metav1.ListOptions) (runtime.Object, error) { return c.maps.List(ctx, each) }))
	if options.Limit > 0 {
		pages.PageSize = options.Limit
	}
	items := []*corev1.ConfigMap{}
	selected := metav1.ListOptions{LabelSelector: options.LabelSelector, FieldSelector: options.FieldSelector}
	err := pages.EachListItem(ctx, selected, func(item runtime.Object) error {
		items = append(items, item.(*corev1.ConfigMap))
		return nil
	})
	return items, err
}

func (c *client) modify(ctx context.Context, arguments []json.RawMessage) (any, error) {
	var name string
	var data map[string]string
	if err := read(arguments, &name, &data); err != nil {
		return nil, err
	}
	var changed *corev1.ConfigMap
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object, err := c.maps.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for key, value := range data {
			object.Data[key] = value
		}
		changed, err = c.maps.Update(ctx, object, metav1.UpdateOptions{})
		return err
	})
	return changed, err
}

func (c *client) patch(ctx context.Context, arguments []json.RawMessage) (any, error) {
	var name string
	var body struct {
		Type  string          `json:"type"`
		Patch json.RawMessage `json:"patch"`
	}
	if err := read(arguments, &name, &body); err != nil {
		return nil, err
	}
	kinds := map[string]types.PatchType{
		"merge":     types.MergePatchType,
		"strategic": types.StrategicMergePatchType,
		"json":      types.JSONPatchType,
	}
	return c.maps.Patch(ctx, name, kinds[body.Type], body.Patch, metav1.PatchOptions{})
}
