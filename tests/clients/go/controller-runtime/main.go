// A webhook as people write them with controller-runtime: a defaulter and a validator of ConfigMaps and Deployments, served by the
// framework's own server. Usage: hook CERTIFICATES-FOLDER PORT
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type configMaps struct{}

func (configMaps) Default(ctx context.Context, object runtime.Object) error {
	configMap, ok := object.(*corev1.ConfigMap)
	if !ok {
		return fmt.Errorf("not a ConfigMap: %T", object)
	}
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	if configMap.Labels == nil {
		configMap.Labels = map[string]string{}
	}
	configMap.Labels["asked-by"] = request.UserInfo.Username
	if configMap.Data == nil {
		configMap.Data = map[string]string{}
	}
	if configMap.Data["size"] == "" {
		configMap.Data["size"] = "1"
	}
	return nil
}

func (configMaps) ValidateCreate(_ context.Context, object runtime.Object) (admission.Warnings, error) {
	configMap := object.(*corev1.ConfigMap)
	if _, found := configMap.Data["forbidden"]; found {
		path := field.NewPath("data").Key("forbidden")
		errs := field.ErrorList{field.Invalid(path, configMap.Data["forbidden"], "may not be set")}
		return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind(), configMap.Name, errs)
	}
	if configMap.Data["odd"] != "" {
		return admission.Warnings{"odd is odd"}, nil
	}
	return nil, nil
}

func (configMaps) ValidateUpdate(_ context.Context, before, after runtime.Object) (admission.Warnings, error) {
	if before.(*corev1.ConfigMap).Data["size"] != after.(*corev1.ConfigMap).Data["size"] {
		return nil, fmt.Errorf("size stays as it is")
	}
	return nil, nil
}

func (configMaps) ValidateDelete(_ context.Context, object runtime.Object) (admission.Warnings, error) {
	if object.(*corev1.ConfigMap).Labels["keep"] == "yes" {
		return admission.Warnings{"it is kept"}, fmt.Errorf("it is kept")
	}
	return nil, nil
}

type deployments struct{}

func (deployments) Default(_ context.Context, object runtime.Object) error {
	deployment := object.(*appsv1.Deployment)
	for i := range deployment.Spec.Template.Spec.Containers {
		container := &deployment.Spec.Template.Spec.Containers[i]
		container.Env = append(container.Env, corev1.EnvVar{Name: "FROM_HOOK", Value: "yes"})
	}
	return nil
}

func main() {
	port, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	ctrl.SetLogger(zap.New())
	scheme := clientgoscheme.Scheme
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Args[1]})
	server.Register("/mutate-configmap", admission.WithCustomDefaulter(scheme, &corev1.ConfigMap{}, configMaps{}))
	server.Register("/validate-configmap", admission.WithCustomValidator(scheme, &corev1.ConfigMap{}, configMaps{}))
	server.Register("/mutate-deployment", admission.WithCustomDefaulter(scheme, &appsv1.Deployment{}, deployments{}))
	if err := server.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}
