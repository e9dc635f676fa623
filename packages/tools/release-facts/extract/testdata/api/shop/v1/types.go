package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.30

// Order is what a customer wants.
type Order struct {
	metav1.TypeMeta `json:",inline"`
	// What is wanted.
	Spec OrderSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// OrderList is a list of orders.
type OrderList struct {
	metav1.TypeMeta `json:",inline"`
	Items           []Order `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// Size is how large an item is.
// +enum
type Size string

const (
	Small Size = "Small"
	Large Size = "Large"
)

// Sizes are named.
type Sizes map[Size]string

// OrderSpec has the items.
// +structType=atomic
type OrderSpec struct {
	// Sizes of the items.
	// +listType=map
	// +listMapKey=size
	// +patchStrategy=merge
	// +k8s:maxItems=8
	// +optional
	Items []Item `json:"items,omitempty" patchStrategy:"merge" patchMergeKey:"size" protobuf:"bytes,1,rep,name=items"`
	// How many.
	// +featureGate=Counting
	// +default=1
	Count  *int32            `json:"count,omitempty" protobuf:"varint,3,opt,name=count"`
	Weight resource.Quantity `json:"weight,omitzero" protobuf:"bytes,4,opt,name=weight"`

	// +k8s:deprecated=color,protobuf=2
}

// Item is one line of an order.
type Item struct {
	// +required
	Size Size `json:"size" protobuf:"bytes,1,opt,name=size,casttype=Size"`
}
