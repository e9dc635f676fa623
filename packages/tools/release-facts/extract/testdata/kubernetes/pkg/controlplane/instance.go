package controlplane

import (
	shopv1 "k8s.io/api/shop/v1"
	shopv1beta1 "k8s.io/api/shop/v1beta1"
)

var stableAPIGroupVersionsEnabledByDefault = []schema.GroupVersion{
	shopv1.SchemeGroupVersion,
}

var legacyBetaEnabledByDefaultResources = []schema.GroupVersionResource{
	shopv1beta1.SchemeGroupVersion.WithResource("orders"),
}
