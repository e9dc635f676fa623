// What the tests of an operator do with envtest, step by step: a control plane from KUBEBUILDER_ASSETS, definitions installed, a user
// added, objects made, collected and gone with their namespace, all stopped and started again, without controllers. Prints a line of
// JSON for each step.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func main() {
	if err := suite(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func tell(step string, value any) {
	line, _ := json.Marshal(map[string]any{"step": step, "value": value})
	fmt.Println(string(line))
}

func gadgets() *apiextensionsv1.CustomResourceDefinition {
	schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"size": {Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("3")}},
		}},
	}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.shop.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "shop.example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget", ListKind: "GadgetList", Singular: "gadget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema}},
			},
		},
	}
}

func eventually(what string, check func() (bool, error)) error {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if done, err := check(); err != nil || done {
			return err
		}
	}
	return fmt.Errorf("%s did not happen", what)
}

func gone(ctx context.Context, c client.Client, object client.Object) error {
	return eventually(object.GetName()+" going", func() (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

func suite() error {
	ctx := context.Background()
	plane := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{gadgets()}}
	plane.ControlPlane.GetAPIServer().Configure().Set("controllers", "namespace-controller,garbage-collector-controller")
	begin := time.Now()
	config, err := plane.Start()
	if err != nil {
		return err
	}
	tell("started", time.Since(begin).Milliseconds())
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	if err := objects(ctx, c); err != nil {
		return err
	}
	user, err := plane.AddUser(envtest.User{Name: "visitor", Groups: []string{"visitors"}}, nil)
	if err != nil {
		return err
	}
	if err := visit(ctx, user.Config()); err != nil {
		return err
	}
	if err := plane.Stop(); err != nil {
		return err
	}
	tell("stopped", true)

	// Those that were installed carry what the server that is gone gave them.
	plane.CRDs = []*apiextensionsv1.CustomResourceDefinition{gadgets()}
	plane.ControlPlane.GetAPIServer().Configure().Disable("controllers")
	if config, err = plane.Start(); err != nil {
		return err
	}
	if c, err = client.New(config, client.Options{}); err != nil {
		return err
	}
	var left corev1.ConfigMapList
	if err := c.List(ctx, &left, client.InNamespace("default")); err != nil {
		return err
	}
	tell("started again", len(left.Items))
	if err := uncontrolled(ctx, c); err != nil {
		return err
	}
	return plane.Stop()
}

// What a suite does in the place of controllers, and what it expects to stay as it is.
func uncontrolled(ctx context.Context, c client.Client) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "alone"}}
	if err := c.Create(ctx, namespace); err != nil {
		return err
	}
	labels := map[string]string{"app": "web"}
	replicas := int32(2)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace.Name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
	if err := c.Create(ctx, deployment); err != nil {
		return err
	}
	deployment.Status.Replicas = 2
	deployment.Status.ReadyReplicas = 2
	deployment.Status.AvailableReplicas = 2
	if err := c.Status().Update(ctx, deployment); err != nil {
		return err
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", Namespace: namespace.Name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "gone", UID: "11111111-1111-1111-1111-111111111111"},
	}}}
	if err := c.Create(ctx, owned); err != nil {
		return err
	}
	if err := c.Delete(ctx, namespace); err != nil {
		return err
	}
	// Longer than controllers take.
	time.Sleep(time.Second)
	for _, object := range []client.Object{namespace, deployment, owned} {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
	}
	var sets appsv1.ReplicaSetList
	if err := c.List(ctx, &sets, client.InNamespace(namespace.Name)); err != nil {
		return err
	}
	tell("uncontrolled", fmt.Sprintf("%s, %d ready, %d replica sets", namespace.Status.Phase, deployment.Status.ReadyReplicas, len(sets.Items)))
	return nil
}

func objects(ctx context.Context, c client.Client) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "suite-"}}
	if err := c.Create(ctx, namespace); err != nil {
		return err
	}
	gadget := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	gadget.SetAPIVersion("shop.example.com/v1")
	gadget.SetKind("Gadget")
	gadget.SetName("first")
	gadget.SetNamespace(namespace.Name)
	if err := c.Create(ctx, gadget); err != nil {
		return err
	}
	size, _, _ := unstructured.NestedInt64(gadget.Object, "spec", "size")
	tell("default", size)

	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", Namespace: namespace.Name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "shop.example.com/v1", Kind: "Gadget", Name: gadget.GetName(), UID: gadget.GetUID()},
	}}}
	if err := c.Create(ctx, owned); err != nil {
		return err
	}
	var maps corev1.ConfigMapList
	if err := c.List(ctx, &maps, client.InNamespace(namespace.Name)); err != nil {
		return err
	}
	tell("config maps", len(maps.Items))
	if err := c.Delete(ctx, gadget); err != nil {
		return err
	}
	if err := gone(ctx, c, owned); err != nil {
		return err
	}
	tell("collected", owned.Name)
	if err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept", Namespace: "default"}}); err != nil {
		return err
	}
	if err := c.Delete(ctx, namespace); err != nil {
		return err
	}
	if err := gone(ctx, c, namespace); err != nil {
		return err
	}
	tell("namespace gone", true)
	return nil
}

func visit(ctx context.Context, config *rest.Config) error {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	err = c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine", Namespace: "default"}})
	if !apierrors.IsForbidden(err) {
		return fmt.Errorf("a visitor was not refused: %v", err)
	}
	tell("refused", err.Error())
	return nil
}
