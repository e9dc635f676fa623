package v1

func (in *Order) APILifecycleIntroduced() (major, minor int) {
	return 1, 30
}

func (in *Order) APILifecycleReplacement() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "shop.example.com", Version: "v2", Kind: "Order"}
}
