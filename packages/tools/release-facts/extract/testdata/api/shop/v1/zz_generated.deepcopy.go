package v1

func (in *Order) DeepCopyObject() runtime.Object { return nil }

func (in *OrderList) DeepCopyObject() runtime.Object { return nil }
